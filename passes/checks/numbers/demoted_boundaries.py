"""Does a function take or return elements of another type than the program computes with (FIS161)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.demoted_boundaries import DemotedBoundary
from fissile.passes.iree.flags import IN_F64

from ..dispatch_places import labelled


def check_demoted_boundaries(found: Iterable[DemotedBoundary]) -> list[Finding]:
    """FIS161 of each argument and result."""
    return [
        Finding(
            "FIS161",
            f"@{one.function} {'takes' if one.is_argument else 'returns'} {one.caller}, and IREE "
            f"{'reads' if one.is_argument else 'writes'} the caller's buffer as {one.program}",
            subject=f"@{one.function}",
            places=labelled(one.place, f"{one.caller} for the caller, {one.program} in the program"),
            notes=(f"{IN_F64} computes the program in f64",) if str(one.caller) == "f64" else (),
        )
        for one in found
    ]
