"""Applies cuts to a module at global optimisation: boundaries placed, then lowered to what IREE understands."""

from __future__ import annotations

from collections.abc import Sequence

from fissile.dialect import load_dialects
from fissile.passes.remedies.lower_boundaries import LowerBoundaries
from fissile.passes.remedies.place_boundaries import PlaceBoundaries

from .session import Module


def apply_cuts(module: Module, cuts: Sequence[int]) -> None:
    """Cuts the source ops with the indices ``cuts`` off from their consumers, in place; no cuts, no change."""
    if not cuts:
        return
    found = []
    load_dialects(module.op.context, LowerBoundaries.dialects)
    PlaceBoundaries(ops=tuple(cuts)).run(module.op, found.append)
    LowerBoundaries().run(module.op, found.append)
