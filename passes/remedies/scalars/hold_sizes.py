"""Sizes that only the host can compute stay there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.scalars.wide_scalars import wide_scalars
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class HoldSizes(Remedy):
    """Puts `util.optimization_barrier` on 64-bit quotients, and on numbers that are computed in f64, that sizes and places of tensors depend on.

    IREE 3.13 clones the arithmetic of sizes into dispatches, and for a SPIR-V target without 64-bit types it has no 64-bit division there, and
    no f64: a chunk, a convolution with padding="same" or a pool of a dynamic size. Behind the barrier a dispatch takes the number as a
    constant. Run it on the output of phase global-optimization.
    """

    name: ClassVar[str] = "fissile-hold-sizes"
    cures: ClassVar[tuple[str, ...]] = ("FIS104",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "keeps 64-bit quotients that the sizes of tensors depend on out of dispatches"
    repairs: ClassVar[str] = (
        "dispatches into which IREE moves 64-bit divisions of dynamic sizes, for SPIR-V targets without 64-bit types"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = (
        "IREE emulates other 64-bit arithmetic for such targets, and no division; it has no flag that keeps sizes out of dispatches."
    )
    done: ClassVar[str] = "computed the sizes on the host"
    advice: ClassVar[str] = "compute the sizes on the host"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for value in wide_scalars(op):
            uses = [(use.owner.operation, use.operand_number) for use in value.uses]
            with ir.InsertionPoint.after(value.owner), value.owner.location:
                held = ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value]).result
            for user, number in uses:
                user.operands[number] = held
