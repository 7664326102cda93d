"""The `stablehlo.select_and_scatter` ops of which IREE takes another one of equal elements than the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import COMPARE, NOT, SELECT_AND_SCATTER, shape_of


@dataclass(frozen=True)
class Windows:
    """The windows of a `stablehlo.select_and_scatter`, by dimension; ``low`` and ``high`` are the borders around its operand."""

    sizes: Sequence[int]
    strides: Sequence[int]
    low: Sequence[int]
    high: Sequence[int]

    @property
    def are_padded(self) -> bool:
        return any((*self.low, *self.high))

    @property
    def are_lowered(self) -> bool:
        """Whether IREE 3.13 lowers the op: only of windows of several elements, where no two have one in common and none has one
        outside."""
        overlap = any(size > stride for size, stride in zip(self.sizes, self.strides, strict=True))
        return max(self.sizes, default=1) > 1 and not overlap and not self.are_padded


def windows_of(op: ir.Operation) -> Windows:
    rank = len(shape_of(op.operands[0]))
    borders = [0] * (2 * rank)
    if "padding" in op.attributes:
        found = ir.DenseIntElementsAttr(op.attributes["padding"])
        borders = [int(found[n]) for n in range(2 * rank)]
    sizes, strides = (_numbers(op, f"window_{name}", rank) for name in ("dimensions", "strides"))
    return Windows(sizes, strides, borders[0::2], borders[1::2])


def _numbers(op: ir.Operation, name: str, rank: int) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [1] * rank


def tied_selections(module: ir.Operation) -> list[ir.Operation]:
    """Those in ``module`` (phase start), in program order.

    The selection gets the element that is selected so far and the next one, and says whether the first stays. IREE 3.13 gives it the
    two the other way round, and takes the next one where it says yes: of equal elements the last instead of the first, if the
    selection is a comparison with GE. A selection that is the negated comparison of the second value with the first is written for
    IREE, and no such op.
    """
    found = (op for op in ops_of(module, SELECT_AND_SCATTER) if windows_of(op).are_lowered)
    return [op for op in found if not is_exchanged(op.regions[0].blocks[0])]


def is_exchanged(selection: ir.Block) -> bool:
    """Whether ``selection`` is as `fissile-swap-selections` leaves a comparison."""
    rows = [row.operation for row in selection.operations]
    if [row.name for row in rows[:-1]] != [COMPARE, NOT]:
        return False
    return list(rows[0].operands) == list(reversed(list(selection.arguments)))
