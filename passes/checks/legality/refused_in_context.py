"""What IREE refuses of a program although it takes each op alone (FIS414)."""

from __future__ import annotations

from collections.abc import Sequence

from fissile.finding import Finding, Place
from fissile.passes.analysis.legality.compiler import Outcome
from fissile.passes.analysis.legality.slices import Slice
from fissile.passes.iree.messages import quoted

from .refused_op import MOST_PLACES, with_program


def check_in_context(
    rest: Outcome,
    part: Slice | None,
    found_others: bool,
    target: str = "",
    unprobed: Sequence[tuple[str, Place | None]] = (),
    function: str = "",
    place: Place | None = None,
) -> Finding:
    """FIS414 for the outcome ``rest`` of a program, ``part`` of which is refused as well; ``found_others``: without some ops.

    ``function``: the one that ``rest`` is the outcome of, without the others, and ``place`` where it begins. ``unprobed``: ops that were not compiled alone: one of them may be to blame.
    """
    whose = "the rest of the program" if found_others else "the program"
    if function:
        whose = f"@{function}"
    notes = [f"phase: before {rest.failed}"]
    if rest.failing_pass:
        notes.append(f"pass: {rest.failing_pass}")
    if rest.dispatch:
        notes.append(f"dispatch: {rest.dispatch}")
    places: list[Place] = []
    if unprobed:
        names = ", ".join(dict.fromkeys(name for name, _place in unprobed))
        notes.append(f"not compiled alone, because of their types or symbols: {names}")
        notes.append("each other op of it compiles alone")
        places = [place for _name, place in unprobed if place][:MOST_PLACES]
    else:
        notes.append("each op of it compiles alone")
    if part is not None:
        notes.append(f"smallest part that fails: {', '.join(name for name, _place in part.ops)}")
        places = [place for _name, place in reversed(part.ops) if place]
    return Finding(
        "FIS414",
        f"IREE refuses {whose} before phase {rest.failed}: {quoted(rest.message)}",
        subject=f"@{function}" if function else "",
        target=target,
        places=tuple(dict.fromkeys(places)) or ((place,) if place else ()),
        notes=tuple(notes),
        detail=with_program(rest.text, part.program.text if part else ""),
    )
