"""Is the installed IREE the version that fissile's models were measured on (FIS010)?"""

from __future__ import annotations

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.iree import version


def check_version() -> list[Finding]:
    """One warning on every other version; it says what changes."""
    doubt = version.doubt()
    if not doubt:
        return []
    return [
        Finding(
            "FIS010",
            doubt,
            effect=Effect.UNPROVED,
            notes=(
                "no prediction is trusted: IREE generates code for every dispatch that fissile checks",
                f"calibrated {version.CALIBRATED}; tests run on {', '.join(version.SUPPORTED)}",
            ),
        )
    ]
