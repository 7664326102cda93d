"""Has IREE copy a tensor that an op updates while another one reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import destinations_shared, shared_destinations
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy

from .held_tensors import held_copy


@register_pass
@dataclass(frozen=True)
class CopyBeforeUpdates(Remedy):
    """Uses each tensor that is the destination of one op and used by another once more at the end of its block.

    IREE updates a tensor in place after its last use, and may then schedule an earlier reader behind the update (FIS156). With a use at the
    end (`util.optimization_barrier`) the update works on a copy. Results of a function are copied behind the update: where one of them is
    the tensor, ``hold`` has the update work on a copy that IREE does not know to be one.
    """

    name: ClassVar[str] = "fissile-copy-before-updates"
    cures: ClassVar[tuple[str, ...]] = ("FIS156",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "uses tensors that are updated and read once more at the end of their block"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: IREE updates a tensor in place before it is read (FIS156)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "kept the tensor in use until the end, so that IREE updates a copy of it"
    advice: ClassVar[str] = "keep the tensor in use until the end, so that IREE updates a copy of it"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    hold: bool = option(False, "update a copy behind a barrier instead")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if self.hold:
            for update, number in destinations_shared(op):
                target = update.operands[number]
                with ir.InsertionPoint(update), update.location:
                    update.operands[number] = held_copy(target, dynamic_sizes(target), by_dispatch=True)
            return
        for values in shared_destinations(op):
            for value in values:
                block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
                end = block.operations[len(block.operations) - 1]
                with ir.InsertionPoint(end), end.location:
                    ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value])
