"""Does a dispatch load or store elements that its target's storage buffers cannot hold?"""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Place
from fissile.passes.analysis.dispatches import Dispatch

NARROW_BITS = (8, 16)


def check_narrow_storage(dispatches: Iterable[Dispatch]) -> list[Finding]:
    """FIS110, one per target and element type, with every dispatch that is affected.

    IREE 3.13 emulates such loads and stores by 32-bit words and computes wrong addresses for vectors. Sub-byte types
    are packed by IREE before this point, booleans are stored as bytes.
    """
    affected: dict[tuple[str, str], list[Dispatch]] = {}
    for dispatch in dispatches:
        widths = dispatch.target.storage_bits
        if not widths:
            continue
        for binding in dispatch.bindings:
            if binding.element_bits in NARROW_BITS and binding.element_bits not in widths:
                listed = affected.setdefault((dispatch.target.name, binding.element), [])
                if dispatch not in listed:
                    listed.append(dispatch)
    return [_finding(target, element, where) for (target, element), where in affected.items()]


def _finding(target: str, element: str, where: list[Dispatch]) -> Finding:
    bits = next(b.element_bits for d in where for b in d.bindings if b.element == element)
    places = tuple(
        dict.fromkeys(
            Place(d.place.file, d.place.line, d.place.column, f"a dispatch that reads or writes {element}")
            for d in where
            if d.place is not None
        )
    )
    count = f"{len(where)} dispatch{'es' if len(where) > 1 else ''}"
    return Finding(
        "FIS110",
        f"the numbers will be wrong: {element} in {count}, but {target} has no {bits}-bit storage",
        subject=where[0].name,
        target=target,
        places=places[:4],
        notes=(
            "IREE 3.13 builds this module and miscompiles its narrow loads and stores on this target",
            "compile for the device that will run it: --fissile-match-device=vulkan, or --iree-vulkan-target=NAME",
        ),
    )
