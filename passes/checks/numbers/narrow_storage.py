"""Does a dispatch load or store elements that its target's storage buffers cannot hold, and what does stock IREE make of it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fissile.effect import Effect
from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.kernel.narrow_access import (
    NarrowAccess,
    Numbers,
    missing_storage,
    unprobed_access,
    worst,
)

CLAIMS = {
    # What stock IREE makes of the program: before a repair, and behind it.
    Numbers.UNPROVED: (Effect.UNPROVED, "the numbers may be wrong", "stock IREE may compute wrong numbers"),
    Numbers.WRONG: (Effect.WRONG, "the numbers will be wrong", "stock IREE computes wrong numbers"),
    Numbers.REFUSED: (Effect.REFUSED, "IREE refuses a dispatch", "stock IREE refuses a dispatch"),
}


def check_narrow_storage(
    dispatches: Iterable[Dispatch], access_of: Callable[[Dispatch], NarrowAccess] = unprobed_access
) -> list[Finding]:
    """FIS110, one per target and element type, about every dispatch whose numbers are not known to be right.

    ``access_of`` says what IREE's code for a dispatch does; without it, what the types alone show.
    """
    affected: dict[tuple[str, str], list[tuple[Dispatch, NarrowAccess]]] = {}
    for dispatch in dispatches:
        missing = missing_storage(dispatch)
        access = access_of(dispatch) if missing else None
        if access is None or access.numbers is Numbers.RIGHT:
            continue
        for element in dict.fromkeys(b.element for b in missing):
            affected.setdefault((dispatch.target.name, element), []).append((dispatch, access))
    return [_finding(target, element, where) for (target, element), where in affected.items()]


def _finding(target: str, element: str, where: list[tuple[Dispatch, NarrowAccess]]) -> Finding:
    found = worst(access for _dispatch, access in where)
    effect, claim, _behind = CLAIMS[found.numbers]
    bits = next(b.element_bits for d, _ in where for b in d.bindings if b.element == element)
    places = tuple(
        dict.fromkeys(
            Place(d.place.file, d.place.line, d.place.column, f"a dispatch that reads or writes {element}")
            for d, _ in sorted(where, key=lambda one: -one[1].numbers)
            if d.place is not None
        )
    )
    count = f"{len(where)} dispatch{'es' if len(where) > 1 else ''}"
    return Finding(
        "FIS110",
        f"{claim}: {element} in {count}, but {target} has no {max(8, bits)}-bit storage",
        effect=effect,
        subject=where[0][0].name,
        target=target,
        places=places[:4],
        stock=found.refusal,
        notes=(
            *((found.why,) if found.why else ()),
            "compile for the device that will run it: --match-device=vulkan, or --iree-vulkan-target=NAME",
        ),
    )
