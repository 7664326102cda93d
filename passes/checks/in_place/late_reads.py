"""Does IREE update a tensor in place before another op has read it (FIS156), by copying inside of one buffer (FIS177), two as one
(FIS181), or while another one is the same buffer (FIS182)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.effect import Effect
from fissile.finding import Finding, Place
from fissile.passes.analysis.program.late_reads import Overlap, Read, StaleRead
from fissile.passes.analysis.program.remade_tensors import Remade

from ..dispatch_places import labelled

MOST_READERS = 3
"""How many ops that read a tensor too late a finding names: each is repaired by the same copy."""


def check_late_reads(found: Iterable[Read]) -> list[Finding]:
    """FIS156 of each function and pair of places."""
    findings = [
        Finding(
            "FIS156",
            f"@{one.function}: IREE updates a tensor in place before another op has read it",
            subject=f"@{one.function}",
            places=(
                *labelled(one.updated_at, "updates it in place"),
                *labelled(one.read_at, "has to read it before"),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))


def check_overlapping_copies(found: Iterable[Overlap]) -> list[Finding]:
    """FIS177 of each place; a range that is known at run time only may overlap."""
    findings = [
        Finding(
            "FIS177",
            f"@{one.function}: IREE copies a part of a tensor inside of one buffer, to a range that "
            + ("overlaps it" if one.sure else "may overlap it"),
            subject=f"@{one.function}",
            effect=Effect.WRONG if one.sure else Effect.UNPROVED,
            places=(
                *labelled(one.updated_at, "is written to the same tensor"),
                *labelled(one.read_at, "this part"),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))


def check_remade_tensors(found: Iterable[Remade]) -> list[Finding]:
    """FIS181 of each tensor."""
    findings = [
        Finding(
            "FIS181",
            (f"@{one.function}" if one.function else "an initializer")
            + ": IREE makes a tensor anew where it has to be copied, and takes another tensor for it",
            subject=f"@{one.function}",
            places=(
                *labelled(one.made_at, "makes it, and reads no tensor"),
                *(label for place in one.updates for label in labelled(place, _use(one))),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))


def _use(one: Remade) -> str:
    return "is kept in a global" if one.stored else "updates it in place"


def check_stale_reads(found: Iterable[StaleRead]) -> list[Finding]:
    """FIS182 of each update."""
    readers: dict[tuple[str, Place | None], list[Place | None]] = {}
    for one in found:
        readers.setdefault((one.function, one.updated_at), []).append(one.read_at)
    return [
        Finding(
            "FIS182",
            f"@{function}: IREE updates a tensor in place that a loop or a branch has passed on, and another one may be the same buffer",
            subject=f"@{function}",
            places=(
                *labelled(updated_at, "updates it in place"),
                *(
                    label
                    for place in list(dict.fromkeys(read_at))[:MOST_READERS]
                    for label in labelled(place, "reads the other one")
                ),
            ),
        )
        for (function, updated_at), read_at in readers.items()
    ]
