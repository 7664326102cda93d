"""Does IREE's Vulkan runtime replay copies of an earlier call (FIS175)?"""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding
from fissile.passes.iree import ops as iree_ops

from ..dispatch_places import labelled

MOST_PLACES = 3


def check_replayed_copies(found: Sequence[ir.Operation]) -> list[Finding]:
    """FIS175, one for all of ``found``."""
    if not found:
        return []
    places = [place for op in found for place in labelled(place_of(op), "copies")]
    count = "a command buffer only copies" if len(found) == 1 else f"{len(found)} command buffers only copy"
    return [
        Finding(
            "FIS175",
            f"{count} tensors of a call, and the Vulkan runtime replays the copies with the buffers of an earlier one",
            subject=iree_ops.STREAM_CMD_COPY,
            places=tuple(dict.fromkeys(places))[:MOST_PLACES],
        )
    ]
