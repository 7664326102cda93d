"""Keeps IREE from taking the first size of a tensor that a loop changes for its size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.growing_loops import growing_loops
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class HideSizes(Remedy):
    """Puts `util.optimization_barrier` on the constant size of a tensor that a loop makes larger or smaller (FIS137).

    A loop's tensor keeps a dynamic type then, and its size is computed in every iteration. No number changes but those that would be
    wrong. Run it on the output of phase input, before anything is canonicalised.
    """

    name: ClassVar[str] = "fissile-hide-sizes"
    cures: ClassVar[tuple[str, ...]] = ("FIS137",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "adds a `util.optimization_barrier` to the constant initial size of a growing loop"
    repairs: ClassVar[str] = "wrong numbers on every target: the result keeps the initial size (FIS137)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "hid the constant size, so that the loop's tensor keeps a dynamic one"
    advice: ClassVar[str] = "hide the constant size, so that the loop's tensor keeps a dynamic one"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in growing_loops(op):
            for position in found.sizes:
                size = found.empty.operands[position]
                with ir.InsertionPoint(found.empty), found.empty.location:
                    hidden = ir.Operation.create(
                        iree_ops.UTIL_OPTIMIZATION_BARRIER, [size.type], [size]
                    ).results[0]
                found.empty.operands[position] = hidden
