"""Is the slab that IREE allocates for transients larger than it must be? FIS311."""

from __future__ import annotations

from fissile.dialect import place_of
from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.transients.monomials import unit_text
from fissile.passes.analysis.transients.packing import Layout, least_size
from fissile.passes.analysis.transients.slabs import Part, Slab

REMEDY = "fissile-pack-transients"
ADVICE = "pack the slices by size and lifetime: compile with --pack-transients"


def check_slab(slab: Slab, part: Part, layout: Layout, packed: bool = False) -> Finding | None:
    """FIS311 where ``layout`` of a part is smaller than IREE's; ``packed`` says that it is in force."""
    if layout.size >= part.stock:
        return None
    bound = least_size(part.slices)
    saved = 100 * (part.stock - layout.size) / part.stock
    times = f" x {unit_text(part.unit)}" if part.unit else ""
    by_iree = "with room of its own for each size" if part.unit else "in the order of the program"
    place = place_of(slab.op)
    optimal = (
        "the least that these lifetimes allow"
        if layout.size == bound
        else f"at least {bound}{times} are needed"
    )
    return Finding(
        "FIS311",
        f"transients of '{slab.function}' take {part.stock}{times} bytes; {layout.size}{times} are enough ({saved:.0f}% less)",
        severity=Severity.REPAIRED if packed else Severity.NOTE,
        subject=slab.function,
        places=(place,) if place else (),
        notes=(f"{len(part.slices)} slices in one slab, placed by IREE {by_iree}; {optimal}",),
        helps=(
            Help(
                "packed the slices by size and lifetime" if packed else ADVICE,
                REMEDY,
                packed,
                (
                    ("after", f"{layout.size}{times} bytes, offsets aligned to {slab.alignment}"),
                    ("numerics", "bit-identical"),
                ),
                ADVICE,
            ),
        ),
    )
