"""How ops shape their results: (extents, op, result number, dimension) -> a term, or None where the op does not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.operands import operands_named
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from . import call_results, chosen_tensors, value_terms
from .intervals import wrapped
from .shaped_values import i64s, kept_dimensions, static_dimension
from .size_terms import Term, product, term

if TYPE_CHECKING:
    from .extents import Extents


def _operand_shape(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return extents.dimension(op.operands[0], index)


def _dynamic_sizes(first: int) -> Callable:
    """The result's dynamic sizes are operands, from operand ``first`` on."""

    def rule(_extents, op: ir.Operation, number: int, index: int) -> Term:
        shape = op.results[number].type
        before = sum(static_dimension(shape, i) is None for i in range(index))
        return _extents.value(op.operands[first + before])

    return rule


def _named_sizes(operands: str) -> Callable:
    def rule(extents: Extents, op: ir.Operation, number: int, index: int) -> Term:
        shape = op.results[number].type
        before = sum(static_dimension(shape, i) is None for i in range(index))
        return extents.value(list(getattr(view_of(op), operands))[before])

    return rule


def _slice(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term | None:
    sizes = extents.mixed(i64s(op, "static_sizes"), operands_named(op, "sizes"))
    kept = kept_dimensions(i64s(op, "static_sizes"), op.results[0].type)
    return sizes[kept[index]] if kept is not None else None


def _insert(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return extents.dimension(op.operands[1], index)


def _expand(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return extents.mixed(i64s(op, "static_output_shape"), operands_named(op, "output_shape"))[index]


def _collapse(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    group = [int(i) for i in op.attributes["reassociation"][index]]
    return wrapped(product(extents.dimension(op.operands[0], i) for i in group))


def _pad(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    low = extents.mixed(i64s(op, "static_low"), operands_named(op, "low"))
    high = extents.mixed(i64s(op, "static_high"), operands_named(op, "high"))
    return wrapped(low[index] + extents.dimension(op.operands[0], index) + high[index])


def _concat(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    parts = [extents.dimension(operand, index) for operand in op.operands]
    if index != ir.IntegerAttr(op.attributes["dim"]).value:
        return parts[0]
    return wrapped(sum(parts[1:], parts[0]))


def _reshape(extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    return value_terms.element_of(extents, op.operands[1], index)


def _constant(_extents: Extents, op: ir.Operation, _number: int, index: int) -> Term:
    """A constant whose shape is hidden from folding, not from its reader."""
    return term(ir.ShapedType(op.attributes["value"].type).get_dim_size(index))


def _for(extents: Extents, op: ir.Operation, number: int, index: int) -> Term | None:
    carried = op.regions[0].blocks[0].arguments[1 + number]
    kept = extents.dimension(carried, index)
    return None if kept == term(extents.symbol(carried, index)) else kept


def _forall(extents: Extents, op: ir.Operation, number: int, index: int) -> Term:
    return extents.dimension(list(view_of(op).outputs)[number], index)


RULES: dict[str, Callable] = {
    "tensor.cast": _operand_shape,
    "memref.cast": _operand_shape,
    iree_ops.UTIL_OPTIMIZATION_BARRIER: lambda e, op, number, i: e.dimension(op.operands[number], i),
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START: _operand_shape,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END: _operand_shape,
    iree_ops.FLOW_TENSOR_TRANSFER: _operand_shape,
    "bufferization.to_tensor": _operand_shape,
    "fissile.boundary": _operand_shape,
    "bufferization.to_buffer": _operand_shape,
    "bufferization.materialize_in_destination": _insert,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert,
    "tensor.empty": _dynamic_sizes(0),
    "bufferization.alloc_tensor": _dynamic_sizes(0),
    "memref.alloc": _dynamic_sizes(0),
    "memref.alloca": _dynamic_sizes(0),
    "tensor.splat": _dynamic_sizes(1),
    "tensor.generate": _dynamic_sizes(0),
    iree_ops.FLOW_TENSOR_SPLAT: _dynamic_sizes(1),
    "memref.view": _dynamic_sizes(2),
    "fissile.alloc_tensor": _dynamic_sizes(2),
    iree_ops.HAL_TENSOR_IMPORT: _named_sizes("target_dims"),
    iree_ops.FLOW_TENSOR_RESHAPE: _named_sizes("result_dims"),
    iree_ops.FLOW_TENSOR_SLICE: _named_sizes("result_dims"),
    iree_ops.FLOW_TENSOR_BITCAST: _named_sizes("result_dims"),
    iree_ops.FLOW_TENSOR_ALLOCA: _named_sizes("result_dims"),
    iree_ops.FLOW_TENSOR_EMPTY: _named_sizes("result_dims"),
    iree_ops.TENSOR_EXT_BITCAST: _named_sizes("result_dims"),
    iree_ops.FLOW_TENSOR_STORE: lambda e, op, _n, i: e.dimension(view_of(op).target, i),
    iree_ops.FLOW_TENSOR_UPDATE: lambda e, op, _n, i: e.dimension(view_of(op).target, i),
    iree_ops.FLOW_TENSOR_CLONE: _operand_shape,
    iree_ops.FLOW_TENSOR_TIE_SHAPE: _operand_shape,
    "tensor.extract_slice": _slice,
    "memref.subview": _slice,
    "memref.reinterpret_cast": _slice,
    "tensor.expand_shape": _expand,
    "memref.expand_shape": _expand,
    "tensor.collapse_shape": _collapse,
    "memref.collapse_shape": _collapse,
    "tensor.pad": _pad,
    "tensor.concat": _concat,
    "tensor.reshape": _reshape,
    "memref.reshape": _reshape,
    "func.call": call_results.dimension,
    iree_ops.UTIL_CALL: call_results.dimension,
    iree_ops.FLOW_TENSOR_DYNAMIC_CONSTANT: _constant,
    "scf.if": chosen_tensors.dimension,
    "scf.for": _for,
    "scf.forall": _forall,
    "arith.select": chosen_tensors.dimension,
}
