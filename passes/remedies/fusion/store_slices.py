"""Copies the parts of tensors that an op reads to memory before it, and puts its results into larger tensors behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.dialect.operands import inits
from fissile.dialect.views import view_of
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops

from ..remedy import FITS, PLACES_BOUNDARIES, Exactness, Match, OpRemedy
from .place_boundaries import BOUNDARY

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

READ = ("tensor.extract_slice", "tensor.pad")
WRITTEN = ("tensor.insert_slice", "tensor.pad")
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast")


@register_pass
@dataclass(frozen=True)
class StoreSlices(OpRemedy):
    """Puts a `fissile.boundary` on each tensor.extract_slice and tensor.pad that a chosen op reads, itself or in its body, and on a
    result that tensor.insert_slice or tensor.pad takes.

    IREE reads and writes a slice where the whole tensor lies. For an op that updates a tensor in place (scatter, sort) it copies the slice
    inside the op's dispatch: on llvm-cpu IREE 3.13 then rejects the copy or puts the tensor on the stack. A body that reads single elements
    of a slice with steps in the dimension that moves slowest is not lowered. ``ops`` chooses source ops by index.
    """

    name: ClassVar[str] = "fissile-store-slices"
    order: ClassVar[int] = 15
    cures: ClassVar[tuple[str, ...]] = ("FIS101", "FIS102", "FIS104", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "copies the slices that chosen ops read to memory first, and stores results before they are written into slices"
    )
    repairs: ClassVar[str] = (
        "a scatter or sort of a slice (`restricted to workgroup distributed contexts`, stack), and single elements read from a slice "
        "with steps (llvm-cpu)"
    )
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = "No flag of dispatch creation stores a slice."
    done: ClassVar[str] = "copied the slices around {ops} in separate dispatches"
    advice: ClassVar[str] = "copy the slices around {ops} in separate dispatches"
    refusal: ClassVar[str] = "{op} has no slices to store: {why}"
    contract: ClassVar[Contract] = PLACES_BOUNDARIES
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all that read slices")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return (
            FITS
            if any(True for _value in _borders(op))
            else Match("it reads and writes no slice of a tensor")
        )

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for value in dict.fromkeys(value for op in ops for value in _borders(op)):
            maker = value.owner.operation
            with ir.InsertionPoint.after(maker), maker.location:
                boundary = ir.Operation.create(BOUNDARY, results=[value.type], operands=[value])
            value.replace_all_uses_except(boundary.results[0], boundary)

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return "the slices are written once more to global memory"


def _borders(op: ir.Operation) -> Iterator[ir.Value]:
    """The slices that ``op`` reads, behind reshapes and in its body, and its results that are written into slices."""
    updated = inits(op) if op.name.startswith(iree_ops.LINALG_EXT_OPS) else []
    for value in _read(op):
        while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _RESHAPES:
            value = value.owner.operation.operands[0]
        maker = "" if isinstance(value.owner, ir.Block) else value.owner.operation.name
        # IREE may fold what computes a destination to a slice, a maximum with the smallest number for example.
        if maker in READ or (maker == "linalg.generic" and value in updated):
            yield value
    for result in op.results:
        if isinstance(result.type, ir.RankedTensorType) and _is_put_into_another(result):
            yield result


def _is_put_into_another(value: ir.Value) -> bool:
    users = [use.owner.operation for use in value.uses]
    return any(
        (user.name in WRITTEN and view_of(user).source == value)
        or (user.name in (*_RESHAPES, READ[0]) and _is_put_into_another(user.results[0]))
        for user in users
    )


def _read(op: ir.Operation) -> Iterator[ir.Value]:
    yield from op.operands
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _read(inner.operation)
