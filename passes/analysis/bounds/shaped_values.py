"""What types and attributes say of values: ranks, static sizes, the dimensions that a slice keeps, the range of an integer type."""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .size_terms import INDEX_MAX, INDEX_MIN

DYNAMIC = -(2**63)
"""MLIR's mark for a size that is not in the type or attribute (ShapedType::kDynamic)."""
DESTINATION_STYLE = ("linalg.", iree_ops.LINALG_EXT_OPS)
ELEMENTWISE = ("arith.", "math.")
"""Dialects whose ops on tensors work element by element: operands and results have one shape (MLIR's
ElementwiseMappable). `arith.select` has a rule of its own: its condition may be one scalar."""

SAME_ELEMENTS = (
    "tensor.cast",
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "tensor.reshape",
    "tensor.extract_slice",
    "linalg.transpose",
    "linalg.broadcast",
    iree_ops.FLOW_TENSOR_RESHAPE,
    iree_ops.FLOW_TENSOR_TRANSFER,
    iree_ops.FLOW_TENSOR_SLICE,
    iree_ops.FLOW_TENSOR_CLONE,
    "fissile.boundary",
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
)
"""Ops whose result has elements of their first operand and no others."""


def is_argument(value: ir.Value) -> bool:
    return isinstance(value.owner, ir.Block)


def i64s(op: ir.Operation, attribute: str) -> list[int]:
    return list(op.attributes[attribute])


def rank_of(value: ir.Value) -> int:
    return len(ir.ShapedType(value.type).shape) if ir.ShapedType(value.type).has_rank else 0


def is_shaped(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.RankedTensorType, ir.MemRefType))


def static_dimension(shape: ir.Type, index: int) -> int | None:
    """The size that the type says, None where it is dynamic."""
    shaped = ir.ShapedType(shape)
    return None if shaped.is_dynamic_dim(index) else shaped.get_dim_size(index)


def kept_dimensions(sizes: list[int], result: ir.Type) -> list[int] | None:
    """Which dimensions of a slice its (possibly rank-reduced) type keeps; None where that is
    ambiguous and matters."""
    shape = [static_dimension(result, i) for i in range(len(ir.ShapedType(result).shape))]
    kept: list[int] = []
    for position, size in enumerate(sizes):
        wanted = shape[len(kept)] if len(kept) < len(shape) else "none"
        matches = wanted == (None if size == DYNAMIC else size)
        # A size of 1 is dropped only if what follows could not be placed otherwise.
        if matches and not (
            size == 1
            and len(sizes) - position - 1 >= len(shape) - len(kept)
            and not _places(sizes[position + 1 :], shape[len(kept) + 1 :])
        ):
            kept.append(position)
        elif size != 1:
            return None
    return kept if len(kept) == len(shape) else None


def _places(sizes: list[int], shape: list[int | None]) -> bool:
    position = 0
    for size in sizes:
        if position < len(shape) and shape[position] == (None if size == DYNAMIC else size):
            position += 1
        elif size != 1:
            return False
    return position == len(shape)


def range_of_type(type_: ir.Type) -> tuple[int, int]:
    if isinstance(type_, ir.IntegerType) and type_.width < 64:
        return (0, 1) if type_.width == 1 else (-(1 << (type_.width - 1)), (1 << (type_.width - 1)) - 1)
    return INDEX_MIN, INDEX_MAX


def last_of(region: ir.Region) -> ir.Operation:
    """The op that ends the region's first block."""
    operations = region.blocks[0].operations
    return operations[len(operations) - 1].operation


def is_identity(map_: ir.AffineMap) -> bool:
    """Whether an affine map gives its dimensions in their order."""
    results = list(map_.results)
    return len(results) == map_.n_dims and all(
        isinstance(e, ir.AffineDimExpr) and ir.AffineDimExpr(e).position == i for i, e in enumerate(results)
    )
