"""An op with an effect that one of IREE's passes removes (FIS413)."""

from __future__ import annotations

from fissile.finding import Finding, Help
from fissile.passes.analysis.legality.effects import Effect


def check_dropped(effect: Effect, dropped_by: str, target: str = "") -> Finding:
    """FIS413 for ``effect``, which the pass ``dropped_by`` removed without anything in its place."""
    inside = f" in {effect.around}" if effect.around else ""
    return Finding(
        "FIS413",
        f"IREE's pass {dropped_by} drops {effect.op} {effect.text}{inside}: it has no effect in the compiled program",
        subject=effect.op,
        target=target,
        places=(effect.place,) if effect.place else (),
        helps=(
            (Help("assert it in the function, in front of the op: there IREE keeps it"),)
            if effect.around
            else ()
        ),
        notes=("class: dead code",),
    )
