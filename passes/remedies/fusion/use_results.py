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
    """Gives a result of an FFT stage or a sort that nothing uses `util.optimization_barrier` as its use.

    Both update their tensors in place. Of an op of which the program reads only one result, IREE 3.13 writes only that one to memory, and
    copies the other tensor to the stack or to workgroup memory: the whole row of real or imaginary parts, or of keys. From 8192 points
    on an FFT's does not fit. On SPIR-V the compiler crashes over the copy of 17 keys, or of another number that no vector divides
    (a permutation, which keeps the sorted values alone). With a use the tensor is updated in memory as the other. ``ops`` chooses source
    ops by index; without it, all that have a result that nothing uses. No number changes. Another chosen op is FIS114.
    """

    name: ClassVar[str] = "fissile-use-results"
    order: ClassVar[int] = 32
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS102", "FIS104", "FIS105", "FIS107", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "adds a `util.optimization_barrier` to the unused result of an FFT stage or a sort"
    repairs: ClassVar[str] = (
        "the last stage of a long FFT of which the program reads only the real or the imaginary part; a sort of which it reads "
        "only the values (SPIR-V, the compiler crashes)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "`iree_linalg_ext.fft` and `sort` have no form that returns only one tensor."
    done: ClassVar[str] = "kept all results of {ops} in global memory"
    advice: ClassVar[str] = "keep all results of {ops} in global memory"
    refusal: ClassVar[str] = "{op} has no result that must be kept: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all FFT stages and sorts with an unused result"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if op.name not in (FFT, iree_ops.LINALG_EXT_SORT):
            return Match("it is neither an FFT nor a sort")
        return FITS if _unused(op) else Match("all its results are used")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            with ir.InsertionPoint.after(op), op.location:
                for result in _unused(op):
                    ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [result.type], [result])

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the result that nothing reads is written to global memory"


def _unused(op: ir.Operation) -> list[ir.Value]:
    return [result for result in op.results if not any(True for _use in result.uses)]
