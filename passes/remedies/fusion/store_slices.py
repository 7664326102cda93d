"""Copies the parts of tensors that an op reads to memory before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.passes.definition import Contract, option, register_pass

from ..remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy
from .place_boundaries import BOUNDARY

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

SLICE = "tensor.extract_slice"
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast")


@register_pass
@dataclass(frozen=True)
class StoreSlices(OpRemedy):
    """Puts a `fissile.boundary` on each tensor.extract_slice that a chosen op reads, itself or in its body.

    IREE reads a slice where the whole tensor lies. For an op that updates a tensor in place (scatter, sort) it copies the slice inside
    the op's dispatch: on llvm-cpu IREE 3.13 then rejects the copy or puts the tensor on the stack. A body that reads single elements of a
    slice with steps in the dimension that moves slowest is not lowered. ``ops`` chooses source ops by index.
    """

    name: ClassVar[str] = "fissile-store-slices"
    order: ClassVar[int] = 15
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS102", "FIS104", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "copies the slices that chosen ops read to memory first"
    repairs: ClassVar[str] = (
        "a scatter or sort of a slice (`restricted to workgroup distributed contexts`, stack), and single elements read from a slice "
        "with steps (llvm-cpu)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "No flag of dispatch creation stores a slice."
    done: ClassVar[str] = "copied the slices read by {ops} to memory first"
    advice: ClassVar[str] = "copy the slices read by {ops} to memory first"
    refusal: ClassVar[str] = "{op} takes no stored slices: {why}"
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all that read slices")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if any(True for _slice in _slices(op)) else Match("it reads no slice of a tensor")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for part in {hash(part): part for op in ops for part in _slices(op)}.values():
            (result,) = part.results
            with ir.InsertionPoint.after(part), part.location:
                boundary = ir.Operation.create(BOUNDARY, results=[result.type], operands=[result])
            result.replace_all_uses_except(boundary.results[0], boundary)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the slices are written once to global memory"


def _slices(op: ir.Operation) -> Iterator[ir.Operation]:
    """The slices that ``op`` reads, behind reshapes and in its body."""
    for value in _read(op):
        while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _RESHAPES:
            value = value.owner.operation.operands[0]
        if not isinstance(value.owner, ir.Block) and value.owner.operation.name == SLICE:
            yield value.owner.operation


def _read(op: ir.Operation) -> Iterator[ir.Value]:
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _read(inner.operation)
