"""What does the generated code of a dispatch say is wrong with it, and is that repaired or only reported?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fissile.effect import Effect
from fissile.finding import Finding, Limit
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.footprint import Allocation
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.checks.fit.workgroup_fit import check_fit
from fissile.passes.checks.fit.workgroup_prediction import check_prediction, with_floor
from fissile.passes.checks.refusals.codegen_failure import check_codegen
from fissile.passes.checks.refusals.foreign_configuration import check_foreign_configuration
from fissile.passes.failures.failure import CONVERTED, Failure, failures, failures_of
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.messages import PIPELINE_NOT_BUILT
from fissile.target import may_be_lavapipe

from .diagnostics import Diagnostic, failure_code, quoted
from .one_dispatch import Probed
from .probe_pool import ProbeResult

RACE = "FIS111"


def races_of(probed: Probed) -> tuple[Allocation, ...]:
    return probed.seen[RACE].buffers if RACE in probed.seen else ()


def finding_of(
    dispatch: Dispatch, result: ProbeResult, ops: Sequence[SourceOp], limit: Limit | None = None
) -> Finding | None:
    probed = result.probed
    if result.ended and probed.failure is not None:
        return check_codegen(
            dispatch,
            "FIS106" if result.ended == "timed out" else "FIS107",
            probed.failure.message,
            probed.failure.text,
            (),
            ops,
        )
    return (
        _fit(dispatch, probed, ops, limit)
        or _failure(dispatch, probed.failure, ops)
        or first_seen(dispatch, probed, ops, lambda one: one.order < CONVERTED)
        or _failure(dispatch, result.converted, ops)
        or first_seen(dispatch, probed, ops, lambda one: one.order >= CONVERTED)
    )


def first_seen(
    dispatch: Dispatch,
    probed: Probed,
    ops: Sequence[SourceOp],
    among: Callable[[Failure], bool] = lambda one: True,
) -> Finding | None:
    """The first of the failures that the code shows, by their order."""
    for one in failures_of(backend_named(dispatch.target.backend)):
        evidence = probed.seen.get(one.code)
        if evidence and not one.packed and among(one) and (finding := one.explain(dispatch, evidence, ops)):
            return finding
    return None


def is_left(finding: Finding, dispatch: Dispatch, tune: bool) -> bool:
    """Whether, without ``tune``, ``finding`` is reported and the program left as it is: failures that declare so, and what is right
    and slow on a target whose device was not measured (one that names a product is not lavapipe).
    """
    slow_elsewhere = finding.effect is Effect.SLOW and not may_be_lavapipe(dispatch.target.arch)
    return not tune and (finding.code in REPORTED_ONLY or slow_elsewhere)


def _fit(dispatch: Dispatch, probed: Probed, ops: Sequence[SourceOp], limit: Limit | None) -> Finding | None:
    """`check_fit`, with what only the prediction knows: for which sizes it fits, and what remains with the smallest tile."""
    finding = check_fit(dispatch, probed.footprint, ops, limit)
    if finding is None:
        return None
    finding = finding.with_(stock=quoted(probed.refusal)) if probed.refusal else finding
    predicted = predict(read_configured(dispatch))
    if predicted.doubts:
        return finding
    if finding.code == "FIS105" and finding.limit is not None:
        return check_prediction(dispatch, predicted, finding.limit, ops) or finding
    return with_floor(finding, predicted)


REPORTED_ONLY = {one.code for one in failures() if one.reported_only}


def as_it_is(finding: Finding) -> Finding:
    """``finding`` with the reason why nothing is done about it."""
    if finding.code in REPORTED_ONLY:
        return finding
    note = "the numbers are right and nothing is changed: what is slow was measured on another device; --tune repairs it"
    return finding.with_(notes=(*finding.notes, note))


def _failure(dispatch: Dispatch, diagnostic: Diagnostic | None, ops: Sequence[SourceOp]) -> Finding | None:
    if diagnostic is None:
        return None
    if PIPELINE_NOT_BUILT in diagnostic.text and (
        foreign := check_foreign_configuration(dispatch, diagnostic.message, diagnostic.text, ops)
    ):
        return foreign
    return check_codegen(
        dispatch,
        failure_code(diagnostic.text),
        quoted(diagnostic.message),
        diagnostic.text,
        diagnostic.tags,
        ops,
    )
