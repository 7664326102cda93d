"""How many bytes a piece of storage has: exact, or unknown with the op that decides it."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.analysis.storage.memory_rules import bytes_of_element
from fissile.quantity import Bytes


def bytes_of_type(type_: ir.Type) -> Bytes:
    """The bytes of a buffer of a shaped type with its elements one after the other."""
    shaped = ir.ShapedType(type_)
    width = bytes_of_element(shaped.element_type)
    if width is None or not shaped.has_rank or not shaped.has_static_shape:
        return Bytes.unknown(f"{type_} has sizes that the program computes")
    count = 1
    for dimension in range(shaped.rank):
        count *= shaped.get_dim_size(dimension)
    return Bytes.exact(count * width, str(type_))


def bytes_of_memref(op: ir.Operation) -> Bytes:
    """The bytes of a memref.alloc; sizes that are constants count as static ones."""
    memref_type = ir.MemRefType(op.results[0].type)
    width = bytes_of_element(memref_type.element_type)
    given = iter(view_of(op).dynamicSizes)
    count = width
    for dimension in range(memref_type.rank):
        size = (
            constant(next(given))
            if memref_type.is_dynamic_dim(dimension)
            else memref_type.get_dim_size(dimension)
        )
        if size is None or count is None:
            return Bytes.unknown(f"{memref_type} has sizes that the program computes")
        count *= size
    return Bytes.unknown(str(memref_type)) if count is None else Bytes.exact(count, str(memref_type))


def bytes_of_value(size: ir.Value, what: str) -> Bytes:
    """``size``, an index that says a number of bytes."""
    found = constant(size)
    return (
        Bytes.unknown(f"{what} has a size that the program computes")
        if found is None
        else Bytes.exact(found, what)
    )


def constant(value: ir.Value) -> int | None:
    """The integer that ``value`` always is, where it is a constant."""
    if is_argument(value) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    if isinstance(attribute, ir.BoolAttr):
        return int(attribute.value)
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None
