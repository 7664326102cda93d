"""Extremes and signs of floats that pass a NaN on, whichever operand it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import isnan
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.onnx_values import floats_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import as_boolean, broadcast_shape, type_of
from ..torch_ops import TensorType, apply

_EXTREMES = {
    "onnx.Max": "aten.maximum",
    "onnx.Min": "aten.minimum",
    "aten.maximum": "aten.maximum",
    "aten.minimum": "aten.minimum",
}
_SIGN = "onnx.Sign"
_FLOATS = (*torch.FLOATS, "f64")


@register_pass
@dataclass(frozen=True)
class KeepNans(FrontEndRemedy):
    """Writes the larger or the smaller of floats, and `onnx.Sign`, so that a NaN among the operands is the result.

    IREE 3.13 compares the operands and takes the second where the comparison is false: a NaN is passed on only if it is that one. A sign that is
    neither above nor below 0 is 0 (FIS199). A constant without a NaN becomes the first operand, which costs nothing; else the first operand is
    compared with itself. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-keep-nans"
    cures: ClassVar[tuple[str, ...]] = ("FIS199",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `onnx.Max`, `Min`, `Sign`, `aten.maximum` and `aten.minimum` of floats so that they pass on a NaN of each operand (in the input)"
    )
    repairs: ClassVar[str] = "such ops, of which IREE drops a NaN: wrong numbers on every target (FIS199)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it so that a NaN of each operand is passed on"
    advice: ClassVar[str] = "write it so that a NaN of each operand is passed on"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name not in _EXTREMES and name != _SIGN or len(op.results) != 1:
            return False
        types = [TensorType.of(value) for value in (*op.operands, op.results[0])]
        elements = {None if one is None else one.element for one in types}
        if len(elements) != 1 or not elements <= set(_FLOATS):
            return False
        if name == _SIGN:
            return len(op.operands) == 1
        return len(op.operands) > 1 and not all(is_number(value) for value in list(op.operands)[:-1])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op)
        if name == _SIGN:
            value = op.operands[0]
            made = _or_nan(value, apply("aten.sign", [value], value.type), type_of(value))
        else:
            made = _folded(_EXTREMES[name], list(op.operands))
        return [torch.cast(made, op.results[0].type)]


def is_number(value: ir.Value) -> bool:
    """Whether ``value`` is a constant without a NaN."""
    held = floats_of(value)
    return held is not None and not any(map(isnan, held))


def _folded(name: str, operands: Sequence[ir.Value]) -> ir.Value:
    """Constants without a NaN go first, so that each step has at most one operand in front that may be one."""
    ordered = sorted(operands, key=lambda value: not is_number(value))
    return reduce(lambda one, other: _extreme(name, one, other), ordered)


def _extreme(name: str, first: ir.Value, second: ir.Value) -> ir.Value:
    shape = broadcast_shape([type_of(first).shape, type_of(second).shape])
    made = TensorType(shape, type_of(first).element)
    found = apply(name, [first, second], made)
    return found if is_number(first) else _or_nan(first, found, made)


def _or_nan(value: ir.Value, found: ir.Value, made: TensorType) -> ir.Value:
    """``found``, but a NaN where ``value`` is one."""
    is_nan = apply("aten.ne.Tensor", [value, value], as_boolean(type_of(value)))
    return apply("aten.where.self", [is_nan, value, found], made)
