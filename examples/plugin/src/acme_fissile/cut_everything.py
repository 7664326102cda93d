"""A remedy of another package: fissile tries it for the failures that it cures, when none of its own has helped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import Contract, register_pass
from fissile.passes.remedies.fusion.place_boundaries import place_boundaries
from fissile.passes.remedies.remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy


@register_pass
@dataclass(frozen=True)
class CutEverything(OpRemedy):
    """Places a boundary behind every op of a dispatch."""

    name: ClassVar[str] = "acme-cut-everything"
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS103")
    does: ClassVar[str] = "a boundary behind every op"
    repairs: ClassVar[str] = "dispatches that are too large"
    numbers: ClassVar[str] = "bit-identical"
    exactness: ClassVar[Exactness] = Exactness.BITS
    order: ClassVar[int] = 5
    done: ClassVar[str] = "computed {ops} in dispatches of their own"
    advice: ClassVar[str] = "compute {ops} in dispatches of their own"
    contract: ClassVar[Contract] = PLACES_BOUNDARIES

    def match(self, op: ir.Operation, dispatch=None) -> Match:
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        place_boundaries(ops)
