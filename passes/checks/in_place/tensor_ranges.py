"""Does the host copy a part of a tensor that does not lie in one piece (FIS149)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.tensor_ranges import SLICE, ScatteredRange, Size

from ..dispatch_places import labelled


def check_tensor_ranges(found: Iterable[ScatteredRange]) -> list[Finding]:
    """FIS149 of each op."""
    return [
        Finding(
            "FIS149",
            f"IREE copies one range of bytes for {one.op.name}, and {_shape(one.part)} of {_shape(one.whole)} elements "
            + ("may not" if any(not isinstance(s, int) for s in (*one.whole, *one.part)) else "do not")
            + " follow each other",
            subject=one.op.name,
            places=labelled(
                one.place, "reads other elements" if one.op.name == SLICE else "overwrites others"
            ),
        )
        for one in found
    ]


def _shape(sizes: Iterable[Size]) -> str:
    return "x".join(str(size) if isinstance(size, int) else "?" for size in sizes)
