"""Does code generation extend integers below a byte together with their neighbours' bits?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch


def check_sub_byte_extension(affected: Iterable[tuple[Dispatch, tuple[str, ...]]]) -> list[Finding]:
    """FIS135, one per target and element type. ``affected``: dispatches with the types that `unmasked_types` found."""
    by_type: dict[tuple[str, str], list[Dispatch]] = {}
    for dispatch, types in affected:
        for element in types:
            by_type.setdefault((dispatch.target.name, element), []).append(dispatch)
    return [_finding(target, element, where) for (target, element), where in by_type.items()]


def _finding(target: str, element: str, where: list[Dispatch]) -> Finding:
    count = f"{len(where)} dispatch{'es' if len(where) > 1 else ''}"
    places = tuple(
        dict.fromkeys(
            Place(d.place.file, d.place.line, d.place.column, f"extends or compares elements of {element}")
            for d in where
            if d.place is not None
        )
    )
    return Finding(
        "FIS135",
        f"the numbers will be wrong: {element} is extended with its neighbours' bits in {count} on {target}",
        subject=where[0].name,
        target=target,
        places=places[:4],
        notes=("the module builds and runs",),
    )
