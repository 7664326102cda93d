"""Does IREE update a tensor in place before another op has read it (FIS156), by copying inside of one buffer (FIS177), or two as one (FIS181)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.program.late_reads import Overlap, Read
from fissile.passes.analysis.program.remade_tensors import Remade

from ..dispatch_places import labelled


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
            f"@{one.function}: IREE makes a tensor anew where it has to be copied before an update, and takes another tensor for it",
            subject=f"@{one.function}",
            places=(
                *labelled(one.made_at, "makes it, and reads no tensor"),
                *(label for place in one.updates for label in labelled(place, "updates it in place")),
            ),
        )
        for one in found
    ]
    return list(dict.fromkeys(findings))
