"""Keeps the tensors that loops and branches pass on in buffers of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.lost_offsets import carriers, tensors_passed
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy

from ..chosen_ops import check_indices
from ..host.held_tensors import held


@register_pass
@dataclass(frozen=True)
class HoldPassedTensors(Remedy):
    """Puts `util.optimization_barrier` on the tensors that loops begin with, or branches choose from (FIS198); ``inside``: on those that
    a loop's body ends with as well.

    A tensor behind a barrier has offset 0, and the host waits for it. Run it after global optimisation. It changes loops that IREE compiles
    right, too: it is for those that lose an offset.
    """

    name: ClassVar[str] = "fissile-hold-passed-tensors"
    cures: ClassVar[tuple[str, ...]] = ("FIS198",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "puts the tensors that loops and branches pass on behind a barrier, which makes their offset 0"
    )
    repairs: ClassVar[str] = (
        "loops that begin with another tensor than the program says, of sizes that the call decides (FIS198)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "put the tensor in a buffer of its own, which the host waits for"
    advice: ClassVar[str] = "put the tensor in a buffer of its own"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    ops: tuple[int, ...] = option(
        (),
        "indices of the loops, branches and selections that pass tensors on (passing ops), in program order; empty: all",
    )
    inside: bool = option(False, "hold what a loop's body ends with, too")
    bare: bool = option(False, "do not read the sizes of what is held, which IREE may not find")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        every = carriers(op)
        check_indices(self.ops, every, self.name, "passing op")
        for number, carrier in enumerate(every):
            if self.ops and number not in self.ops:
                continue
            for user, operand in tensors_passed(carrier, self.inside):
                value = user.operands[operand]
                with ir.InsertionPoint(user), user.location:
                    user.operands[operand] = held(value, () if self.bare else dynamic_sizes(value))
