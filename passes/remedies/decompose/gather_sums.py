"""Indices that MLIR's vectoriser takes for consecutive ones, as indices that it gathers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.scalars.summed_indices import summed_indices
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class GatherSums(OpRemedy):
    """Writes the last index of a `tensor.extract` as a difference, ``a - (0 - b)`` for ``a + b``, where a loop's index is one term, and
    another one depends on the loop as well.

    MLIR's vectoriser takes the sum for consecutive elements (FIS191), and gathers those of a difference. ``ops`` chooses source ops by
    index; without it, every op with such a sum. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-gather-sums"
    order: ClassVar[int] = 45
    cures: ClassVar[tuple[str, ...]] = ("FIS191",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes the index of a gather as a difference where a loop's index is a term of its sum"
    )
    repairs: ClassVar[str] = (
        "gathers that are read as consecutive elements on llvm-cpu, AMD and NVIDIA GPUs (FIS191)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = (
        "IREE has no option for it: all gathers go through the vectoriser's classification."
    )
    done: ClassVar[str] = "wrote the index of gathers as a difference in {ops}"
    advice: ClassVar[str] = "write the index of gathers as a difference in {ops}"
    refusal: ClassVar[str] = "{op} has no gather to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a gather")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if summed_indices(op) else Match("its body reads nothing at such a sum")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for extract in dict.fromkeys(extract for extract, _loop in summed_indices(op)):
                at = len(extract.operands) - 1
                left, right = extract.operands[at].owner.operation.operands
                with ir.InsertionPoint(extract), extract.location:
                    negative = arith.subi(arith.constant(right.type, 0), right)
                    extract.operands[at] = arith.subi(left, negative)
