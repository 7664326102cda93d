"""Has the device finish a tensor before the loop that starts with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.loop_inits import shared_inits
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy

from ..host.held_tensors import held_copy


@register_pass
@dataclass(frozen=True)
class FinishBeforeLoops(Remedy):
    """Copies the initial values of loops that other ops use as well, and puts `util.optimization_barrier` on the copies (FIS171).

    No op is moved across a barrier, so what computes the value is submitted before the loop; the host waits for it once. Run it
    after global optimisation. It changes loops that IREE compiles, too: it is for a program that IREE has rejected.
    """

    name: ClassVar[str] = "fissile-finish-before-loops"
    cures: ClassVar[tuple[str, ...]] = ("FIS171",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "copies the initial values of loops that other ops use as well, behind a barrier"
    repairs: ClassVar[str] = "programs with loops in which IREE finds a circular dependency (FIS171)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "computed the initial value before the loop"
    advice: ClassVar[str] = "compute the initial value before the loop"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "linalg", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in shared_inits(op):
            value = found.user.operands[found.operand]
            with ir.InsertionPoint(found.loop), found.loop.location:
                found.user.operands[found.operand] = held_copy(value, dynamic_sizes(value))
