"""The exact answer for one dispatch: IREE's own code generation, on a copy.

Agreed with the real compile on every gfx942 and Vulkan program of the public corpus, bytes equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.kernel.evidence import Evidence
from fissile.passes.analysis.kernel.narrow_access import (
    NOT_ASKED,
    RIGHT,
    NarrowAccess,
    Numbers,
    generated_access,
    missing_storage,
)
from fissile.passes.analysis.memory.footprint import STACK, Footprint, read_footprint
from fissile.passes.checks.fit.workgroup_fit import IREE_DEFAULT_STACK_BYTES, space_of
from fissile.passes.failures.failure import Stage, failures_of
from fissile.passes.iree.backends import BACKENDS, backend_named
from fissile.passes.iree.pipelines import NARROW_EMULATED, VIEWS_FOLDED
from fissile.passes.net import ask
from fissile.quantity import total

from .conversion import Conversion, Copy
from .diagnostics import Diagnostic


@dataclass(frozen=True)
class Probed:
    """What code generation shows of a dispatch.

    ``footprint`` holds the buffers at the point where code generation ended: after the resource check, or where it
    failed. ``failure`` is its first error, None where it went through. ``seen`` has what the code shows of failures, by their
    codes (`fissile.passes.failures`). ``narrow`` is what becomes of elements that the target has no storage for.
    """

    footprint: Footprint
    failure: Diagnostic | None
    seen: Mapping[str, Evidence] = field(default_factory=dict)
    narrow: NarrowAccess = RIGHT
    refusal: str = ""
    """IREE's message on buffers that its own limit has no room for."""


UNKNOWN = Probed(Footprint(()), None, narrow=NOT_ASKED)
"""For a dispatch that could not be probed: nothing is known, so nothing is found."""


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
    footprint = ask(
        "bytes of buffers", lambda: read_footprint(inner, alignment), Footprint(()), about=dispatch
    )
    seen = {} if failure else _look(dispatch, inner, Stage.LOWERED)
    refused = (
        copy.generate(BACKENDS[backend].resource_check)
        if not failure and _exceeds(dispatch, footprint)
        else None
    )
    # Last, since it changes the copy; a failure of it is none of the program.
    moving = backend_named(backend).divides_indices and not failure and copy.generate(VIEWS_FOLDED) is None
    if moving:
        seen |= _look(dispatch, inner, Stage.VIEWS_FOLDED)
    narrow = RIGHT
    if missing_storage(dispatch):
        narrow = ask(
            "narrow elements",
            lambda: _narrow(copy, conversion, failure, refused, moving),
            NOT_ASKED,
            about=dispatch,
        )
    return Probed(footprint, failure, seen, narrow, refused.message if refused else "")


def _look(dispatch: Dispatch, code: ir.Operation, stage: Stage) -> dict[str, Evidence]:
    """What ``code`` shows of the failures that are seen at ``stage``."""
    looked = [one for one in failures_of(BACKENDS[dispatch.target.backend]) if one.stage is stage]
    found = {
        one.code: ask(
            f"{one.name} ({one.code})", lambda one=one: one.detect(dispatch, code), None, about=dispatch
        )
        for one in looked
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


def _narrow(
    copy: Copy,
    conversion: Conversion,
    failure: Diagnostic | None,
    too_large: Diagnostic | None,
    views_folded: bool,
) -> NarrowAccess:
    """What the code does to narrow elements that the target has no storage for. Where it is not right, IREE may refuse it as well."""
    generated = failure is None and views_folded and copy.generate(NARROW_EMULATED) is None
    found = generated_access(copy.inner) if generated else NOT_ASKED
    refused = (
        failure or too_large or (conversion.diagnostic() if found.numbers is not Numbers.RIGHT else None)
    )
    return NarrowAccess(Numbers.REFUSED, found.why, refused.message) if refused else found
