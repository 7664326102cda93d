"""Does a command buffer begin before the storage that it uses is there (FIS194)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.dialect import place_of
from fissile.finding import Finding, ordered
from fissile.passes.analysis.host.dropped_waits import DroppedWait

from ..dispatch_places import labelled


def check_dropped_waits(found: Iterable[DroppedWait]) -> list[Finding]:
    """FIS194 of each place."""
    places = {str(place): place for place in (place_of(one.execute) for one in found)}
    return list(
        ordered(
            Finding(
                "FIS194",
                "a command buffer does not wait for storage that it uses, or for what is written into it",
                subject="schedule",
                places=labelled(place, "may begin too early"),
            )
            for place in places.values()
        )
    )
