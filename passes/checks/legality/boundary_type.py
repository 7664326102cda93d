"""An argument or a result of a type that IREE takes in no function (FIS407)."""

from __future__ import annotations

from fissile.finding import Finding, Help
from fissile.passes.analysis.legality.boundary_types import BoundaryValue
from fissile.passes.iree.messages import quoted


def check_boundary(value: BoundaryValue) -> Finding:
    """FIS407 for ``value``."""
    return Finding(
        "FIS407",
        f"{value.what} has a type that IREE takes in no function: {value.type}",
        subject=value.what,
        places=(value.place,) if value.place else (),
        helps=(Help("export the model with tensors and numbers as arguments and results"),),
        notes=("class: wrong front end",),
        stock=quoted(value.outcome.message),
        detail=value.outcome.text,
    )
