"""Does a dispatch compute a producer again for every use?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.dispatch.recomputation import Recomputed

from ..dispatch_places import labelled

MIN_TIMES = 2
"""Evaluations per element, rounded down, from which on a dispatch of its own is faster."""
MIN_EVALUATIONS = 1 << 15
"""Evaluations in all that pay for one more dispatch: it broke even at about 10 000 on llvm-cpu.

Both were measured by bench/speed/fusion_tune.py on the programs of bench/speed/recomputing_forms.py.
"""


def worth_cutting(producers: Sequence[Recomputed]) -> list[Recomputed]:
    """Those of a dispatch's recomputed producers that cost more than a round trip through memory."""
    return [p for p in producers if p.times >= MIN_TIMES and p.times * p.elements >= MIN_EVALUATIONS]


def check_recomputation(
    dispatch: Dispatch, producers: Sequence[Recomputed], ops: Sequence[SourceOp] = ()
) -> Finding | None:
    """FIS140 where `worth_cutting` leaves any: right, but slow."""
    costly = worth_cutting(producers)
    if not costly:
        return None
    worst = max(costly, key=lambda p: p.times * p.elements)
    places: list = []
    for producer in costly:
        at = (
            ops[producer.tag].place
            if producer.tag is not None and producer.tag < len(ops)
            else producer.place
        )
        done = "transposed" if producer.moves else f"computed {producer.times} times per element"
        places += labelled(at, done)
    places += labelled(worst.root, "not vectorised" if worst.moves else "for each step of this reduction")
    return Finding(
        "FIS140",
        " and ".join(_said(costly, ops)),
        severity=Severity.NOTE,
        subject=dispatch.name,
        target=dispatch.target.name,
        places=tuple(places),
        notes=("right but slow; `fissile compile --fusion=tune` computes it in a dispatch of its own",),
    )


def _said(costly: Sequence[Recomputed], ops: Sequence[SourceOp]) -> list[str]:
    """What the finding says of those that are computed again, and of those that are only read in another order."""
    said = []
    for moves in (False, True):
        some = [producer for producer in costly if producer.moves is moves]
        listed = " and ".join(dict.fromkeys(_name(producer, ops) for producer in some))
        if some and moves:
            said.append("a transposition is folded into a convolution, which IREE then does not vectorise")
        elif some:
            most = max(producer.times for producer in some)
            said.append(f"{listed} recomputed for every use, up to {most} times per element")
    return said


def _name(producer: Recomputed, ops: Sequence[SourceOp]) -> str:
    if producer.tag is not None and producer.tag < len(ops) and ops[producer.tag].name:
        return ops[producer.tag].name
    return f"a producer of {producer.operand}"
