"""Does IREE reject a program before it forms dispatches: for the window of an op (FIS119), or for a constant that it cannot evaluate (FIS215)? Will it reject what it moves into them?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.dispatch.unread_borders import UnreadBorder
from fissile.passes.analysis.globals.evaluated import Evaluated

from ..dispatch_places import labelled

MOST_SHOWN = 3


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


def check_evaluated(found: Sequence[Evaluated]) -> list[Finding]:
    """One FIS215 for all of them: IREE evaluates them in one module."""
    if not found:
        return []
    many = f"{len(found)} constants" if len(found) > 1 else "a constant"
    places = [
        place for one in found[:MOST_SHOWN] for place in labelled(place_of(one.source), "computes a constant")
    ]
    return [
        Finding(
            "FIS215",
            f"IREE evaluates {many} of the program while it compiles, and fails",
            subject=found[0].source.name,
            places=tuple(dict.fromkeys(places)),
        )
    ]


def check_moved_scalars(found: Iterable[ir.Operation]) -> list[Finding]:
    """FIS104, once: the ops that IREE moved into dispatches; the first one's place."""
    ops = list(found)
    if not ops:
        return []
    names = ", ".join(dict.fromkeys(op.name for op in ops))
    message = f"IREE moves the arithmetic of sizes into a dispatch, where this target has no 64-bit {names}"
    return [
        Finding(
            "FIS104", message, subject=ops[0].name, places=labelled(place_of(ops[0]), "a size of 64 bits")
        )
    ]
