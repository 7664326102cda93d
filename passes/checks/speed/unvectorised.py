"""Does IREE leave a convolution to scalar code?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.layout.unvectorised import Unvectorised

from ..dispatch_places import labelled

MIN_STEPS = 1 << 13
"""Multiplications of a convolution that pay for the ops it becomes: the smallest of bench/speed/window_forms.py, 9216 of them, is still faster."""
MOST_ELEMENTS = 64
"""Of a window that is unrolled: 7x7 has 49, and 3x3x3 27."""
_MOST_PLACES = 4


def worth_unrolling(found: Iterable[Unvectorised]) -> list[Unvectorised]:
    """Those that are faster as one product for each element of the window: reads with strides would make them up to 20 times slower."""
    return [
        one
        for one in found
        if one.steps >= MIN_STEPS and 1 < one.elements <= MOST_ELEMENTS and not one.strided
    ]


def check_unvectorised(
    found: Iterable[tuple[Dispatch, Iterable[Unvectorised]]], ops: Sequence[SourceOp] = ()
) -> Finding | None:
    """FIS212 of all that `worth_unrolling` leaves of what was ``found`` in each dispatch: right, but slow."""
    costly = [(one, dispatch) for dispatch, every in found for one in worth_unrolling(every)]
    if not costly:
        return None
    places = dict.fromkeys(
        ops[one.tag].place if one.tag is not None and one.tag < len(ops) else one.place
        for one, _dispatch in costly
    )
    count = "a convolution" if len(costly) == 1 else f"{len(costly)} convolutions"
    return Finding(
        "FIS212",
        f"IREE does not vectorise {count}",
        severity=Severity.NOTE,
        subject=costly[0][1].name,
        target=costly[0][1].target.name,
        places=tuple(
            place for one in list(places)[:_MOST_PLACES] for place in labelled(one, "not vectorised")
        ),
        notes=(
            "right but slow; `fissile compile --fusion=tune` computes it as products that are vectorised",
        ),
    )
