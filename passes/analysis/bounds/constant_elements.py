"""The numbers in a constant tensor, as a NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.dialect.element_bytes import bytes_of, stands_in_resource
from fissile.passes.iree import ops as iree_ops

if TYPE_CHECKING:
    import numpy as np

CONSTANTS = (
    "arith.constant",
    iree_ops.FLOW_TENSOR_CONSTANT,
    iree_ops.UTIL_UNFOLDABLE_CONSTANT,
    iree_ops.FLOW_TENSOR_DYNAMIC_CONSTANT,
)
"""The others hide their value or shape from folding, not from their reader."""
LARGEST_READ = 1 << 22
"""Elements of a constant that are looked at; a splat has no limit."""
LARGEST_RESOURCE = 1 << 20
"""Bytes of one in a resource of the module, which are copied to be read."""


def array_of(op: ir.Operation) -> np.ndarray | None:
    """The elements of a constant tensor (`arith.constant`, `util.unfoldable_constant`) of integers or floats, a splat as one element with the rank of its type;
    None where it is another op, too large, or of a type that NumPy does not have."""
    if op.name not in CONSTANTS or not isinstance(op.results[0].type, ir.RankedTensorType):
        return None
    import numpy as np

    rank = len(op.results[0].type.shape)
    try:
        held = attribute(op, "value")
        if held is not None and stands_in_resource(held):
            return _resource(op, held.type)
        if not isinstance(held, ir.DenseElementsAttr):
            return None
        if held.is_splat:
            as_dense = (
                ir.IntegerAttr
                if isinstance(op.results[0].type.element_type, (ir.IntegerType, ir.IndexType))
                else ir.FloatAttr
            )
            return np.array(_signed(as_dense(held.get_splat_value()))).reshape([1] * rank)
        if len(held) > LARGEST_READ:
            return None
        found = np.array(held)
        return found if found.dtype.kind in "iufb" else None
    except (TypeError, ValueError, RuntimeError, AttributeError):
        return None


def _resource(op: ir.Operation, type_: ir.ShapedType) -> np.ndarray | None:
    """The same of a constant whose elements stand in a resource of the module."""
    import numpy as np

    element, count = type_.element_type, 1
    for size in type_.shape:
        count *= size
    width = getattr(element, "width", 64 if isinstance(element, ir.IndexType) else 0)
    kind = "f" if isinstance(element, (ir.F16Type, ir.F32Type, ir.F64Type)) else "i"
    if (
        width not in (1, 8, 16, 32, 64)
        or isinstance(element, ir.FloatType)
        and kind == "i"
        or count * width > 8 * LARGEST_RESOURCE
    ):
        return None
    dtype = np.dtype(np.bool_) if width == 1 else np.dtype(f"<{kind}{width // 8}")
    data = bytes_of(op)
    return np.frombuffer(data, dtype).reshape(type_.shape) if len(data) == count * dtype.itemsize else None


def _signed(attribute: ir.Attribute) -> int | float:
    if not isinstance(attribute, ir.IntegerAttr):
        return float(attribute)
    return abs(int(attribute)) if getattr(attribute.type, "width", 64) == 1 else int(attribute)
