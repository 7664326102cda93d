"""Does a sort that must be stable exchange equal keys (FIS146)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.program.stable_sorts import TOPK, UnstableSort

from ..dispatch_places import labelled


def check_unstable_sorts(found: Iterable[UnstableSort]) -> list[Finding]:
    """FIS146 of each sort."""
    return [
        Finding(
            "FIS146",
            "IREE puts the last of equal values first in a top_k"
            if one.op.name == TOPK
            else f"IREE exchanges equal keys in a stable sort of {len(one.op.results)} tensors",
            subject=one.op.name,
            places=labelled(one.place, "must keep the order of equal keys"),
        )
        for one in found
    ]
