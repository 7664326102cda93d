"""Is the slab that IREE allocates for transients larger than it must be? FIS311."""

from __future__ import annotations

from fissile.dialect import place_of
from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.lifetime.packing import Layout, least_size
from fissile.passes.analysis.lifetime.slabs import Slab

REMEDY = "fissile-pack-transients"
ADVICE = "pack the slices by size and lifetime: compile with --pack-transients"


def check_slab(slab: Slab, layout: Layout, packed: bool = False) -> Finding | None:
    """FIS311 where ``layout`` is smaller than the slab that IREE makes; ``packed`` says that it is in force."""
    if layout.size >= slab.stock_bytes:
        return None
    bound = least_size(slab.slices)
    saved = 100 * (slab.stock_bytes - layout.size) / slab.stock_bytes
    place = place_of(slab.op)
    optimal = (
        "the least that these lifetimes allow" if layout.size == bound else f"at least {bound} are needed"
    )
    return Finding(
        "FIS311",
        f"transients of '{slab.function}' take {slab.stock_bytes} bytes; {layout.size} are enough ({saved:.0f}% less)",
        severity=Severity.REPAIRED if packed else Severity.NOTE,
        subject=slab.function,
        places=(place,) if place else (),
        notes=(
            f"{len(slab.slices)} slices in one slab, placed by IREE in the order of the program; {optimal}",
        ),
        helps=(
            Help(
                "packed the slices by size and lifetime" if packed else ADVICE,
                REMEDY,
                packed,
                (
                    ("after", f"{layout.size} bytes, offsets aligned to {slab.alignment}"),
                    ("numerics", "bit-identical"),
                ),
                ADVICE,
            ),
        ),
    )
