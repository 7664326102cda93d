"""The exact answer for one dispatch: IREE's own code generation, on a copy.

Agreed with the real compile on every gfx942 and Vulkan program of the public corpus, bytes equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from iree.compiler import ir

from fissile.effect import Effect
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.footprint import STACK, Footprint, read_footprint
from fissile.passes.checks.fit.workgroup_fit import IREE_DEFAULT_STACK_BYTES, space_of
from fissile.passes.containment import contained
from fissile.passes.failures.failure import Failure, Stage, codes_of, failures_of
from fissile.passes.iree.backends import BACKENDS, backend_named
from fissile.passes.iree.pipelines import NARROW_EMULATED, VIEWS_FOLDED
from fissile.quantity import total

from .conversion import Conversion, Copy
from .diagnostics import Diagnostic


@dataclass(frozen=True)
class Probed:
    """What code generation shows of a dispatch.

    ``footprint`` holds the buffers at the point where code generation ended: after the resource check, or where it
    failed. ``failure`` is its first error, None where it went through. ``seen`` has what the code shows of failures, by their
    codes (`fissile.passes.failures`).
    """

    footprint: Footprint
    failure: Diagnostic | None
    seen: Mapping[str, Evidence] = field(default_factory=dict)
    refusal: str = ""
    """IREE's message on buffers that its own limit has no room for."""


def unknown(dispatch: Dispatch) -> Probed:
    """Of a dispatch that could not be probed: what each failure says without code."""
    seen = {
        one.code: evidence
        for one in _at(Stage.NARROW_EMULATED, dispatch)
        if (evidence := one.without_code(dispatch))
    }
    return Probed(Footprint(()), None, seen)


def probe(dispatch: Dispatch) -> Probed:
    """Runs code generation on a copy of ``dispatch``; the module it belongs to stays as it is.

    Raises KeyError for a backend that IREE 3.13 has no lowering pipeline for.
    """
    return _probe(dispatch, Conversion(dispatch), False)


def probe_and_convert(dispatch: Dispatch, flags: tuple[str, ...] = ()) -> tuple[Probed, Diagnostic | None]:
    """`probe`, and where nothing failed, the first error of the conversion to LLVM or SPIR-V. ``flags`` as in `linking.link`."""
    conversion = Conversion(dispatch, flags)
    probed = _probe(dispatch, conversion, True)
    return probed, None if probed.failure is not None else conversion.diagnostic()


def _probe(dispatch: Dispatch, conversion: Conversion, converted: bool) -> Probed:
    """``converted``: someone will ask ``conversion``."""
    backend = dispatch.target.backend
    copy = Copy(dispatch)
    conversion.before_lowering(copy)
    failure = copy.generate(BACKENDS[backend].lowering)
    if failure is None and converted:
        conversion.after_lowering(copy)
    failure = failure or (copy.generate(bounding) if (bounding := BACKENDS[backend].bounding) else None)
    inner = copy.inner
    alignment = BACKENDS[backend].alignment
    footprint = contained(
        "bytes of buffers", lambda: read_footprint(inner, alignment), Footprint(()), about=dispatch
    )
    seen = {} if failure else _look(dispatch, inner, Stage.LOWERED)
    refused = (
        copy.generate(BACKENDS[backend].resource_check)
        if not failure and _exceeds(dispatch, footprint)
        else None
    )
    # Last, since it changes the copy; a failure of it is none of the program.
    moving = not failure and _folds_views(dispatch) and copy.generate(VIEWS_FOLDED) is None
    if moving:
        folded = _look(dispatch, inner, Stage.VIEWS_FOLDED)
        seen |= {code: _or_refused(code, evidence, refused, conversion) for code, evidence in folded.items()}
    for one in _at(Stage.NARROW_EMULATED, dispatch):
        evidence = contained(
            one.name,
            partial(_emulated, one, dispatch, copy, conversion, failure, refused, moving),
            one.without_code(dispatch),
            about=dispatch,
        )
        seen |= {one.code: evidence} if evidence else {}
    return Probed(footprint, failure, seen, refused.message if refused else "")


def _folds_views(dispatch: Dispatch) -> bool:
    """Whether a failure is looked for in code with views folded into accesses; SPIR-V's always is."""
    return backend_named(dispatch.target.backend).divides_indices or any(
        one.may_occur(dispatch, lambda: read_configured(dispatch))
        for one in _at(Stage.VIEWS_FOLDED, dispatch)
    )


def _at(stage: Stage, dispatch: Dispatch) -> list[Failure]:
    """The failures that are seen at ``stage`` and that ``dispatch`` may have where only the code decides."""
    found = [one for one in failures_of(backend_named(dispatch.target.backend)) if one.stage is stage]
    if stage is Stage.NARROW_EMULATED:  # emulation costs a stage of its own
        found = [one for one in found if one.may_occur(dispatch, lambda: read_configured(dispatch))]
    return found


def _look(dispatch: Dispatch, code: ir.Operation, stage: Stage) -> dict[str, Evidence]:
    """What ``code`` shows of the failures that are seen at ``stage``."""
    found = {
        one.code: contained(
            f"{one.name} ({one.code})", partial(one.detect, dispatch, code), None, about=dispatch
        )
        for one in _at(stage, dispatch)
    }
    return {code: evidence for code, evidence in found.items() if evidence}


def _exceeds(dispatch: Dispatch, footprint: Footprint) -> bool:
    """Whether the buffers are more than IREE's own limit: only then its check has a message."""
    space = space_of(dispatch)
    limit = (
        dispatch.target.stack_bytes or IREE_DEFAULT_STACK_BYTES
        if space == STACK
        else dispatch.target.workgroup_bytes
    )
    return (
        limit is not None
        and total(a.bytes for a in footprint.allocations if a.space == space).exceeds(limit) is not False
    )


def _or_refused(
    code: str, evidence: Evidence, too_large: Diagnostic | None, conversion: Conversion
) -> Evidence:
    """``evidence`` of wrong numbers of narrow elements, or IREE's refusal of the same dispatch."""
    if code not in codes_of(lambda one: one.packed) or not (refused := too_large or conversion.diagnostic()):
        return evidence
    return replace(evidence, effect=Effect.REFUSED, message=refused.message)


def _emulated(
    one: Failure,
    dispatch: Dispatch,
    copy: Copy,
    conversion: Conversion,
    failed: Diagnostic | None,
    too_large: Diagnostic | None,
    views_folded: bool,
) -> Evidence | None:
    """What the code shows of ``one`` once narrow elements are emulated by words. Where it shows anything, IREE may refuse it as well."""
    generated = failed is None and views_folded and copy.generate(NARROW_EMULATED) is None
    found = one.detect(dispatch, copy.inner) if generated else one.without_code(dispatch)
    refused = failed or too_large or (conversion.diagnostic() if found else None)
    if not refused:
        return found
    types = (found or one.without_code(dispatch)).types
    return replace(found or Evidence(types=types), effect=Effect.REFUSED, message=refused.message)
