"""Has IREE copy a part of a tensor before it is written to another place of the tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.moved_slices import moved_slices
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy

from .held_tensors import held


@register_pass
@dataclass(frozen=True)
class HoldSlices(Remedy):
    """Puts a barrier behind each part of a tensor that is written to another place of the same tensor (FIS177).

    IREE does not join the two then: it copies the part to storage of its own, and from there to its place. Run it after global
    optimisation.
    """

    name: ClassVar[str] = "fissile-hold-slices"
    cures: ClassVar[tuple[str, ...]] = ("FIS177",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "copies parts of tensors that are written to another place of the same tensor"
    repairs: ClassVar[str] = (
        "calls that fail, or wrong numbers: IREE copies inside of one buffer, to a range that overlaps (FIS177)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "copied the part to storage of its own first"
    advice: ClassVar[str] = "copy the part to storage of its own first"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in moved_slices(op):
            update = found.update
            part = update.operands[found.operand]
            with ir.InsertionPoint(update), update.location:
                update.operands[found.operand] = held(part, dynamic_sizes(part))
