"""Do the sources of a target's limit agree?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Severity
from fissile.target import Target


def check_limit(target: Target, between: Sequence[str] = ()) -> Finding | None:
    """FIS120 where two sources claim different bytes for ``target``.

    ``between`` names dispatches that fit the larger figure only: then it is a warning, else a note.
    """
    if not target.disagrees:
        return None
    claims = sorted(target.claims, key=lambda claim: -claim.bytes)
    figures = "; ".join(f"{claim.bytes} by {claim.source}" for claim in claims)
    notes = [figures]
    if between:
        shown = ", ".join(between[:3]) + (" …" if len(between) > 3 else "")
        count = f"{len(between)} dispatch{'es' if len(between) > 1 else ''}"
        notes.append(f"{count} would pass IREE's check and not fit: {shown}")
    smallest = target.limit.bytes
    return Finding(
        "FIS120",
        f"sources disagree about {target.name}: {claims[0].bytes} or {smallest} bytes per {target.per}; "
        f"{smallest} counts",
        severity=Severity.WARNING if between else Severity.NOTE,
        subject=target.name,
        target=target.name,
        notes=tuple(notes),
    )
