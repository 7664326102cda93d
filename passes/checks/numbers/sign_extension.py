"""Does code generation lose the sign of narrow integers that a dispatch reads?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch


def check_sign_extension(affected: Iterable[tuple[Dispatch, tuple[str, ...]]]) -> list[Finding]:
    """FIS118, one per target and element type. ``affected``: dispatches with the types that `lost_signs` found."""
    by_type: dict[tuple[str, str], list[Dispatch]] = {}
    for dispatch, types in affected:
        for element in types:
            by_type.setdefault((dispatch.target.name, element), []).append(dispatch)
    return [_finding(target, element, where) for (target, element), where in by_type.items()]


def _finding(target: str, element: str, where: list[Dispatch]) -> Finding:
    count = f"{len(where)} dispatch{'es' if len(where) > 1 else ''}"
    places = tuple(
        dict.fromkeys(
            Place(d.place.file, d.place.line, d.place.column, f"sign-extends vectors of {element}")
            for d in where
            if d.place is not None
        )
    )
    return Finding(
        "FIS118",
        f"the numbers will be wrong: code generation loses the sign of {element} in {count} on {target}",
        subject=where[0].name,
        target=target,
        places=places[:4],
        notes=("negative values are read as positive ones; the module builds and runs",),
    )
