"""Clamps indices that a dispatch loads, so that it stays in bounds whatever they are.

The check of such indices is itself a dispatch, and nothing orders the two. With the clamp a call with a
wrong index computes wrong numbers inside its storage until the check ends it. A right index is not
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from iree.compiler import ir
from iree.compiler.dialects import arith, tensor

from fissile.dialect import is_defined_inside
from fissile.dialect import linalg_ops as linalg
from fissile.dialect.operands import operand, operands_named, positions_named
from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.shaped_values import rank_of
from fissile.passes.analysis.bounds.size_terms import Term
from fissile.passes.analysis.program.check_order import is_loaded
from fissile.passes.iree import ops as iree_ops

from ..generic_ops import build_generic
from .term_ops import TermWriter

_EQ, _NE = 0, 1
INDEXED = {
    iree_ops.LINALG_EXT_GATHER: ("source", "dimension_map"),
    iree_ops.LINALG_EXT_SCATTER: ("original", "dimension_map"),
    "tensor.gather": ("source", "gather_dims"),
    "tensor.scatter": ("dest", "scatter_dims"),
}
"""Ops without a body that access a tensor at the elements of their operand `indices`: which operand that is, and the
attribute that lists its dimensions."""


def clamp_loaded_indices(
    extents: Extents,
    functions: Iterable[ir.Operation],
    checked: Set[tuple[ir.Operation, ir.Value]] = frozenset(),
) -> int:
    """Clamps every index in ``functions`` that a dispatch loads. Returns how many. All of them, and not only those that
    are checked: that one is in bounds may be known from the check of another. ``checked`` are reads and their indices that
    are clamped though the dispatch computes them from no element."""
    reads: list[tuple[ir.Operation, ir.Operation]] = []
    indexed: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in INDEXED:
            indexed.append(op)
        elif op.name.startswith("linalg.") and op.regions:
            op.walk(lambda inner: _note_read(reads, op, inner))
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    for function in functions:
        function.walk(visit, ir.WalkOrder.PRE_ORDER)
    clamped = sum(_clamp_read(extents, op, read, checked) for op, read in reads)
    return clamped + sum(clamp_indices(extents, op) for op in indexed)


def _note_read(reads: list, op: ir.Operation, inner: ir.Operation) -> ir.WalkResult:
    if inner.name == "tensor.extract" and isinstance(view_of(inner).tensor.type, ir.RankedTensorType):
        reads.append((op, inner))
    return ir.WalkResult.ADVANCE


def _clamp_read(
    extents: Extents, op: ir.Operation, read: ir.Operation, checked: Set[tuple[ir.Operation, ir.Value]]
) -> int:
    """A `tensor.extract` in the body of ``op``."""
    done = 0
    with op.context, read.location:
        inner = ir.InsertionPoint(read)
        for position, index in enumerate(list(view_of(read).indices)):
            wanted = is_loaded(index) or (read, index) in checked
            if not wanted or is_defined_inside(view_of(read).tensor, op):
                continue
            last = last_index(
                extents, extents.dimension(view_of(read).tensor, position), ir.InsertionPoint(op)
            )
            read.operands[1 + position] = arith.minui(index, last, ip=inner)
            done += 1
    return done


def clamp_indices(extents: Extents, op: ir.Operation) -> int:
    """The index tensor of an op without a body."""
    whole, dimensions = INDEXED[op.name]
    (indices,) = operands_named(op, "indices")
    if not isinstance(indices.type, ir.RankedTensorType):
        return 0
    with op.context, op.location:
        at = ir.InsertionPoint(op)
        dims = [int(d) for d in op.attributes[dimensions]]
        lasts = [
            last_index(extents, extents.dimension(operand(op, whole), d), at, indices.type) for d in dims
        ]
        clamped = _clamped(indices, lasts, at)
    op.operands[positions_named(op, "indices")[0]] = clamped
    return 1


def clear_mask(extents: Extents, op: ir.Operation, size: Term) -> None:
    """Lets no update of the scatter ``op`` through where ``size``, a dimension of its destination, is 0."""
    if size.constant is not None:
        return
    mask = operand(op, "mask")
    with op.context, op.location:
        at = ir.InsertionPoint(op)
        zero = arith.constant(ir.IndexType.get(), 0, ip=at)
        some = arith.cmpi(_NE, TermWriter(extents, at).index(size), zero, ip=at)
        cleared = _elementwise(mask, at, lambda bit, inner: _where(some, bit, inner))
    op.operands[positions_named(op, "mask")[0]] = cleared


def _where(some: ir.Value, bit: ir.Value, at: ir.InsertionPoint) -> ir.Value:
    return arith.select(some, bit, arith.constant(bit.type, 0, ip=at), ip=at)


def _clamped(indices: ir.Value, lasts: list[ir.Value], at: ir.InsertionPoint) -> ir.Value:
    """``indices`` with each element at most ``lasts`` at its place of the last dimension, and not negative."""

    def clamped(index: ir.Value, inner: ir.InsertionPoint) -> ir.Value:
        return arith.minui(index, last_at(lasts, rank_of(indices) - 1, inner), ip=inner)

    return _elementwise(indices, at, clamped)


def last_at(lasts: list[ir.Value], loop: int, inner: ir.InsertionPoint) -> ir.Value:
    """The one of ``lasts`` that the index of ``loop`` says, in the body of a linalg.generic."""
    last = lasts[0]
    if any(other != last for other in lasts):
        place = linalg.IndexOp(loop, ip=inner).result
        for number, other in enumerate(lasts[1:], 1):
            here_it_is = arith.cmpi(
                _EQ, place, arith.constant(ir.IndexType.get(), number, ip=inner), ip=inner
            )
            last = arith.select(here_it_is, other, last, ip=inner)
    return last


def _elementwise(
    of: ir.Value, at: ir.InsertionPoint, compute: Callable[[ir.Value, ir.InsertionPoint], ir.Value]
) -> ir.Value:
    """A tensor of the shape of ``of``, with what ``compute`` makes of each of its elements."""
    tensor_type, rank = ir.RankedTensorType(of.type), rank_of(of)
    sizes = [
        tensor.dim(of, arith.constant(ir.IndexType.get(), i, ip=at), ip=at)
        for i in range(rank)
        if tensor_type.is_dynamic_dim(i)
    ]
    empty = ir.Operation.create("tensor.empty", [tensor_type], sizes, ip=at).results[0]
    with at:
        op, block = build_generic([of], [empty], [ir.AffineMap.get_identity(rank)] * 2, [True] * rank)
    inner = ir.InsertionPoint(block)
    linalg.YieldOp([compute(block.arguments[0], inner)], ip=inner)
    return op.results[0]


def last_index(extents: Extents, size: Term, at: ir.InsertionPoint, type_: ir.Type | None = None) -> ir.Value:
    """The last index of a dimension of ``size`` elements, as an index or an element of the tensor type ``type_``. As an
    unsigned number a negative index is larger. An empty dimension counts as one of one element."""
    element = ir.RankedTensorType(type_).element_type if type_ is not None else ir.IndexType.get()
    largest = (1 << (element.width - 1)) - 1 if isinstance(element, ir.IntegerType) else (1 << 63) - 1
    if size.constant is not None:
        return arith.constant(element, min(max(size.constant - 1, 0), largest), ip=at)
    index = ir.IndexType.get()
    last = arith.subi(TermWriter(extents, at).index(size), arith.constant(index, 1, ip=at), ip=at)
    last = arith.maxsi(last, arith.constant(index, 0, ip=at), ip=at)
    if isinstance(element, ir.IndexType):
        return last
    last = arith.minsi(last, arith.constant(index, largest, ip=at), ip=at)
    return arith.index_cast(element, last, ip=at)
