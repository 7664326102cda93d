"""Writes single elements into tensors of several dimensions through a view of one dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect.views import view_of
from fissile.finding import Finding
from fissile.passes.analysis.host.host_inserts import (
    FROM_ELEMENTS,
    INSERT,
    STORE,
    HostInsert,
    host_inserts,
)
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.remedies.remedy import ON_TENSORS, Exactness, Remedy

from ..narrow.packed_words import sizes_of


@register_pass
@dataclass(frozen=True)
class FlattenInserts(Remedy):
    """Gives each tensor.insert, IREE's store of an element on the host, and each tensor.from_elements, a tensor of one dimension, and
    reshapes the result.

    IREE 3.13 writes too many elements into a tensor of several dimensions (FIS141), and one element into a tensor of one.
    A reshape moves nothing. The same numbers bit-identical to what the program specifies. Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-flatten-inserts"
    cures: ClassVar[tuple[str, ...]] = ("FIS141",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        f"performs tensor.insert and {STORE} on the host, and tensor.from_elements, through a one-dimensional view"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: IREE writes columns + 1 elements of a matrix (FIS141)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote the element through a one-dimensional view, where IREE writes exactly one"
    advice: ClassVar[str] = "write the element through a one-dimensional view, where IREE writes exactly one"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "tensor")
    contract: ClassVar[Contract] = ON_TENSORS

    constants: bool = option(False, "only those that compute a constant, at phase input")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        flatten_inserts(host_inserts(op, self.constants))


def can_flatten(found: HostInsert) -> bool:
    if found.op.name != STORE:
        return found.op.name in (INSERT, FROM_ELEMENTS)
    store = view_of(found.op)  # a vector is stored too, which no tensor.insert takes
    return store.value.type == ir.RankedTensorType(store.target.type).element_type


def flatten_inserts(found: Iterable[HostInsert]) -> None:
    """Rewrites each for which `can_flatten` holds, in place."""
    for one in found:
        if not can_flatten(one):
            continue
        with ir.InsertionPoint(one.op), one.op.location:
            new = _written(view_of(one.op))
        one.op.results[0].replace_all_uses_with(new)
        one.op.erase()


def _written(op: ir.OpView) -> ir.Value:
    if op.operation.name == FROM_ELEMENTS:
        return _from_elements(op)
    if op.operation.name == INSERT:
        return _inserted(op.scalar, op.dest, list(op.indices))
    return _inserted(op.value, op.target, list(op.indices))


def _inserted(scalar: ir.Value, dest: ir.Value, indices: list[ir.Value]) -> ir.Value:
    sizes, at = sizes_of(dest), indices[0]
    for size, index in zip(sizes[1:], indices[1:], strict=True):
        columns = size if isinstance(size, ir.Value) else arith.constant(ir.IndexType.get(), size)
        at = arith.addi(arith.muli(at, columns), index)
    tensor_type = ir.RankedTensorType(dest.type)
    all_static = tensor_type.has_static_shape
    count = 1
    for size in sizes:
        count = count * size if all_static else ir.ShapedType.get_dynamic_size()
    flat = tensor.collapse_shape(
        ir.RankedTensorType.get([count], tensor_type.element_type), dest, [list(range(tensor_type.rank))]
    )
    return _shaped(tensor.insert(scalar, flat, [at]), tensor_type, sizes)


def _from_elements(op: tensor.FromElementsOp) -> ir.Value:
    tensor_type, elements = ir.RankedTensorType(op.result.type), list(op.elements)
    # One by one: IREE folds the reshape of a tensor.from_elements into it.
    flat = tensor.EmptyOp([len(elements)], tensor_type.element_type).result
    for number, element in enumerate(elements):
        flat = tensor.insert(element, flat, [arith.constant(ir.IndexType.get(), number)])
    return _shaped(flat, tensor_type, [tensor_type.get_dim_size(d) for d in range(tensor_type.rank)])


def _shaped(flat: ir.Value, tensor_type: ir.RankedTensorType, sizes: list) -> ir.Value:
    static = [ir.ShapedType.get_dynamic_size() if isinstance(size, ir.Value) else size for size in sizes]
    return tensor.expand_shape(
        tensor_type,
        flat,
        [list(range(tensor_type.rank))],
        [size for size in sizes if isinstance(size, ir.Value)],
        static,
    )
