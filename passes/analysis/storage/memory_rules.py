"""What ops on buffers must keep to: views and casts of memrefs, and tensors on explicit storage.
Sizes are in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from iree.compiler import ir

from fissile.dialect import ops as dialect_ops
from fissile.dialect.views import view_of

from ..bounds.conditions import all_of, any_of, at_most, equal, less
from ..bounds.extents import Extents
from ..bounds.shaped_values import i64s
from ..bounds.size_terms import Term, product, term
from .obligations import Requirement
from .sentences import elements


def view(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """A view lies inside its buffer of bytes."""
    have, shift = extents.dimension(op.operands[0], 0), extents.value(op.operands[1])
    shape = extents.shape(op.results[0])
    yield from _bytes(shape, op.results[0].type, shift, have, "the buffer")


def _bytes(
    shape: list[Term], type_: ir.Type, offset: Term, capacity: Term, what: str
) -> Iterator[Requirement]:
    width = bytes_of_element(ir.ShapedType(type_).element_type)
    if width is None:
        return
    need = product((*shape, term(width)))
    for size in shape:
        if (size.constant or 0) <= 0:
            yield Requirement(
                at_most(0, size), f"makes {elements(size)} in a dimension; a size is not negative"
            )
    yield Requirement(
        all_of((at_most(0, offset), at_most(offset + need, capacity))),
        f"takes {need} bytes from byte {offset} on; {what} has {capacity} bytes",
    )


def bytes_of_element(type_: ir.Type) -> int | None:
    """Bytes that one element takes in memory, whole bytes; None where the type has no fixed size."""
    if isinstance(type_, ir.IndexType):
        return 8
    if isinstance(type_, ir.ComplexType):
        inner = bytes_of_element(type_.element_type)
        return None if inner is None else 2 * inner
    width = getattr(type_, "width", None)
    return None if width is None else -(-width // 8)


def bytes_of_tensor(type_: ir.Type) -> int | None:
    """Bytes of a tensor or memref; None where a size or its element's is not known."""
    of_element = bytes_of_element(type_.element_type)
    return prod(type_.shape) * of_element if type_.has_static_shape and of_element else None


def reinterpret(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """The last element that a cast can reach lies inside its source."""
    source = op.operands[0]
    if str(ir.MemRefType(source.type).layout) != str(
        ir.MemRefType(source.type).affine_map
    ) and "strided" in str(source.type):
        return
    offset = extents.mixed(i64s(op, "static_offsets"), list(view_of(op).offsets))[0]
    sizes = extents.mixed(i64s(op, "static_sizes"), list(view_of(op).sizes))
    strides = extents.mixed(i64s(op, "static_strides"), list(view_of(op).strides))
    last = sum(((size - 1) * stride for size, stride in zip(sizes, strides, strict=False)), offset)
    capacity = product(extents.shape(source))
    inside = all_of((at_most(0, offset), less(last, capacity)))
    empty = [equal(size, 0) for size in sizes if size.constant is None]
    yield Requirement(
        all_of((*(at_most(0, s) for s in sizes), any_of((*empty, inside)))),
        f"reaches element {last}; its source has {elements(capacity)}",
    )


def copy(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """Source and target of a copy have one shape."""
    for i, (a, b) in enumerate(
        zip(extents.shape(op.operands[0]), extents.shape(op.operands[1]), strict=False)
    ):
        yield Requirement(equal(a, b), f"copies {elements(a)} in dimension {i} to {b}; they are equal")


def alloc_tensor(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """A tensor on a storage ends inside it."""
    storage = op.operands[0]
    maker = None if isinstance(storage.owner, ir.Block) else storage.owner.operation
    if maker is None or maker.name != dialect_ops.AllocStorageOp.OPERATION_NAME:
        return
    capacity = extents.value(maker.operands[0])
    yield from _bytes(
        extents.shape(op.results[0]),
        op.results[0].type,
        extents.value(op.operands[1]),
        capacity,
        "the storage",
    )


def alloc_storage(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
    """A storage has no negative size."""
    size = extents.value(op.operands[0])
    yield Requirement(at_most(0, size), f"makes a storage of {size} bytes; a size is not negative")
