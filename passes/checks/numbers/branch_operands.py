"""Does IREE's VM lose a buffer or a fence that a branch passes twice (FIS173)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.effect import Effect
from fissile.finding import Finding, ordered

from ..dispatch_places import labelled


def check_branch_operands(branches: Iterable[ir.Operation], sure: bool = True) -> list[Finding]:
    """FIS173 of each place in ``branches``, which lose a reference, or may do so where that is not ``sure``."""
    found: dict[str, Finding] = {}
    for branch in branches:
        place = place_of(branch)
        found.setdefault(
            str(place),
            Finding(
                "FIS173",
                "a branch passes a buffer or fence that the program needs once more, and IREE's VM "
                + ("loses it" if sure else "may lose it"),
                subject="loop",
                effect=Effect.WRONG if sure else Effect.UNPROVED,
                places=labelled(place, "loops or branches here"),
            ),
        )
    return list(ordered(found.values()))
