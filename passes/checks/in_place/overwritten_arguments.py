"""Does a function return an argument whose buffer IREE has overwritten (FIS142)?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding
from fissile.passes.analysis.host.overwritten_arguments import OverwrittenArgument

from ..dispatch_places import labelled


def check_overwritten_arguments(found: Iterable[OverwrittenArgument]) -> list[Finding]:
    """FIS142 of each argument."""
    return [
        Finding(
            "FIS142",
            f"@{one.function} returns its argument {one.number + 1}, and IREE overwrites the argument's buffer before",
            subject=f"@{one.function}",
            places=labelled(one.place, "updates the argument in place"),
        )
        for one in found
    ]
