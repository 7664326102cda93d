"""Keeps two ops that put a tensor into larger ones apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.nested_inserts import nested_inserts
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class SeparateInserts(Remedy):
    """Puts `iree_tensor_ext.compute_barrier.start` between two ops that IREE joins at wrong positions (FIS157).

    Run it on the output of phase input, before anything is canonicalised, and again after global optimisation.
    """

    name: ClassVar[str] = "fissile-separate-inserts"
    cures: ClassVar[tuple[str, ...]] = ("FIS157",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "puts a barrier between two ops that put a tensor into larger ones, one of them with steps"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: IREE joins the ops and moves the elements (FIS157)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "kept the two ops apart"
    advice: ClassVar[str] = "keep the two ops apart"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "iree_tensor_ext", "tensor")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in nested_inserts(op):
            (value,) = found.inner.results
            with ir.InsertionPoint(found.outer), found.outer.location:
                barrier = ir.Operation.create(
                    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START, [value.type], [value, *dynamic_sizes(value)]
                )
            for use in list(value.uses):
                if use.owner.operation == found.outer:
                    found.outer.operands[use.operand_number] = barrier.results[0]
