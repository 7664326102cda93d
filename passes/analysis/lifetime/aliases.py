"""Which results stand on the storage of which operands: surely, perhaps, or once a canonicalization folds the op away."""

from __future__ import annotations

import math
from collections.abc import Iterator

from iree.compiler import ir

from fissile.dialect.operands import inits, operands_named
from fissile.dialect.views import view_of
from fissile.passes.analysis.bounds.shaped_values import is_argument
from fissile.passes.iree import ops as iree_ops

from .kinds import CASTS, TENSOR

Pairs = list[tuple[ir.Value, ir.Value]]
"""(result, operand), for each result that stands on the storage of an operand."""

_VIEWS = (
    *CASTS,
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.view",
    "memref.expand_shape",
    "memref.collapse_shape",
    "memref.transpose",
    "memref.reshape",
    "memref.extract_strided_metadata",
    "bufferization.to_buffer",
    "bufferization.to_tensor",
    "tensor.bitcast",
    "tensor.cast",
    "tensor.extract_slice",
    "tensor.expand_shape",
    "tensor.collapse_shape",
    "tensor.reshape",
    "fissile.boundary",
    iree_ops.FLOW_TENSOR_BARRIER,
    iree_ops.FLOW_TENSOR_BITCAST,
    iree_ops.FLOW_TENSOR_RESHAPE,
    iree_ops.FLOW_TENSOR_TIE_SHAPE,
    iree_ops.FLOW_TENSOR_TRANSFER,
    iree_ops.HAL_TENSOR_TRANSIENTS,
    iree_ops.TENSOR_EXT_BITCAST,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
    iree_ops.STREAM_RESOURCE_SUBVIEW,
)
_ONE_BY_ONE = (
    iree_ops.HAL_TENSOR_BARRIER,
    iree_ops.UTIL_NUMERIC_OPTIONAL_NARROW,
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
    "builtin.unrealized_conversion_cast",
)
"""Each result is the operand of the same number."""
_IN_PLACE = (
    "tensor.insert",
    "tensor.insert_slice",
    "tensor.scatter",
    "bufferization.materialize_in_destination",
)
_UPDATES = {iree_ops.FLOW_TENSOR_UPDATE: 0, iree_ops.FLOW_TENSOR_STORE: 1}
"""Ops that change a tensor in place -> the number of its group of operands. What is written is the last operand or the first."""
_TIED = (iree_ops.FLOW_DISPATCH, iree_ops.FLOW_DISPATCH_WORKGROUPS)
_ARGUMENTS = 1
"""The group of a dispatch's operands that `tied_operands` counts in."""

_COPIES = (
    "tensor.insert_slice",
    "tensor.pad",
    iree_ops.ENCODING_SET_ENCODING,
    iree_ops.ENCODING_UNSET_ENCODING,
    iree_ops.FLOW_TENSOR_CLONE,
    iree_ops.FLOW_TENSOR_SLICE,
    iree_ops.HAL_TENSOR_ALIAS,
)
"""They copy their first operand, in whole or in part."""
NEW_TENSORS = (
    "affine",
    "arith",
    "bufferization",
    "complex",
    "linalg",
    "math",
    "ml_program",
    "scf",
    "tensor",
    "vector",
    *iree_ops.DIALECTS,
)
"""Dialects of whose ops it is known which results are operands under another name: the ones above, and no others."""
_RENAMES = (
    "bitcast_convert",
    "call",
    "case",
    "cast",
    "composite",
    "cond_if",
    "convert",
    "custom",
    "custom_call",
    "dynamic_reshape",
    "identity",
    "if",
    "optimization_barrier",
    "reshape",
    "select",
    "variable_read",
    "while",
    "while_loop",
)
"""Ops of the front ends' dialects, without those, whose results may be operands under another name. Others compute."""


def same_storage(op: ir.Operation) -> Pairs:
    """(result, operand) for each result of ``op`` that stands on the storage of an operand: views, casts and what is
    computed in place in a destination. A choice between operands is `chosen_from`'s."""
    results, values = list(op.results), list(op.operands)
    if op.name in _ONE_BY_ONE:
        return list(zip(results, values, strict=False))
    if op.name in _VIEWS:
        source = (
            view_of(op).source
            if op.name.startswith("memref.") and hasattr(view_of(op), "source")
            else values[0]
        )
        return [(results[0], source)]
    if op.name == TENSOR:
        return [(results[0], view_of(op).storage)]
    if op.name in _IN_PLACE:
        return [(results[0], view_of(op).dest)] if results else []
    if op.name in _UPDATES:
        return [(results[0], group) for group in _group(op, _UPDATES[op.name])[:1]]
    if op.name in _TIED:
        return _tied(op)
    if op.name in (iree_ops.STREAM_TIMEPOINT_AWAIT,):
        return list(zip(results, view_of(op).resource_operands, strict=False))
    if op.name.startswith(("linalg.", iree_ops.LINALG_EXT_OPS)) and results:
        return list(zip(results, inits(op), strict=False))
    return []


def chosen_from(op: ir.Operation) -> tuple[ir.Value, ir.Value, ir.Value] | None:
    """The condition of ``op``, and the operands that its result is where it holds and where it does not; None for another op.

    A select of tensors by a tensor of conditions computes a new one.
    """
    if op.name != "arith.select" or not isinstance(op.operands[0].type, ir.IntegerType):
        return None
    condition, chosen, other = (
        operands_named(op, name)[0] for name in ("condition", "true_value", "false_value")
    )
    return condition, chosen, other


def may_be_same(op: ir.Operation) -> Pairs:
    """(result, operand) for tensors of which nobody knows whether one stands on the storage of the other."""
    dialect, _, name = op.name.partition(".")
    if dialect in NEW_TENSORS or dialect in ("builtin", "fissile", "func"):
        return []
    if dialect in iree_ops.FRONT_END_DIALECTS and name not in _RENAMES:
        return []
    return [(r, v) for r in op.results if _is_tensor(r) for v in op.operands if _is_tensor(v)]


def folds_to(op: ir.Operation) -> Pairs:
    """(result, operand) for results that are new tensors, and that a canonicalization may replace by an operand or what is yielded.

    A release between the op and a use of its result would then come too early.
    """
    if not any(_is_tensor(result) for result in op.results):
        return []
    values: list[ir.Value] = []
    if op.name in _COPIES:
        values = list(op.operands)[:1]
    elif op.name == "tensor.concat":
        values = list(op.operands)
    elif op.name == iree_ops.FLOW_TENSOR_UPDATE:
        values = list(op.operands)[-1:]
    elif op.name == iree_ops.FLOW_DISPATCH_REGION:
        return list(_yielded(op))
    elif _moves_elements_only(op):
        values = [value for value in op.operands if _is_tensor(value)]
    elif op.name.startswith("arith.") and (
        len(op.operands) != len(set(op.operands)) or any(map(_is_neutral, op.operands))
    ):
        values = [value for value in op.operands if value.type == op.results[0].type]
    return [(op.results[0], value) for value in values if _is_tensor(value)]


def _group(op: ir.Operation, number: int) -> list[ir.Value]:
    sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    begin = sum(sizes[:number])
    return list(op.operands)[begin : begin + sizes[number]]


def _tied(op: ir.Operation) -> Pairs:
    if "tied_operands" not in op.attributes:
        return []
    arguments = _group(op, _ARGUMENTS)
    numbers = [ir.IntegerAttr(one).value for one in ir.ArrayAttr(op.attributes["tied_operands"])]
    return [(r, arguments[n]) for r, n in zip(op.results, numbers, strict=False) if n >= 0]


def _yielded(op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    block = op.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    yield from zip(op.results, end.operands, strict=False)


def _moves_elements_only(op: ir.Operation) -> bool:
    """Whether ``op`` puts its inputs' elements elsewhere, and perhaps where they are."""
    if op.name == "linalg.transpose":
        order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        return order == sorted(order)
    return op.name == "linalg.generic" and len(list(op.regions[0].blocks[0].operations)) == 1


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _is_neutral(value: ir.Value) -> bool:
    """Whether ``value`` is a constant that an op may have as its neutral element."""
    if is_argument(value) or value.owner.operation.name != "arith.constant":
        return False
    attribute = value.owner.operation.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return False
    one = attribute.get_splat_value()
    if isinstance(one, ir.FloatAttr):
        return one.value in (0.0, 1.0, math.inf, -math.inf) or math.isnan(one.value)
    if isinstance(one, ir.BoolAttr) or not isinstance(one, ir.IntegerAttr):
        return True
    width = one.type.width if isinstance(one.type, ir.IntegerType) else 64
    return int(one) in (0, 1, -1, 2**width - 1, 2 ** (width - 1) - 1, 2 ** (width - 1), -(2 ** (width - 1)))
