"""Turns fissile.boundary into the fusion boundary that IREE knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, iree_tensor_ext, tensor

from fissile.dialect import ops_of
from fissile.dialect.verify import verify_dialect
from fissile.finding import Finding
from fissile.passes.definition import Contract, Pass, PassFailed, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, NO_BOUNDARIES, WELL_FORMED


def dynamic_sizes(value: ir.Value) -> list[ir.Value]:
    """The sizes (index) of a ranked tensor's dynamic dimensions, read at the insertion point."""
    tensor_type = ir.RankedTensorType(value.type)
    index = ir.IndexType.get()
    return [
        tensor.dim(value, arith.constant(index, position))
        for position in range(tensor_type.rank)
        if tensor_type.is_dynamic_dim(position)
    ]


@register_pass
@dataclass(frozen=True)
class LowerBoundaries(Pass):
    """Turns each fissile.boundary into iree_tensor_ext.compute_barrier.start.

    IREE's dispatch creation fuses nothing across that op and erases it at its end: it costs no copy, no
    synchronisation and no extra submission (measured on 3.13; util.optimization_barrier costs all three).
    Run it on the output of global optimisation, or on the source: after dispatch creation is too late.
    """

    name: ClassVar[str] = "fissile-lower-boundaries"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "iree_tensor_ext", "tensor")
    contract: ClassVar[Contract] = Contract(
        requires=(WELL_FORMED, DISPATCHES_NOT_FORMED), establishes=(NO_BOUNDARIES,)
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        if wrong := verify_dialect(op):
            raise PassFailed(wrong)
        for boundary in ops_of(op, "fissile.boundary"):
            value = boundary.operands[0]
            with ir.InsertionPoint(boundary), boundary.location:
                barrier = iree_tensor_ext.ComputeBarrierStartOp(value.type, value, dynamic_sizes(value))
            boundary.results[0].replace_all_uses_with(barrier.result)
            boundary.erase()
