"""`tensor.gather` and `tensor.scatter` of known sizes, as ops that IREE lowers."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operands_named
from fissile.passes.iree.ops import LINALG_EXT_SCATTER, LINALG_EXT_YIELD
from fissile.passes.remedies.generic_ops import build_generic

GATHER, SCATTER = "tensor.gather", "tensor.scatter"


def can_lower(op: ir.Operation) -> bool:
    """Whether all sizes are known, and the coordinates are integers: tensors of index enter no dispatch. A scatter has to name leading dimensions."""
    types = [ir.RankedTensorType(value.type) for value in (*op.operands, *op.results)]
    indices = ir.RankedTensorType(_indices(op).type)
    if not all(type_.has_static_shape for type_ in types) or not isinstance(
        indices.element_type, ir.IntegerType
    ):
        return False
    return op.name == GATHER or _dims(op) == list(range(len(_dims(op))))


def gathered(op: ir.Operation) -> ir.Value:
    """Every element of the result reads its own."""
    [source] = operands_named(op, "source")
    indices, dims, type_ = _indices(op), _dims(op), ir.RankedTensorType(op.results[0].type)
    rank, batch = ir.RankedTensorType(source.type).rank, ir.RankedTensorType(indices.type).rank - 1
    kept = _slice_dims(type_.rank - batch, rank, dims)
    made, block = build_generic(
        [],
        [tensor.EmptyOp(list(type_.shape), type_.element_type).result],
        [ir.AffineMap.get_identity(type_.rank)],
        [True] * type_.rank,
    )
    with ir.InsertionPoint(block):
        place = [linalg.IndexOp(dim).result for dim in range(type_.rank)]
        read = {dim: place[batch + at] for at, dim in enumerate(kept)}
        for at, dim in enumerate(dims):
            coordinate = tensor.ExtractOp(indices, [*place[:batch], _index(at)]).result
            read[dim] = arith.index_cast(ir.IndexType.get(), coordinate)
        linalg.YieldOp([tensor.ExtractOp(source, [read[dim] for dim in range(rank)]).result])
    return made.results[0]


def scattered(op: ir.Operation) -> ir.Value:
    """Slices without the dimensions of one element, at places that the program says to differ."""
    (source,), (dest,) = operands_named(op, "source"), operands_named(op, "dest")
    indices, dims, type_ = _indices(op), _dims(op), ir.RankedTensorType(dest.type)
    batch = ir.RankedTensorType(indices.type).rank - 1
    slice_ = [size for dim, size in enumerate(type_.shape) if dim not in dims]
    shape = [*ir.RankedTensorType(source.type).shape[:batch], *slice_]
    updates = _without_ones(source, shape)
    made = ir.Operation.create(
        LINALG_EXT_SCATTER,
        [type_],
        [updates, indices, dest],
        {
            "dimension_map": ir.DenseI64ArrayAttr.get(dims),
            "unique_indices": ir.BoolAttr.get(True),
        },
        regions=1,
    )
    block = made.regions[0].blocks.append(type_.element_type, type_.element_type)
    with ir.InsertionPoint(block):
        ir.Operation.create(LINALG_EXT_YIELD, operands=[block.arguments[0]])
    return made.results[0]


def _indices(op: ir.Operation) -> ir.Value:
    [indices] = operands_named(op, "indices")
    return indices


def _dims(op: ir.Operation) -> list[int]:
    name = "gather_dims" if op.name == GATHER else "scatter_dims"
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _slice_dims(count: int, rank: int, dims: Sequence[int]) -> list[int]:
    """The dimensions of the source that the last ``count`` of the result are: all, or those that no coordinate names."""
    return list(range(rank)) if count == rank else [dim for dim in range(rank) if dim not in dims]


def _without_ones(value: ir.Value, shape: list[int]) -> ir.Value:
    type_ = ir.RankedTensorType(value.type)
    if list(type_.shape) == shape:
        return value
    made = ir.RankedTensorType.get(shape, type_.element_type)
    rank = type_.rank
    return tensor.ExtractSliceOp(made, value, [], [], [], [0] * rank, list(type_.shape), [1] * rank).result


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)
