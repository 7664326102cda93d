"""A value without a rank, where IREE needs one (FIS411)."""

from __future__ import annotations

from dataclasses import replace

from fissile.finding import Finding, Help
from fissile.passes.analysis.legality.unranked import Unranked


def check_unranked(value: Unranked) -> Finding:
    """FIS411 for ``value``: who made it, and who needs its rank."""
    places = [value.place] if value.place else []
    places += [replace(at, label="needs the rank") for _name, at in value.users if at]
    needed = ", ".join(dict.fromkeys(name for name, _at in value.users))
    return Finding(
        "FIS411",
        f"{value.maker} has no rank: {value.type}",
        subject=value.maker,
        places=tuple(dict.fromkeys(places)),
        helps=(Help("give it a rank: a type such as tensor<?x?xf32>, or a tensor.cast from one"),),
        notes=("class: missing type information: shape", *([f"needed by: {needed}"] if needed else [])),
    )
