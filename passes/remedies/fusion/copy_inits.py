"""Copies the tensor that an op begins its sums with, where the op reads it as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.dialect.operands import inits
from fissile.passes.analysis.dispatch.structure import structure_of
from fissile.passes.analysis.host.shared_destinations import root_of
from fissile.passes.definition import option, register_pass

from ..host.held_tensors import held_copy
from ..remedy import FITS, Exactness, Match, OpRemedy
from .lower_boundaries import dynamic_sizes

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class CopyInits(OpRemedy):
    """Has an op that reduces begin with a copy of a tensor that it reads as well (x + A x, added up in x).

    Both are one buffer to the dispatch, which may not be overwritten while it is read: IREE 3.13 computes the whole result on the stack or
    in workgroup memory, or leaves the copy to no thread. ``ops`` chooses source ops by index; without it, all such ops.
    """

    name: ClassVar[str] = "fissile-copy-inits"
    order: ClassVar[int] = 34
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS102", "FIS105", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "copies the tensor that sums begin with where the op reads it as well"
    repairs: ClassVar[str] = (
        "a matmul or another sum that is added to one of its own operands (`restricted to workgroup distributed contexts`, stack)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "IREE copies a tensor between dispatches only (MaterializeCopyOnWrite)."
    done: ClassVar[str] = "copied the tensor that {ops} both reads and adds to"
    advice: ClassVar[str] = "copy the tensor that {ops} both reads and adds to"
    refusal: ClassVar[str] = "{op} reads no tensor that it adds to: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "linalg", "tensor", "util")
    ops: tuple[int, ...] = option(
        (), "indices of the source ops; empty: all that read a tensor that they add to"
    )

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        structure = structure_of(op)
        if structure is None or structure.all_parallel:
            return Match("it does not reduce")
        return FITS if _read(op) else Match("it begins with another tensor")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for number in _read(op):
                value = op.operands[number]
                with ir.InsertionPoint(op), op.location:
                    op.operands[number] = held_copy(value, dynamic_sizes(value), by_dispatch=True)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the tensor is copied once in global memory"


def _read(op: ir.Operation) -> list[int]:
    """The numbers of the operands of ``op`` that it begins with, and reads as an input, too."""
    first = len(op.operands) - len(inits(op))
    read = {
        root_of(value) for value in list(op.operands)[:first] if isinstance(value.type, ir.RankedTensorType)
    }
    return [n for n in range(first, len(op.operands)) if root_of(op.operands[n]) in read]
