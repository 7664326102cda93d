"""Does IREE update a tensor in place before another op has read it (FIS156)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.program.late_reads import Read

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
