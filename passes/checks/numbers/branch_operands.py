"""Does IREE's VM lose a buffer or a fence that a branch passes twice (FIS173)?"""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.effect import Effect
from fissile.finding import Finding, ordered
from fissile.passes.analysis.loops.branch_operands import passes_numbers

from ..dispatch_places import labelled


def check_branch_operands(branches: Iterable[ir.Operation], sure: bool = True) -> list[Finding]:
    """FIS173 of each place in ``branches``, which lose a reference, or may do so where that is not ``sure``; FIS197 where it is a number."""
    found: dict[str, Finding] = {}
    for branch in branches:
        place = place_of(branch)
        found.setdefault(
            str(place), _number(branch, sure) if passes_numbers(branch) else _reference(branch, sure)
        )
    return list(ordered(found.values()))


def _reference(branch: ir.Operation, sure: bool) -> Finding:
    return Finding(
        "FIS173",
        "a branch passes a buffer or fence that the program needs once more, and IREE's VM "
        + ("loses it" if sure else "may lose it"),
        subject="loop",
        effect=Effect.WRONG if sure else Effect.UNPROVED,
        places=labelled(place_of(branch), "loops or branches here"),
    )


def _number(branch: ir.Operation, sure: bool) -> Finding:
    return Finding(
        "FIS197",
        "a branch passes numbers of 32 and of 64 bits, and IREE's VM "
        + ("overwrites one" if sure else "may overwrite one")
        + " before it is passed",
        subject="loop",
        effect=Effect.WRONG if sure else Effect.UNPROVED,
        places=labelled(place_of(branch), "loops or branches here"),
    )
