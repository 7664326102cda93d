"""Has IREE copy a tensor that a loop or a branch has passed on before an op updates it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.shared_destinations import destinations, root_of
from fissile.passes.analysis.host.stale_tensors import stale_tensors
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class CopyPassedTensors(Remedy):
    """Uses each tensor that a loop or a branch passes on, that an op may update in place, and that may be the same buffer as another one which
    is read, once more at the end of its block.

    IREE copies a tensor with another use before the update (FIS182). Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-copy-passed-tensors"
    cures: ClassVar[tuple[str, ...]] = ("FIS182",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "uses tensors that loops and branches pass on and ops update once more at the end of their block"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a loop or a branch passes one tensor on twice, and IREE updates it in place (FIS182)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "kept the tensor in use until the end, so that IREE updates a copy of it"
    advice: ClassVar[str] = "keep the tensor in use until the end, so that IREE updates a copy of it"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for root in dict.fromkeys(root_of(one.target) for one in stale_tensors(op, destinations)):
            block = root.owner if isinstance(root.owner, ir.Block) else root.owner.operation.block
            end = block.operations[len(block.operations) - 1]
            with ir.InsertionPoint(end), end.location:
                ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [root.type], [root])
