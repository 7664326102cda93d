"""Batches of matrices [..., rows, columns], element by element, as linalg ops on MLIR's own tensors.

Sizes may be dynamic. Values are built at the current insertion point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from iree.compiler import ir
from iree.compiler.dialects import arith, linalg, scf, tensor

Size: TypeAlias = int | ir.Value
Indices: TypeAlias = list[ir.Value]
Body: TypeAlias = Callable[[Indices], ir.Value]

_PARALLEL, _REDUCTION = "#linalg.iterator_type<parallel>", "#linalg.iterator_type<reduction>"


def sizes_of(value: ir.Value) -> list[Size]:
    """The sizes of a tensor: a number, or what a tensor.dim gives."""
    type_ = ir.RankedTensorType(value.type)
    return [
        tensor.DimOp(value, index(dim)).result if type_.is_dynamic_dim(dim) else type_.get_dim_size(dim)
        for dim in range(type_.rank)
    ]


def broadcast_sizes(one: ir.Value, other: ir.Value) -> list[Size]:
    """The sizes of both batches together: those of the longer one, and where that has a 1, the other one's."""
    short, long = sorted((sizes_of(one)[:-2], sizes_of(other)[:-2]), key=len)
    offset = len(long) - len(short)
    return [short[dim - offset] if size == 1 and dim >= offset else size for dim, size in enumerate(long)]


def element_of(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType(value.type).element_type


def index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def index_of(size: Size) -> ir.Value:
    return index(size) if isinstance(size, int) else size


def number(element: ir.Type, value: float) -> ir.Value:
    floats = isinstance(element, ir.FloatType)
    return arith.constant(element, float(value) if floats else int(value))


def computed(sizes: Sequence[Size], element: ir.Type, body: Body) -> ir.Value:
    """A tensor of ``sizes``, each element of which is what ``body`` makes of its indices."""
    out = tensor.EmptyOp(list(sizes), element).result
    return _generic(out, [ir.AffineMap.get_identity(len(sizes))], len(sizes), 0, lambda at, _old: body(at))


def folded(
    sizes: Sequence[Size], length: Size, start: ir.Value, body: Callable[[Indices, ir.Value], ir.Value]
) -> ir.Value:
    """A tensor of ``sizes``: what ``body`` makes of the indices, the last one below ``length``, and what it made before, ``start`` at first."""
    filled = linalg.fill(start, outs=[tensor.EmptyOp(list(sizes), start.type).result])
    rank = len(sizes)
    shape = tensor.EmptyOp([*sizes, length], start.type).result  # of the loops alone
    kept = ir.AffineMap.get(rank + 1, 0, [ir.AffineExpr.get_dim(dim) for dim in range(rank)])
    return _generic(filled, [ir.AffineMap.get_identity(rank + 1), kept], rank, 1, body, [shape])


def _generic(
    out: ir.Value,
    maps: Sequence[ir.AffineMap],
    parallel: int,
    reductions: int,
    body: Callable[[Indices, ir.Value], ir.Value],
    inputs: Sequence[ir.Value] = (),
) -> ir.Value:
    kinds = [_PARALLEL] * parallel + [_REDUCTION] * reductions
    made = linalg.GenericOp(
        [out.type],
        list(inputs),
        [out],
        ir.ArrayAttr.get([ir.AffineMapAttr.get(one) for one in maps]),
        ir.ArrayAttr.get([ir.Attribute.parse(kind) for kind in kinds]),
    )
    elements = [element_of(value) for value in (*inputs, out)]
    block = made.regions[0].blocks.append(*elements)
    with ir.InsertionPoint(block):
        indices = [linalg.IndexOp(dim).result for dim in range(len(kinds))]
        linalg.YieldOp([body(indices, block.arguments[len(inputs)])])
    return made.results[0]


def element_at(value: ir.Value, batch: Indices, *place: ir.Value) -> ir.Value:
    """The element of ``value`` at ``place`` in the matrix of ``batch``, whose first indices, and those of size 1, it may lack."""
    type_ = ir.RankedTensorType(value.type)
    own = type_.rank - len(place)
    indices = list(batch[len(batch) - own :])
    for dim in range(own):
        if not type_.is_dynamic_dim(dim) and type_.get_dim_size(dim) == 1:
            indices[dim] = index(0)
    return tensor.ExtractOp(value, [*indices, *place]).result


def index_at(value: ir.Value, batch: Indices, *place: ir.Value) -> ir.Value:
    """The same of a tensor of integers, as an index."""
    return arith.index_cast(ir.IndexType.get(), element_at(value, batch, *place))


def inside(place: ir.Value, size: Size) -> ir.Value:
    """``place``, an index that is below ``size`` as it was computed, in a form that shows it: the storage guard has nothing to check."""
    if isinstance(size, int):
        last = index(max(size - 1, 0))
    else:
        last = arith.maxsi(arith.subi(size, index(1)), index(0))
    return arith.minsi(arith.maxsi(place, index(0)), last)


def repeated(
    count: Size,
    carried: Sequence[ir.Value],
    body: Callable[[ir.Value, Sequence[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """What ``body`` makes of the number of the step and of what the step before made, ``count`` times."""
    loop = scf.ForOp(index(0), index_of(count), index(1), list(carried))
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(body(loop.induction_variable, list(loop.inner_iter_args)))
    return list(loop.results)


def is_same(one: ir.Value, other: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, one, other)


def is_above(one: ir.Value, other: ir.Value) -> ir.Value:
    """Whether an index is larger than the other one."""
    return arith.cmpi(arith.CmpIPredicate.ugt, one, other)


def is_zero(value: ir.Value) -> ir.Value:
    return arith.cmpf(arith.CmpFPredicate.OEQ, value, number(value.type, 0))
