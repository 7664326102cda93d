"""Has IREE copy tensors that are made of sizes and numbers alone, and not make them anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import shared_destinations
from fissile.passes.analysis.program.remade_tensors import is_made_of_nothing, tables
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy

from .held_tensors import held


@register_pass
@dataclass(frozen=True)
class HoldProducers(Remedy):
    """Puts a barrier behind each tensor that no tensor is read for, and that an op may update in place and another one uses, or a global holds.

    IREE does not see what makes the tensor then, and copies it before an update (FIS181). Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-hold-producers"
    cures: ClassVar[tuple[str, ...]] = ("FIS181",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "has tensors copied before an update that IREE would make anew"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: several ops update positions 0, 1, … of an unknown number in place, and IREE has them work on one "
        "tensor (FIS181)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "hid what makes the tensor, so that IREE copies it"
    advice: ClassVar[str] = "hide what makes the tensor, so that IREE copies it"
    dialects: ClassVar[tuple[str, ...]] = ("flow", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        shared = [root for root, *_reshapes in shared_destinations(op) if is_made_of_nothing(root)]
        for root in dict.fromkeys((*shared, *tables(op))):
            with ir.InsertionPoint.after(root.owner.operation), root.owner.operation.location:
                sizes = dynamic_sizes(root)
                uses = [use for use in root.uses if use.owner.operation.name != "tensor.dim"]
                behind = held(root, sizes)
                for use in uses:
                    use.owner.operands[use.operand_number] = behind
