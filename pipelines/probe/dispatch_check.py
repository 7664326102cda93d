"""Every question asked of one dispatch, in one place: does it generate code, fit, and address and share memory safely?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from fissile.effect import Effect
from fissile.finding import Finding, Limit
from fissile.passes import net
from fissile.passes.analysis.dispatch.dispatches import Dispatch, dispatches
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.dispatch.recomputation import Recomputed, recomputed_producers
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.passes.analysis.kernel.narrow_access import (
    RIGHT,
    NarrowAccess,
    bound_access,
    missing_storage,
    unasked_access,
    worst,
)
from fissile.passes.analysis.kernel.sub_byte_extension import unmasked_types
from fissile.passes.analysis.memory.calibrated import uncalibrated
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.footprint import Allocation, Footprint
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.analysis.memory.unrolling import VECTORISED, Unrolled, unrolled
from fissile.passes.checks.fit.workgroup_fit import check_fit, limit_of, space_of, stricter_device
from fissile.passes.checks.fit.workgroup_prediction import check_prediction, with_floor
from fissile.passes.checks.numbers.attention_tiles import check_attention_tiles
from fissile.passes.checks.refusals.codegen_failure import check_codegen
from fissile.passes.checks.refusals.foreign_configuration import check_foreign_configuration
from fissile.passes.checks.speed.unrolled_code import ENDLESS_FROM, check_unrolled, unrolled_from
from fissile.passes.failures.failure import CONVERTED, Failure, failures, failures_of
from fissile.passes.failures.lost_sign import LostSign
from fissile.passes.iree.backends import BACKENDS, backend_named
from fissile.passes.iree.messages import PIPELINE_NOT_BUILT
from fissile.target import may_be_lavapipe

from ..session import Module
from .diagnostics import Diagnostic, failure_code, quoted
from .one_dispatch import Probed, probe
from .probe_pool import ProbePool, ProbeResult

Ask = Callable[[Dispatch], Probed]
"""Generates code for one dispatch. Code generation may not end: who asks in a process of value has it watched."""

Foresee = Callable[[Dispatch], Unrolled]
"""What of a dispatch is unrolled so far that its code is not to be generated."""


def unrolls(dispatch: Dispatch, tune: bool = False) -> Unrolled:
    """What SPIR-V code generation will unroll of ``dispatch``, where that is too much; no code is generated to know it.

    What lavapipe takes seconds for counts where the target may be it, or with ``tune``.
    """
    if not backend_named(dispatch.target.backend).spirv or dispatch.codegen != VECTORISED:
        return Unrolled()
    found = net.ask("unrolled code", lambda: unrolled(read_configured(dispatch)), Unrolled(), about=dispatch)
    return found if found.elements >= unrolled_from(dispatch.target.arch, tune) else Unrolled()


def unrolls_endlessly(dispatch: Dispatch) -> Unrolled:
    """As `unrolls`, of what IREE was never seen to build: less is a matter of seconds, and may be refused."""
    found = unrolls(dispatch)
    return found if found.elements >= ENDLESS_FROM and missing_storage(dispatch) else Unrolled()


def foresees_nothing(_dispatch: Dispatch) -> Unrolled:
    return Unrolled()


@dataclass(frozen=True)
class CheckedDispatch:
    """A dispatch with what code generation said about it; ``finding`` is None where it passes.

    The dispatch's live ops are gone with the module that was checked; its facts stay.
    """

    dispatch: Dispatch
    footprint: Footprint
    finding: Finding | None
    races: tuple[Allocation, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()
    """Producers that it computes again for every use (llvm-cpu)."""
    unrolled: tuple[int, ...] = ()
    """Source ops whose results are unrolled over narrow elements (FIS109); no code was generated then."""
    result: ProbeResult | None = None
    """What code generation said; None where it was not run."""
    slow: Finding | None = None
    """What is right and slow, and left as it is (`is_left`)."""


RACE = "FIS111"


class DispatchChecker:
    """Generates code for dispatches in a pool of processes, for each different body once.

    Results are kept for the life of the checker: of passing dispatches by fingerprint, of failing ones by fingerprint and
    source ops, since their findings quote places and locations are no part of the fingerprint.

    ``optimistic``: someone else finds out what is left unasked, by translating all of it in the end. Dispatches of the
    first module that fit by a prediction without doubts are not asked, and none is converted to LLVM or SPIR-V. Where
    nothing but memory fails in it, no later module's are asked either. ``foresee``: what it finds unrolled fails (FIS109), and its
    code is not generated. ``calibrated``: nobody else finds out, so only dispatches of a calibrated structure that fit by prediction are
    left without code generation. ``limit`` stands in for each dispatch's own: a budget, a vendor's figure.
    ``tune``: what is only slow fails on every target.
    """

    def __init__(
        self,
        pool: ProbePool,
        optimistic: bool = False,
        foresee: Foresee = unrolls_endlessly,
        *,
        calibrated: bool = False,
        limit: Limit | None = None,
        tune: bool = False,
    ) -> None:
        self._tune = tune
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
        unrolling = {id(d): found for d in formed if (found := self._foresee(d)).elements}
        seen = [d for d in formed if id(d) not in unrolling]
        if self._trusting:
            unknown = [
                d for d in seen if d.fingerprint not in self._passed and d.identity not in self._failed
            ]
            cleared = {
                d.identity: net.ask("predicted memory", lambda d=d: self._cleared(d), None, about=d)
                for d in unknown
            }
            self._trusted |= {identity: answer for identity, answer in cleared.items() if answer is not None}
        known = self._trusted.keys() | self._failed.keys()
        fresh = [d for d in seen if d.fingerprint not in self._passed and d.identity not in known]
        results = self._generate(fresh)
        checked = []
        for dispatch in formed:
            if found := unrolling.get(id(dispatch)):
                finding = net.ask(
                    "unrolled code",
                    lambda d=dispatch, u=found: check_unrolled(d, u, ops),
                    None,
                    about=dispatch,
                )
                checked.append(CheckedDispatch(dispatch, Footprint(()), finding, unrolled=found.tags))
                continue
            identity = dispatch.identity
            asked = (
                results.get(id(dispatch))
                or self._passed.get(dispatch.fingerprint)
                or self._failed.get(identity)
            )
            result = asked or self._trusted[identity]
            finding = net.ask(
                "generated code",
                lambda d=dispatch, r=result: _finding(d, r, ops, self._limit),
                None,
                about=dispatch,
            )
            finding = finding or net.ask(
                "tiles of attentions", lambda d=dispatch: check_attention_tiles(d, ops), None, about=dispatch
            )
            slow = as_it_is(finding) if finding and is_left(finding, dispatch, self._tune) else None
            finding = None if slow else finding
            if asked and finding is None and slow is None:
                self._passed[dispatch.fingerprint] = result
            elif asked:
                self._failed[identity] = result
            again = recomputed(dispatch)
            checked.append(
                CheckedDispatch(
                    dispatch,
                    result.probed.footprint,
                    finding,
                    _races(result.probed),
                    again,
                    result=asked,
                    slow=slow,
                )
            )
        self._trusting &= self._calibrated or all(
            c.finding is None or c.finding.code in ("FIS101", "FIS109") for c in checked
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
            if net.ask(
                "generated code",
                lambda d=d: _finding(d, by_body[d.fingerprint], (), self._limit),
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

    def _cleared(self, dispatch: Dispatch) -> ProbeResult | None:
        """As `_cleared`, in a calibrated structure where only that counts."""
        if self._calibrated and uncalibrated(read_configured(dispatch), dispatch.inner_module()):
            return None
        return _cleared(dispatch, self._limit)


def _cleared(dispatch: Dispatch, limit: Limit | None = None) -> ProbeResult | None:
    """An answer with the predicted buffers where they fit without doubts and all else that may be wrong would stop the compile.

    What compiles and computes wrong numbers has to be looked for in the code.
    """
    limit = limit or limit_of(dispatch)
    if limit is None or may_be_built_wrong(dispatch):
        return None
    predicted = predict(read_configured(dispatch))
    if predicted.doubts or predicted.total.exceeds(limit.bytes) is not False:
        return None
    space = space_of(dispatch)
    buffers = tuple(Allocation(space, b.bytes, b.type, b.tags, b.place) for b in predicted.buffers)
    return ProbeResult(Probed(Footprint(buffers), None), None, 0.0)


def _races(probed: Probed) -> tuple[Allocation, ...]:
    return probed.seen[RACE].buffers if RACE in probed.seen else ()


def _finding(
    dispatch: Dispatch, result: ProbeResult, ops: Sequence[SourceOp], limit: Limit | None = None
) -> Finding | None:
    probed = result.probed
    if result.ended:
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
        or _seen(dispatch, probed, ops, lambda one: one.order < CONVERTED)
        or _failure(dispatch, result.converted, ops)
        or _seen(dispatch, probed, ops, lambda one: one.order >= CONVERTED)
    )


def _seen(
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
    if finding.code == "FIS105":
        return check_prediction(dispatch, predicted, finding.limit, ops) or finding
    return with_floor(finding, predicted)


REPORTED_ONLY = {one.code for one in failures() if one.reported_only}


def as_it_is(finding: Finding) -> Finding:
    """``finding`` with the reason why nothing is done about it."""
    if finding.code in REPORTED_ONLY:
        return finding
    note = "the numbers are right and nothing is changed: what is slow was measured on another device; --tune repairs it"
    return finding.with_(notes=(*finding.notes, note))


def _failure(dispatch: Dispatch, said: Diagnostic | None, ops: Sequence[SourceOp]) -> Finding | None:
    if said is None:
        return None
    if PIPELINE_NOT_BUILT in said.text and (
        foreign := check_foreign_configuration(dispatch, said.message, said.text, ops)
    ):
        return foreign
    return check_codegen(dispatch, failure_code(said.text), quoted(said.message), said.text, said.tags, ops)


def recomputed(dispatch: Dispatch) -> tuple[Recomputed, ...]:
    """Producers that it computes again for every use (llvm-cpu)."""
    if not backend_named(dispatch.target.backend).recomputes:
        return ()
    return net.ask("recomputed producers", lambda: tuple(recomputed_producers(dispatch)), (), about=dispatch)


def formed_dispatches(module: Module) -> list[Dispatch]:
    """The dispatches of ``module``; none where they cannot be read."""
    return net.ask("the dispatches", lambda: dispatches(module.op), [])


def built_wrong(module: Module, ask: Ask = probe, tune: bool = False) -> tuple[Finding | None, list[Finding]]:
    """What is wrong with the first dispatch of ``module`` that IREE builds, and that calls for a repair; and what is only slow in
    those before it (`is_left`).
    """
    left = []
    for dispatch in formed_dispatches(module):
        finding = net.ask(
            "tiles of attentions", lambda d=dispatch: check_attention_tiles(d), None, about=dispatch
        ) or net.ask(
            "generated code", lambda d=dispatch: _built_wrong(d, ask), None, about=dispatch, cpu_limit=0
        )
        if finding is not None and not is_left(finding, dispatch, tune):
            return finding, left
        left += [as_it_is(finding)] if finding is not None else []
    return None, left


def _built_wrong(dispatch: Dispatch, ask: Ask) -> Finding | None:
    return _seen(dispatch, ask(dispatch), ()) if may_be_built_wrong(dispatch) else None


def may_be_built_wrong(dispatch: Dispatch) -> bool:
    """Whether code has to be generated (0.01 to 0.03 s) to know that what IREE builds is right. Not where it is unrolled: that takes
    minutes.
    """
    asked = [one for one in failures_of(backend_named(dispatch.target.backend)) if not one.packed]
    if not asked or unrolls(dispatch).elements:
        return False
    configured = cache(lambda: read_configured(dispatch))
    return any(one.may_occur(dispatch, configured) for one in asked)


def predicted_to_exceed(module: Module) -> bool:
    """Whether a dispatch will not fit its target by a prediction without doubts: asked before any code is generated."""
    return any(
        net.ask("predicted memory", lambda d=d: _predicted_to_exceed(d), False, about=d)
        for d in formed_dispatches(module)
    )


def _predicted_to_exceed(dispatch: Dispatch) -> bool:
    limit = limit_of(dispatch)
    if limit is None or dispatch.target.backend not in BACKENDS:
        return False
    predicted = predict(read_configured(dispatch))
    return not predicted.doubts and bool(predicted.total.exceeds(limit.bytes))


def exceeds_device(module: Module, ask: Ask = probe) -> bool:
    """Whether a dispatch fits IREE's limit and not the device's own, so that it would be built and could not be loaded.

    Code generation is asked only where the device has less than IREE's target attribute says and the prediction
    exceeds that or has doubts.
    """
    return any(
        net.ask("memory of the device", lambda d=d: _exceeds_device(d, ask), False, about=d, cpu_limit=0)
        for d in formed_dispatches(module)
    )


def _exceeds_device(dispatch: Dispatch, ask: Ask) -> bool:
    device = stricter_device(dispatch)
    if device is None or dispatch.target.backend not in BACKENDS:
        return False
    predicted = predict(read_configured(dispatch))
    if not predicted.doubts and predicted.total.value is not None and predicted.total.value <= device.bytes:
        return False
    return check_fit(dispatch, ask(dispatch).footprint, ()) is not None


def narrow_access(dispatch: Dispatch, ask: Ask = probe, foresee: Foresee = unrolls_endlessly) -> NarrowAccess:
    """What IREE's code does to elements that the target has no storage for. Code that ``foresee`` finds unrolled is not generated.

    By default that is only what takes minutes: less unrolled code is generated in seconds, and IREE often refuses it, which
    `unrolls` cannot tell.
    """
    if not missing_storage(dispatch):
        return RIGHT
    return (
        unasked_access(dispatch)
        if foresee(dispatch).elements
        else worst((ask(dispatch).narrow, bound_access(dispatch)))
    )


SIGNS = LostSign()


def sign_losses(
    formed: Sequence[Dispatch], ask: Ask = probe, foresee: Foresee = unrolls
) -> list[tuple[Dispatch, tuple[str, ...]]]:
    """Dispatches in which code generation loses the sign of narrow integers, with the element types.

    Only dispatches of SPIR-V that sign-extend anything are asked, and none whose code is unrolled: it would take minutes.
    """
    asked = [
        d
        for d in formed
        if SIGNS.concerns(backend_named(d.target.backend))
        and SIGNS.may_occur(d, lambda d=d: read_configured(d))
        and not foresee(d).elements
    ]
    losses = [
        (
            d,
            net.ask(
                "signs of narrow integers",
                lambda d=d: ask(d).seen.get(SIGNS.code, Evidence()).types,
                (),
                about=d,
                cpu_limit=0,
            ),
        )
        for d in asked
    ]
    return [(d, lost) for d, lost in losses if lost]


def sub_byte_extensions(formed: Sequence[Dispatch]) -> list[tuple[Dispatch, tuple[str, ...]]]:
    """Dispatches that extend integers below a byte with their neighbours' bits, with the element types; no code is generated."""
    read = [d for d in formed if backend_named(d.target.backend).drops_signs]
    return [
        (d, types)
        for d in read
        if (types := net.ask("sub-byte integers", lambda d=d: unmasked_types(d), (), about=d))
    ]
