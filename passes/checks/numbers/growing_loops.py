"""Does a loop carry a tensor that grows from a constant size (FIS137)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.loops.growing_loops import FOR, GrowingLoop

from ..dispatch_places import labelled


def check_growing_loops(found: Iterable[GrowingLoop]) -> list[Finding]:
    """FIS137 of each loop: wrong where the tensor grows for certain."""
    return [
        Finding(
            "FIS137",
            f"a loop carries a tensor that {'grows' if one.grows else 'may change its size'}, and IREE keeps its first size, "
            f"{'x'.join(map(str, one.first))}",
            subject=FOR,
            places=labelled(one.place, "every iteration has the size that it begins with"),
            effect=Effect.WRONG if one.grows else Effect.UNPROVED,
        )
        for one in found
    ]
