"""The numbers in a constant tensor, as a NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.dialect.attributes import attribute, text_of
from fissile.dialect.element_bytes import resource_bytes, stands_in_resource
from fissile.passes.iree import ops as iree_ops

if TYPE_CHECKING:
    import numpy as np

CONSTANTS = (
    "arith.constant",
    iree_ops.FLOW_TENSOR_CONSTANT,
    iree_ops.UTIL_UNFOLDABLE_CONSTANT,
    iree_ops.FLOW_TENSOR_DYNAMIC_CONSTANT,
    iree_ops.UTIL_GLOBAL_LOAD,
)
"""The others hide their value or shape from folding, not from their reader; a load may be of a global that never changes."""
LARGEST_READ = 1 << 22
"""Elements of a constant that are looked at; a splat has no limit."""
LARGEST_RESOURCE = 1 << 20
"""Bytes of one in a resource of the module, which are copied to be read."""


def array_of(op: ir.Operation) -> np.ndarray | None:
    """The elements of a constant tensor (`arith.constant`, a load of an immutable `util.global`) of integers or floats, a splat as one element
    with the rank of its type; None where it is another op, too large, or of a type that NumPy does not have."""
    if op.name not in CONSTANTS or not isinstance(op.results[0].type, ir.RankedTensorType):
        return None
    held = _initial_value(op) if op.name == iree_ops.UTIL_GLOBAL_LOAD else attribute(op, "value")
    return None if held is None else elements_of(held)


def elements_of(held: ir.Attribute) -> np.ndarray | None:
    """The same of the attribute that holds them: `dense<…>` or a resource of the module."""
    import numpy as np

    try:
        if stands_in_resource(held):
            return _resource(held, held.type)
        if not isinstance(held, ir.DenseElementsAttr):
            return None
        if held.is_splat:
            element = held.type.element_type
            integers = isinstance(element, (ir.IntegerType, ir.IndexType))
            number = (ir.IntegerAttr if integers else ir.FloatAttr)(held.get_splat_value())
            return np.array(_signed(number)).reshape([1] * len(held.type.shape))
        if len(held) > LARGEST_READ:
            return None
        found = np.array(held)
        return found if found.dtype.kind in "iufb" else None
    except (TypeError, ValueError, RuntimeError, AttributeError):
        return None


def _initial_value(load: ir.Operation) -> ir.Attribute | None:
    """What the global has that ``load`` reads, where nothing can change it."""
    module = load
    while module.parent is not None and module.name != "builtin.module":
        module = module.parent.operation
    name, found = text_of(load, "global"), None
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == iree_ops.UTIL_INITIALIZER and ops_of(
            op.operation, iree_ops.UTIL_GLOBAL_STORE
        ):
            return None  # it may store to one that is not mutable
        if op.operation.name == iree_ops.UTIL_GLOBAL and text_of(op.operation, "sym_name") == name:
            if "is_mutable" in op.operation.attributes:
                return None
            found = attribute(op.operation, "initial_value")
    return found


def _resource(held: ir.Attribute, type_: ir.ShapedType) -> np.ndarray | None:
    """The same of a constant whose elements stand in a resource of the module."""
    import numpy as np

    element, count = type_.element_type, 1
    for size in type_.shape:
        count *= size
    width = getattr(element, "width", 64 if isinstance(element, ir.IndexType) else 0)
    kind = "f" if isinstance(element, (ir.F16Type, ir.F32Type, ir.F64Type)) else "i"
    if isinstance(element, ir.IntegerType) and element.is_unsigned:
        kind = "u"
    if (
        width not in (1, 8, 16, 32, 64)
        or isinstance(element, ir.FloatType)
        and kind != "f"
        or count * width > 8 * LARGEST_RESOURCE
    ):
        return None
    dtype = np.dtype(np.bool_) if width == 1 else np.dtype(f"<{kind}{width // 8}")
    data = resource_bytes(held)
    return np.frombuffer(data, dtype).reshape(type_.shape) if len(data) == count * dtype.itemsize else None


def _signed(attribute: ir.Attribute) -> int | float:
    if not isinstance(attribute, ir.IntegerAttr):
        return float(attribute)
    return abs(int(attribute)) if getattr(attribute.type, "width", 64) == 1 else int(attribute)
