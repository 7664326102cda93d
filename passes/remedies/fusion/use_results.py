"""Keeps the results of an op that updates its tensors in place, where nothing uses one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.definition import option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.lowerings import FFT

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class UseResults(OpRemedy):
    """Gives a result of an FFT stage that nothing uses `util.optimization_barrier` as its use.

    A stage updates a row of real and a row of imaginary parts in place. Of the last stage of a program that reads only one of them, IREE
    3.13 writes only that one to memory, and copies the other to the stack or to workgroup memory: the whole row, since the last stage is
    one tile. From 8192 points on it does not fit. With a use it is updated in memory as the other. ``ops`` chooses source ops by index;
    without it, every stage with a result that nothing uses. No number changes. Another chosen op is FIS114.
    """

    name: ClassVar[str] = "fissile-use-results"
    order: ClassVar[int] = 32
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS102")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "adds a `util.optimization_barrier` to the unused result of an FFT stage"
    repairs: ClassVar[str] = (
        "the last stage of a long FFT of which the program reads only the real or the imaginary part"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "`iree_linalg_ext.fft` has no form that returns only one part."
    done: ClassVar[str] = "kept both parts of {ops} in global memory"
    advice: ClassVar[str] = "keep both parts of {ops} in global memory"
    refusal: ClassVar[str] = "{op} has no result that must be kept: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all FFT stages with an unused result"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if op.name != FFT:
            return Match("it is no FFT")
        return FITS if _unused(op) else Match("all its results are used")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            with ir.InsertionPoint.after(op), op.location:
                for result in _unused(op):
                    ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [result.type], [result])

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the part that nothing reads is written to global memory"


def _unused(op: ir.Operation) -> list[ir.Value]:
    return [result for result in op.results if not any(True for _use in result.uses)]
