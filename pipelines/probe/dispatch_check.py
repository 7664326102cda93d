"""Which dispatches of a module fail, and of which does code have to be generated to know it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from fissile.finding import Finding, Limit
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.dispatch.recomputation import Recomputed
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.passes.analysis.layout.unvectorised import Unvectorised
from fissile.passes.analysis.memory.calibrated import uncalibrated
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.footprint import Allocation, Footprint
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.checks.fit.workgroup_fit import limit_of, space_of
from fissile.passes.containment import contained
from fissile.passes.failures.failure import Stage, codes_of
from fissile.passes.iree.backends import BACKENDS

from ..session import Module
from .generated_finding import as_it_is, finding_of, is_left
from .one_dispatch import Probed
from .probe_pool import ProbePool, ProbeResult
from .stock_outcome import (
    first_configured,
    formed_dispatches,
    may_be_built_wrong,
    recomputed,
    scalar_convolutions,
)
from .unroll_limit import UNROLLED, Foresee, unrolls

PREDICTED = codes_of(lambda one: one.predicted or one.stage is Stage.CONFIGURED)
"""Failures that a prediction or the configured dispatch tells: where there are no others, the dispatches without them need no code."""


@dataclass(frozen=True)
class CheckedDispatch:
    """A dispatch with the result of its code generation; ``finding`` is None where it passes.

    The dispatch's live ops are gone with the module that was checked; its facts stay.
    """

    dispatch: Dispatch
    footprint: Footprint
    finding: Finding | None
    seen: Mapping[str, Evidence] = field(default_factory=dict)
    """What the dispatch and its code show of failures, by their codes."""
    recomputed: tuple[Recomputed, ...] = ()
    """Producers that it computes again for every use (llvm-cpu)."""
    unvectorised: tuple[Unvectorised, ...] = ()
    """Convolutions that it does not vectorise (llvm-cpu)."""
    result: ProbeResult | None = None
    """The result of code generation; None where it was not run."""
    slow: Finding | None = None
    """What is right and slow, and left as it is (`is_left`)."""

    @property
    def failure(self) -> Finding:
        """``finding`` of a dispatch that fails."""
        assert self.finding is not None
        return self.finding


class DispatchChecker:
    """Generates code for dispatches in a pool of processes, for each different body once.

    Results are kept for the life of the checker: of passing dispatches by fingerprint, of failing ones by fingerprint and
    source ops, since their findings quote places and locations are no part of the fingerprint.

    ``optimistic``: someone else finds out what is left unasked, by translating all of it in the end. Dispatches of the
    first module that fit by a prediction without doubts are not probed, and none is converted to LLVM or SPIR-V. Where
    nothing fails in it that a prediction cannot tell, no later module's are probed either. ``foresee``: what it finds unrolled fails, and
    its code is not generated. ``calibrated``: nobody else finds out, so only dispatches of a calibrated structure that fit by prediction are
    left without code generation. ``limit`` stands in for each dispatch's own: a budget, a vendor's figure.
    ``tune``: what is only slow fails on every target. ``changed``: also where the target may be the device that is slow.
    """

    def __init__(
        self,
        pool: ProbePool,
        optimistic: bool = False,
        foresee: Foresee = unrolls,
        *,
        calibrated: bool = False,
        limit: Limit | None = None,
        tune: bool = False,
        changed: bool = False,
    ) -> None:
        self._tune = tune
        self._changed = changed
        self._pool = pool
        self._foresee = foresee
        self._optimistic = optimistic
        self._calibrated = calibrated
        self._limit = limit
        self._trusted: dict[tuple, ProbeResult] = {}
        self._trusting = optimistic or calibrated
        self._passed: dict[str, ProbeResult] = {}
        self._failed: dict[tuple, ProbeResult] = {}
        self.generated = 0
        """How many times code was generated for a dispatch."""

    def check(self, module: Module, ops: Sequence[SourceOp]) -> list[CheckedDispatch]:
        """All dispatches of ``module`` (phase executable-configurations), in program order.

        A target whose code generation cannot be probed (VMVX) passes unchecked.
        """
        return self.check_dispatches(formed_dispatches(module), ops)

    def check_dispatches(self, every: Sequence[Dispatch], ops: Sequence[SourceOp]) -> list[CheckedDispatch]:
        """The same of the dispatches of one module, live and in program order."""
        formed = [d for d in every if d.target.backend in BACKENDS]
        unrolling = {id(d): found for d in formed if (found := self._foresee(d))}
        seen = [d for d in formed if id(d) not in unrolling]
        if self._trusting:
            unknown = [
                d for d in seen if d.fingerprint not in self._passed and d.identity not in self._failed
            ]
            cleared = {
                d.identity: contained("predicted memory", partial(self._cleared, d, ops), None, about=d)
                for d in unknown
            }
            self._trusted |= {identity: answer for identity, answer in cleared.items() if answer is not None}
        known = self._trusted.keys() | self._failed.keys()
        fresh = [d for d in seen if d.fingerprint not in self._passed and d.identity not in known]
        results = self._generate(fresh)
        checked = []
        for dispatch in formed:
            if unrolled := unrolling.get(id(dispatch)):
                finding = contained(
                    "unrolled code",
                    partial(UNROLLED.explain, dispatch, unrolled, ops),
                    None,
                    about=dispatch,
                )
                checked.append(CheckedDispatch(dispatch, Footprint(()), finding, {UNROLLED.code: unrolled}))
                continue
            identity = dispatch.identity
            probe_result = (
                results.get(id(dispatch))
                or self._passed.get(dispatch.fingerprint)
                or self._failed.get(identity)
            )
            result = probe_result or self._trusted[identity]
            finding = contained(
                "generated code",
                partial(finding_of, dispatch, result, ops, self._limit),
                None,
                about=dispatch,
            )
            finding = finding or first_configured(dispatch, ops)
            slow = (
                as_it_is(finding)
                if finding and is_left(finding, dispatch, self._tune, self._changed)
                else None
            )
            finding = None if slow else finding
            if probe_result and finding is None and slow is None:
                self._passed[dispatch.fingerprint] = result
            elif probe_result:
                self._failed[identity] = result
            again = recomputed(dispatch)
            checked.append(
                CheckedDispatch(
                    dispatch,
                    result.probed.footprint,
                    finding,
                    result.probed.seen,
                    again,
                    scalar_convolutions(dispatch),
                    result=probe_result,
                    slow=slow,
                )
            )
        self._trusting &= self._calibrated or all(
            c.finding is None or c.finding.code in PREDICTED for c in checked
        )
        return checked

    def _generate(self, fresh: Sequence[Dispatch]) -> dict[int, ProbeResult]:
        """What code generation says of each of ``fresh``, by identity of the object; of equal bodies that pass once."""
        first = list({d.fingerprint: d for d in reversed(fresh)}.values())[::-1]
        results = dict(
            zip(map(id, first), self._pool.probe_all(first, convert=not self._optimistic), strict=True)
        )
        by_body = {d.fingerprint: results[id(d)] for d in first}
        rest = [d for d in fresh if id(d) not in results]
        failing = [
            d
            for d in rest
            if contained(
                "generated code",
                partial(finding_of, d, by_body[d.fingerprint], (), self._limit),
                None,
                about=d,
            )
            is not None
        ]
        results |= zip(
            map(id, failing), self._pool.probe_all(failing, convert=not self._optimistic), strict=True
        )
        self.generated += len(first) + len(failing)
        return {id(d): by_body[d.fingerprint] for d in rest} | results

    def _cleared(self, dispatch: Dispatch, ops: Sequence[SourceOp]) -> ProbeResult | None:
        """As `_cleared`, where only a calibrated structure counts of one."""
        if self._calibrated and not is_calibrated(dispatch, ops):
            return None
        return _cleared(dispatch, self._limit)


def is_calibrated(dispatch: Dispatch, ops: Sequence[SourceOp]) -> bool:
    """Whether no code has to be generated to know that IREE builds ``dispatch`` where it fits: it is of a calibrated structure, and the
    program configures none of its ops. ``ops``: the program's source ops."""
    if any(ops[tag].configuration for tag in dispatch.tags if tag < len(ops)):
        return False
    return not uncalibrated(read_configured(dispatch), dispatch.inner_module())


def _cleared(dispatch: Dispatch, limit: Limit | None = None) -> ProbeResult | None:
    """An answer with the predicted buffers where they fit without doubts and all else that may be wrong would stop the compile.

    What compiles and computes wrong numbers has to be looked for in the code.
    """
    limit = limit_of(dispatch, limit)
    if limit is None or may_be_built_wrong(dispatch):
        return None
    predicted = predict(read_configured(dispatch))
    if predicted.doubts or predicted.total.exceeds(limit.bytes) is not False:
        return None
    space = space_of(dispatch)
    buffers = tuple(Allocation(space, b.bytes, b.type, b.tags, b.place) for b in predicted.buffers)
    return ProbeResult(Probed(Footprint(buffers), None), None, 0.0)
