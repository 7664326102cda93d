"""Does the host hold a float that IREE's VM has no type for?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.host_floats import HostFloat

from ..dispatch_places import labelled


def check_host_floats(found: Iterable[HostFloat]) -> list[Finding]:
    """FIS126 of each constant; what is computed is left to IREE's own message."""
    return [
        Finding(
            "FIS126",
            f"a constant of type {one.type} is kept on the host, and IREE's VM has no such type",
            subject=one.name,
            places=labelled(one.place, f"{one.value:g} as {one.type}"),
        )
        for one in found
        if one.value is not None
    ]
