"""Is the code of a dispatch unrolled over so many narrow elements that neither IREE nor a driver compiles it in time?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.kernel.narrow_access import missing_storage
from fissile.passes.analysis.memory.unrolling import Unrolled
from fissile.target import may_be_lavapipe

from ..dispatch_places import labelled, root_places

UNROLLED_FROM = 256
"""Elements of one thread: from here on lavapipe takes seconds, tens of them soon, and IREE 3.13 more than for anything that is not
unrolled (`bench/speed/unrolled_cost.py`)."""

ENDLESS_FROM = 1024
"""Elements of one thread, on a target without storage for them: IREE 3.13 did not end within 40 s, or refused the code, on all 23
programs of a corpus of dequantised matmuls that have so many."""


def unrolled_from(arch: str, tune: bool = False) -> int:
    """Elements from which on code counts as unrolled: as measured on lavapipe where ``arch`` may be it, or with ``tune``; elsewhere
    only what IREE itself does not end with.
    """
    return UNROLLED_FROM if tune or may_be_lavapipe(arch) else ENDLESS_FROM


def check_unrolled(dispatch: Dispatch, found: Unrolled, ops: Sequence[SourceOp] = ()) -> Finding | None:
    """FIS109 where ``found`` are too many. ``ops`` are the source ops that its tags name."""
    if found.elements < UNROLLED_FROM:
        return None
    places = [
        place
        for tag in found.tags
        if tag < len(ops)
        for place in labelled(ops[tag].place, "fused into the dispatch: all of it is unrolled")
    ]
    return Finding(
        "FIS109",
        f"the dispatch is unrolled over {found.elements} narrow elements for each thread: long to compile, for IREE and for the driver",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=tuple(dict.fromkeys((*places, *root_places(dispatch, ops)))),
        effect=Effect.ENDLESS
        if found.elements >= ENDLESS_FROM and missing_storage(dispatch)
        else Effect.SLOW,
    )
