"""Does IREE drop the loops of a window in such a way that it refuses its own op (FIS119)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.dialect import place_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.dispatch.unread_borders import UnreadBorder


def check_unread_borders(borders: Iterable[UnreadBorder]) -> list[Finding]:
    """FIS119, one for each operand."""
    return list(ordered(_finding(border) for border in borders))


def _finding(border: UnreadBorder) -> Finding:
    have, read = ("x".join(map(str, shape)) for shape in (border.have, border.read))
    place = place_of(border.op)
    return Finding(
        "FIS119",
        f"{border.op.name} reads {read} of its {have} input at one position, and IREE cannot drop the loop over one position",
        subject=border.op.name,
        places=(place,) if place else (),
    )
