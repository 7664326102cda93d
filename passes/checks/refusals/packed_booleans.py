"""Booleans of one bit each, which IREE refuses."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding


def check_packed_booleans(using: Sequence[ir.Operation], message: str, detail: str) -> list[Finding]:
    """FIS136 about the ops ``using`` them; ``message`` is what IREE says in a line, ``detail`` all of it."""
    places = tuple(dict.fromkeys(place for op in using if (place := place_of(op)) is not None))
    count = f"{len(using)} op{'s' if len(using) > 1 else ''}"
    return [
        Finding(
            "FIS136",
            f"IREE has no booleans of a bit each on this target; {count} read or write them",
            subject=using[0].name,
            places=places[:4],
            stock=message,
            detail=detail,
        )
    ]
