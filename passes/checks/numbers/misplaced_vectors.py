"""Does code generation read or write vectors beside their place?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp


def check_vector_places(
    dispatch: Dispatch, buffers: Sequence[str], ops: Sequence[SourceOp]
) -> Finding | None:
    """FIS112 where ``buffers`` (types, from the probe) is not empty: other elements are read or written."""
    if not buffers:
        return None
    root = ops[dispatch.root] if dispatch.root is not None and dispatch.root < len(ops) else None
    at = (root.place if root else None) or dispatch.place
    what = f"the dispatch of {root.name or root.op}" if root else "a dispatch"
    return Finding(
        "FIS112",
        f"{what} reads or writes vectors of {buffers[0]} beside their place: its numbers are wrong",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=(Place(at.file, at.line, at.column, "its vectors begin between two vectors of the buffer"),)
        if at
        else (),
        notes=tuple(f"also: {buffer}" for buffer in buffers[1:]),
    )
