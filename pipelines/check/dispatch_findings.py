"""What is found in the configured dispatches of one target, with code generation or without?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.analysis.memory.prediction import Prediction
from fissile.passes.checks.fit.workgroup_fit import limit_of
from fissile.passes.checks.fit.workgroup_prediction import check_agreement, check_prediction
from fissile.passes.checks.speed.recomputation import check_recomputation
from fissile.passes.checks.speed.transposed_matrices import check_transposed_matrices
from fissile.passes.checks.speed.unvectorised import check_unvectorised
from fissile.passes.containment import contained
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.targets import flags_for
from fissile.target import Target

from ..probe.dispatch_check import CheckedDispatch, DispatchChecker
from ..probe.one_dispatch import Probed
from ..probe.probe_pool import ProbePool
from ..probe.stock_outcome import configured_findings
from ..probe.unroll_limit import UNROLLED, unrolls, unrolls_endlessly
from ..repair.packing import Narrow, find_narrow_in, narrow_without_code
from ..session import Module
from .measured import Measured

if TYPE_CHECKING:
    from ..repair.loop import Checker


@dataclass(frozen=True)
class Formed:
    """The configured dispatches of a live ``module`` for one target, its source ops, and what was found on the way."""

    module: Module
    dispatches: list[Dispatch]
    ops: list[SourceOp]
    findings: list[Finding]
    graph: dict | None = None
    """The dispatches and their ops as a report draws them: JSON values."""
    matrices: Mapping[int, int] = field(default_factory=dict)
    """The source ops that transpose a matrix for one vector, with its bytes."""


@dataclass(frozen=True)
class Looked:
    """What a look at all dispatches came to: ``failing`` and ``narrow`` have those of ``findings`` that may have a repair, which
    ``checker`` can look at."""

    measured: list[Measured]
    findings: list[Finding]
    failing: list[CheckedDispatch]
    narrow: Narrow
    checker: Checker


def generate(
    pool: ProbePool, formed: Formed, target: Target, flags: Sequence[str], calibrated: bool
) -> Looked:
    """Bytes and findings of each dispatch with code generation, by the same checks as `fissile compile`. ``calibrated``: dispatches of a
    calibrated structure that fit by prediction are left without code generation."""
    pool.link_with((*flags, *flags_for(target)))
    checker = DispatchChecker(pool, foresee=unrolls_endlessly, calibrated=calibrated, limit=target.limit)
    checked = checker.check_dispatches(formed.dispatches, formed.ops)
    seen = {id(c.dispatch): c.result.probed for c in checked if c.result is not None}

    def probed(dispatch: Dispatch) -> Probed:
        return seen.get(id(dispatch)) or pool.probe_all([dispatch], convert=False)[0].probed

    narrow = contained(
        "narrow storage",
        lambda: find_narrow_in(formed.dispatches, probed, unrolls_endlessly),
        Narrow(),
        cpu_limit=0,
    )
    findings = list(narrow.found)
    failing = []
    results = {}
    for one in checked:
        results[id(one.dispatch)] = one.result
        slow = UNROLLED.explain(one.dispatch, unrolls(one.dispatch, changed=True), formed.ops)
        fails = one.finding or slow or one.slow
        failing.append(replace(one, finding=fails))
        found = (
            fails,
            check_recomputation(one.dispatch, one.recomputed, formed.ops),
        )
        findings += [finding for finding in found if finding is not None]
    if unvectorised := check_unvectorised(((one.dispatch, one.unvectorised) for one in checked), formed.ops):
        findings.append(unvectorised)
    if any(backend_named(one.target.backend).recomputes for one in formed.dispatches) and (
        transposed := check_transposed_matrices(formed.matrices, formed.ops)
    ):
        findings.append(transposed)
    measured = []
    for dispatch in formed.dispatches:
        counted = Measured(dispatch, _predicted(dispatch), results.get(id(dispatch)))
        if counted.exact is not None and (
            differs := check_agreement(dispatch, counted.prediction, counted.exact)
        ):
            findings.append(differs)
        measured.append(counted)
    return Looked(measured, findings, failing, narrow, checker)


def without_codegen(formed: Formed, target: Target) -> Looked:
    """What is known of each dispatch without code generation."""
    from .repair_advice import PredictedOnly

    def found(dispatch: Dispatch, prediction: Prediction, ops: Sequence[SourceOp]) -> list[Finding]:
        limit = limit_of(dispatch, target.limit) or target.limit
        fit = None if prediction.doubts else check_prediction(dispatch, prediction, limit, ops)
        return [*([fit] if fit else []), *configured_findings(dispatch, ops)]

    def first(dispatch: Dispatch, ops: Sequence[SourceOp]) -> tuple[Prediction, Finding | None]:
        prediction = _predicted(dispatch)
        return prediction, next(iter(found(dispatch, prediction, ops)), None)

    checker = PredictedOnly(first)
    measured = [Measured(d, _predicted(d), None) for d in formed.dispatches]
    narrow = Narrow(tuple(narrow_without_code(formed.dispatches)))
    findings, failing = list(narrow.found), []
    for one in measured:
        those = found(one.dispatch, one.prediction, formed.ops)
        findings += those
        checked = checker.checked(one.dispatch, formed.ops)
        failing += [replace(checked, finding=finding) for finding in those[:1]]
    return Looked(measured, findings, failing, narrow, checker)


def _predicted(dispatch: Dispatch) -> Prediction:
    return contained(
        "predicted memory",
        lambda: predict(read_configured(dispatch)),
        Prediction((), ("the prediction failed",)),
        about=dispatch,
    )


def renamed(dispatch: Dispatch, target: Target) -> Dispatch:
    """The dispatch under the name that the user gave its target; IREE calls default Vulkan by a profile's name."""
    return replace(dispatch, target=replace(dispatch.target, arch=target.name))
