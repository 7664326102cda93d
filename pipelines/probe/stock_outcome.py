"""What will IREE make of a module's dispatches: wrong numbers, or more memory than the device has?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch, dispatches
from fissile.passes.analysis.dispatch.provenance import SourceOp, describe_source_ops, place_of, source_ops
from fissile.passes.analysis.dispatch.recomputation import (
    Recomputed,
    bodies_of,
    recomputed_producers,
    transpositions_at,
)
from fissile.passes.analysis.kernel.evidence import NOTHING, Evidence, gravest
from fissile.passes.analysis.layout.transposed_matrices import transposed_matrices
from fissile.passes.analysis.layout.transposed_operands import transpositions_read
from fissile.passes.analysis.layout.unvectorised import (
    Unvectorised,
    is_left_unvectorised,
    unvectorised_convolutions,
)
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.analysis.program.check_order import DISPATCH
from fissile.passes.checks.fit.workgroup_fit import limit_of, stricter_device
from fissile.passes.checks.speed.recomputation import check_recomputation, worth_cutting
from fissile.passes.checks.speed.transposed_matrices import check_transposed_matrices, worth_folding
from fissile.passes.checks.speed.unvectorised import check_unvectorised
from fissile.passes.containment import contained
from fissile.passes.failures.failure import Failure, Stage, failures_of
from fissile.passes.failures.narrow.narrow_elements import NarrowElements
from fissile.passes.iree.backends import BACKENDS, backend_named

from ..session import Module
from .unroll_limit import UNROLLED, Foresee, unrolls, unrolls_endlessly

if TYPE_CHECKING:
    from .one_dispatch import Probed

SUBMITTED_AT_ONCE = 10
"""Submissions of dispatches that IREE 3.13 certainly handles in a dispatch's time: 1000 of them take 50 s of a processor."""
Generate = Callable[[Dispatch], "Probed"]
"""Generates code for one dispatch. Code generation may not end: a caller whose process must survive has it watched."""


def probe(dispatch: Dispatch) -> Probed:
    """Code generation for ``dispatch`` in this process; most dispatches need none."""
    from .one_dispatch import probe

    return probe(dispatch)


def recomputed(dispatch: Dispatch) -> tuple[Recomputed, ...]:
    """Producers that it computes again for every use (llvm-cpu)."""
    if not backend_named(dispatch.target.backend).recomputes:
        return ()
    return contained(
        "recomputed producers", lambda: tuple(recomputed_producers(dispatch)), (), about=dispatch
    )


def scalar_convolutions(dispatch: Dispatch) -> tuple[Unvectorised, ...]:
    """Convolutions that it does not vectorise (llvm-cpu)."""
    return contained(
        "unvectorised convolutions", lambda: tuple(unvectorised_convolutions(dispatch)), (), about=dispatch
    )


def may_recompute(module: Module, origin: Module) -> bool:
    """Whether a closer look at recomputed producers is worth it. ``module`` has configured dispatches, ``origin`` is the program before
    they were formed: a reduction whose body stands there as it is was written so, and nothing was folded into it.
    """
    costly = {
        (d.name, producer.root, producer.body)
        for d in formed_dispatches(module)
        for producer in contained("recomputed producers", partial(_worth_cutting, d), (), about=d)
    }
    if not costly:
        return False
    written: Counter[tuple[str, ...]] = contained(
        "bodies of the program", lambda: bodies_of(origin.op), Counter()
    )
    return bool(Counter(body for _dispatch, _root, body in costly) - written)


def unvectorised(module: Module, origin: Module) -> list[Finding]:
    """FIS140 of the convolutions of ``module``, whose dispatches are configured and not tagged, into which a transposition of ``origin`` was folded, and
    FIS212 of others that are not vectorised; FIS213 of matrices that ``origin`` transposes in memory.

    A convolution is known by its place in the source, so this needs no phase again.
    """
    formed = [one for one in formed_dispatches(module) if backend_named(one.target.backend).recomputes]
    if not formed:
        return []
    ops = source_ops(origin.op.operation)
    transposed = transposed_matrices(ops)
    described = describe_source_ops(origin.op.operation) if worth_folding(transposed) else []
    matrices = check_transposed_matrices(transposed, described)
    left = [one for one in formed if "conv" in one.name and is_left_unvectorised(one)]
    if not left:
        return [matrices] if matrices is not None else []
    places = {
        place_of(op): [place_of(one) for one in found] for op in ops if (found := transpositions_read(op))
    }
    found = [matrices, *(check_recomputation(one, transpositions_at(one, places)) for one in left)]
    found.append(check_unvectorised((one, unvectorised_convolutions(one, places)) for one in left))
    return [finding for finding in found if finding is not None]


def _worth_cutting(dispatch: Dispatch):
    return worth_cutting(recomputed(dispatch))


def formed_dispatches(module: Module) -> list[Dispatch]:
    """The dispatches of ``module``, read once until it changes; none where they cannot be read."""
    return contained("the dispatches", lambda: module.once("dispatches", lambda: dispatches(module.op)), [])


def translation_work(module: Module) -> int:
    """How many times the time limit of one dispatch the rest of a compile may take: once for each dispatch, and once for each
    SUBMITTED_AT_ONCE submissions. A program may submit few dispatches many times, and IREE works on every submission.
    """
    found = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op.name == DISPATCH)
        return ir.WalkResult.ADVANCE

    contained("the submissions", lambda: module.op.walk(visit), None)
    return len(formed_dispatches(module)) + sum(found) // SUBMITTED_AT_ONCE


def built_wrong(
    module: Module, generate: Generate = probe, tune: bool = False
) -> tuple[Finding | None, list[Finding]]:
    """What is wrong with the first dispatch of ``module`` that IREE builds, and that calls for a repair; and what is only slow in
    those before it (`is_left`).
    """
    left: list[Finding] = []
    for dispatch in formed_dispatches(module):
        finding = first_configured(dispatch) or contained(
            "generated code", partial(_built_wrong, dispatch, generate), None, about=dispatch, cpu_limit=0
        )
        if finding is None and (unrolled := unrolls(dispatch, changed=True)):
            finding = UNROLLED.explain(dispatch, unrolled, ())
        if finding is None:
            continue
        from .generated_finding import as_it_is, is_left

        if not is_left(finding, dispatch, tune):
            return finding, left
        left.append(as_it_is(finding))
    return None, left


IN_CODE = (Stage.LOWERED, Stage.VIEWS_FOLDED)
"""Where a failure is seen that only the generated code shows."""


def configured_findings(
    dispatch: Dispatch, ops: Sequence[SourceOp] = (), endless_code: bool = True
) -> list[Finding]:
    """What the configured dispatch shows, without code: a finding for each failure. Without ``endless_code`` not those for which no code
    is generated."""
    found = []
    for one in failures_of(backend_named(dispatch.target.backend)):
        if one.stage is Stage.CONFIGURED and not one.packed and (endless_code or not one.endless_code):
            found.append(contained(one.name, partial(_configured, one, dispatch, ops), None, about=dispatch))
    return [finding for finding in found if finding is not None]


def first_configured(dispatch: Dispatch, ops: Sequence[SourceOp] = ()) -> Finding | None:
    return next(iter(configured_findings(dispatch, ops, endless_code=False)), None)


def _configured(one: Failure, dispatch: Dispatch, ops: Sequence[SourceOp]) -> Finding | None:
    if not one.may_occur(dispatch, lambda: read_configured(dispatch)):
        return None
    evidence = one.detect(dispatch, dispatch.inner_module())
    return one.explain(dispatch, evidence, ops) if evidence and one.matters(dispatch, evidence) else None


def _built_wrong(dispatch: Dispatch, generate: Generate) -> Finding | None:
    if not may_be_built_wrong(dispatch):
        return None
    from .generated_finding import first_seen

    return first_seen(dispatch, generate(dispatch), ())


def may_be_built_wrong(dispatch: Dispatch) -> bool:
    """Whether code has to be generated (0.01 to 0.03 s) to know that what IREE builds is right. Not where it is unrolled: that takes
    minutes.
    """
    candidates = [
        one
        for one in failures_of(backend_named(dispatch.target.backend))
        if one.stage in IN_CODE and not one.packed
    ]
    if not candidates or unrolls(dispatch):
        return False
    configured = cache(lambda: read_configured(dispatch))
    return any(one.may_occur(dispatch, configured) for one in candidates)


def predicted_to_exceed(module: Module) -> bool:
    """Whether a dispatch will not fit its target by a prediction without doubts: decided before any code is generated."""
    return any(
        contained("predicted memory", partial(_predicted_to_exceed, d), False, about=d)
        for d in formed_dispatches(module)
    )


def _predicted_to_exceed(dispatch: Dispatch) -> bool:
    limit = limit_of(dispatch)
    if limit is None or dispatch.target.backend not in BACKENDS:
        return False
    predicted = predict(read_configured(dispatch))
    return not predicted.doubts and bool(predicted.total.exceeds(limit.bytes))


def exceeds_device(module: Module, generate: Generate = probe) -> bool:
    """Whether a dispatch fits IREE's limit, and not the device's own, so that it could not be loaded, or not the budget that the program states.

    Code is generated only where one of them is less than IREE's target attribute says and the prediction exceeds it or has doubts.
    """
    return any(
        contained("memory of the device", partial(_exceeds_device, d, generate), False, about=d, cpu_limit=0)
        for d in formed_dispatches(module)
    )


def _exceeds_device(dispatch: Dispatch, generate: Generate) -> bool:
    if stricter_device(dispatch) is None and dispatch.budget is None:
        return False
    allowed = limit_of(dispatch)
    if allowed is None or dispatch.target.backend not in BACKENDS:
        return False
    predicted = predict(read_configured(dispatch))
    if not predicted.doubts and predicted.total.value is not None and predicted.total.value <= allowed.bytes:
        return False
    from .generated_finding import exceeded

    return any(exceeded(dispatch, generate(dispatch).footprint))


def narrow_elements(
    one: NarrowElements, formed: Sequence[Dispatch], generate: Generate = probe, foresee: Foresee = unrolls
) -> list[tuple[Dispatch, Evidence]]:
    """The dispatches among ``formed`` that have the failure ``one``, with what shows it.

    Code that takes minutes to generate is left out. Where all buffers are concerned, less unrolled code is generated in seconds: IREE
    often refuses it, which `unrolls` cannot tell. Elsewhere what ``foresee`` finds unrolled is not looked at.
    """
    found = []
    for dispatch in formed:
        if one.concerns(backend_named(dispatch.target.backend)) and one.may_occur(
            dispatch, partial(read_configured, dispatch)
        ):
            evidence = contained(
                one.name,
                partial(_narrow, one, dispatch, generate, foresee),
                NOTHING,
                about=dispatch,
                cpu_limit=0,
            )
            found += [(dispatch, evidence)] if evidence else []
    return found


def _narrow(one: NarrowElements, dispatch: Dispatch, generate: Generate, foresee: Foresee) -> Evidence:
    if one.stage is Stage.CONFIGURED:
        return one.detect(dispatch, dispatch.inner_module()) or NOTHING
    if not one.every_buffer:
        return NOTHING if foresee(dispatch) else generate(dispatch).seen.get(one.code, NOTHING)
    around = one.around(dispatch)
    if unrolls_endlessly(dispatch):
        return gravest((around, one.without_code(dispatch)))
    return gravest((generate(dispatch).seen.get(one.code, NOTHING), around))
