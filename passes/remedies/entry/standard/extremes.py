"""The larger or the smaller of tensors of floats, where a NaN of each is passed on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import isnan

from iree.compiler import ir

from fissile.passes.analysis.imports.onnx_values import floats_of

from ..tensors.values import as_boolean, broadcast_shape, type_of
from ..torch_ops import FLOATS, TensorType, apply

EXTREMES = {
    "onnx.Max": "aten.maximum",
    "onnx.Min": "aten.minimum",
    "aten.maximum": "aten.maximum",
    "aten.minimum": "aten.minimum",
}
"""The op of two tensors that computes each."""
WITH_NANS = (*FLOATS, "f64")


def is_number(value: ir.Value) -> bool:
    """Whether ``value`` is a constant without a NaN."""
    held = floats_of(value)
    return held is not None and not any(map(isnan, held))


def extreme(name: str, operands: Sequence[ir.Value]) -> ir.Value:
    """The extreme of ``operands`` that `EXTREMES` has under ``name``, two at a time, each with the shape that the two have together.

    Constants without a NaN go first, so that each step has at most one operand in front that may be one.
    """
    ordered = sorted(operands, key=lambda value: not is_number(value))
    return reduce(lambda one, other: _of_two(EXTREMES[name], one, other), ordered)


def _of_two(name: str, first: ir.Value, second: ir.Value) -> ir.Value:
    shape = broadcast_shape([type_of(first).shape, type_of(second).shape])
    made = TensorType(shape, type_of(first).element)
    found = apply(name, [first, second], made)
    if made.element not in WITH_NANS or is_number(first):
        return found
    return or_nan(first, found, made)


def or_nan(value: ir.Value, found: ir.Value, made: TensorType) -> ir.Value:
    """``found``, of the type ``made``, but a NaN where ``value`` is one."""
    is_nan = apply("aten.ne.Tensor", [value, value], as_boolean(type_of(value)))
    return apply("aten.where.self", [is_nan, value, found], made)
