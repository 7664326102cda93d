"""What IREE refuses of a program although it takes each op alone (FIS414)."""

from __future__ import annotations

from fissile.finding import Finding, Place
from fissile.passes.analysis.legality.compiler import Outcome
from fissile.passes.analysis.legality.slices import Slice
from fissile.passes.iree.messages import quoted

from .refused_op import with_program


def check_in_context(rest: Outcome, part: Slice | None, found_others: bool, target: str = "") -> Finding:
    """FIS414 for the outcome ``rest`` of a program, ``part`` of which is refused as well; ``found_others``: without some ops."""
    whose = "the rest of the program" if found_others else "the program"
    notes = [f"phase: before {rest.failed}"]
    if rest.failing_pass:
        notes.append(f"pass: {rest.failing_pass}")
    if rest.dispatch:
        notes.append(f"dispatch: {rest.dispatch}")
    notes.append("each op of it compiles alone")
    places: list[Place] = []
    if part is not None:
        notes.append(f"smallest part that fails: {', '.join(unit.name for unit in part.ops)}")
        places = [unit.place for unit in reversed(part.ops) if unit.place]
    return Finding(
        "FIS414",
        f"IREE refuses {whose} before phase {rest.failed}: {quoted(rest.message)}",
        target=target,
        places=tuple(dict.fromkeys(places)),
        notes=tuple(notes),
        detail=with_program(rest.text, part.program.text if part else ""),
    )
