"""Does a program transpose a matrix in memory for one vector?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.provenance import SourceOp

from ..dispatch_places import labelled

MIN_BYTES = 1 << 21
"""Of a matrix, from which on the product that reads it as it is is faster, whatever its elements: 1.4 to 15 times (bench/speed/vector_forms.py). Of
1 MiB it is 2.6 times faster with f32, and takes 1.3 times as long with i8."""
_MOST_PLACES = 4


def worth_folding(found: Mapping[int, int]) -> list[int]:
    """The indices of those that are read faster as they are."""
    return [index for index, size in found.items() if size >= MIN_BYTES]


def check_transposed_matrices(found: Mapping[int, int], ops: Sequence[SourceOp]) -> Finding | None:
    """FIS213 of all that `worth_folding` leaves of what `transposed_matrices` has found: right, but slow."""
    costly = worth_folding(found)
    if not costly:
        return None
    what = "a matrix" if len(costly) == 1 else f"{len(costly)} matrices"
    places = dict.fromkeys(ops[index].place for index in costly)
    return Finding(
        "FIS213",
        f"IREE transposes {what} in memory before the product with a vector",
        severity=Severity.NOTE,
        subject=ops[costly[0]].op,
        places=tuple(
            place for one in list(places)[:_MOST_PLACES] for place in labelled(one, "transposed in memory")
        ),
        notes=("right but slow; `fissile compile --fusion=tune` reads it as it is",),
    )
