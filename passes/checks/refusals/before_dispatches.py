"""Does IREE reject a program before it generates code: for the window of an op (FIS119), for a constant that it cannot evaluate (FIS215), or for
elements that fill no whole bytes (FIS223)? Will it reject what it moves into them?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding, Help, Place, ordered
from fissile.passes.analysis.dispatch.unread_borders import UnreadBorder
from fissile.passes.analysis.globals.evaluated import Evaluated
from fissile.passes.analysis.layout.partial_bytes import PartialBytes

from ..dispatch_places import labelled

MOST_SHOWN = 3
PARTIAL = "FIS223"
_TENSOR = re.compile(r"tensor<((?:\d+x)+(\w+))>")


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


def check_partial_bytes(found: Sequence[PartialBytes]) -> list[Finding]:
    """One FIS223 for all of them; none where a caller passes or gets one: that remains, whatever is done about the others."""
    if not found or any(one.is_passed for one in found):
        return []
    types = list(dict.fromkeys(str(one) for one in found))
    more = f" and {len(types) - MOST_SHOWN} more" if len(types) > MOST_SHOWN else ""
    places = [
        place
        for one in found
        if one.op.name != "tensor.empty"
        for place in labelled(place_of(one.op), "a tensor of such elements")
    ]
    return [
        Finding(
            PARTIAL,
            f"elements of less than a byte fill no whole bytes: {', '.join(types[:MOST_SHOWN])}{more}",
            subject=found[0].op.name,
            places=tuple(dict.fromkeys(places))[:MOST_SHOWN],
        )
    ]


def check_kept_partial_bytes(message: str, places: tuple[Place, ...]) -> Finding:
    """FIS223 of the tensor that ``message``, IREE's, names: one whose type is not fissile's to change."""
    # IREE names a tensor of one dimension where the program's may have several.
    named = _TENSOR.search(message)
    elements = (
        f"{prod(map(int, named[1].split('x')[:-1]))} elements of {named[2]}" if named else "the elements"
    )
    return Finding(
        PARTIAL,
        f"{elements} in a tensor fill no whole number of bytes",
        places=places,
        helps=(
            Help(
                "use i8 for them and truncate them where they are read, or let their number fill whole bytes"
            ),
        ),
        notes=(
            "an argument, a result, a global and what a loop carries keep their types: fissile does not change them",
        ),
    )


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
