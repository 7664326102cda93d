"""Slices off the borders of operands that a window at a single position does not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import tensor

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.unread_borders import UnreadBorder, unread_borders
from fissile.passes.definition import Contract, register_pass
from fissile.passes.remedies.remedy import ON_TENSORS, Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class TrimBorders(Remedy):
    """Gives an op that reads a part of an operand only that part.

    A strided convolution or pooling whose result is one pixel wide may not reach its input's last rows (3x3, stride 2, on
    4x4). IREE 3.13 refuses such an op in global optimisation, so run this before it. Only what it would refuse is touched.
    The same numbers in every bit: what is sliced off was not read.
    """

    name: ClassVar[str] = "fissile-trim-borders"
    cures: ClassVar[tuple[str, ...]] = ("FIS119",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "slices off rows and columns of an operand that no window reads (before global optimisation)"
    )
    repairs: ClassVar[str] = (
        "strided convolutions and poolings with a result one pixel wide, which IREE rejects (FIS119)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "sliced off the unread border before global optimisation"
    advice: ClassVar[str] = "slice off the unread border before global optimisation"
    dialects: ClassVar[tuple[str, ...]] = ("tensor",)
    contract: ClassVar[Contract] = ON_TENSORS

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        trim_borders(unread_borders(op))


def trim_borders(borders: Iterable[UnreadBorder]) -> int:
    """Trims each in place; returns their number."""
    count = 0
    for border in borders:
        op, rank = border.op, len(border.read)
        whole = ir.RankedTensorType(op.operands[border.operand].type)
        with ir.InsertionPoint(op), op.location:
            part = tensor.ExtractSliceOp(
                ir.RankedTensorType.get(border.read, whole.element_type, whole.encoding),
                op.operands[border.operand],
                [],
                [],
                [],
                [0] * rank,
                list(border.read),
                [1] * rank,
            )
        op.operands[border.operand] = part.result
        count += 1
    return count
