"""Softmax and its like in models of old opsets, which take all dimensions from an axis on together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.legacy_axes import legacy_axis
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..layers.recurrent_steps import type_of
from ..torch_ops import TensorType

_HARDMAX = "onnx.Hardmax"


@register_pass
@dataclass(frozen=True)
class FlattenAxes(FrontEndRemedy):
    """Writes `onnx.Softmax` and `onnx.Hardmax` of a model of opset 12 or older as a reshape, the op along the last dimension, and a
    reshape back.

    Up to opset 12 these ops take the dimensions from `axis` on as one. IREE 3.13 has no lowering for the first, and takes the second
    along `axis` alone (FIS162). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-flatten-axes"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "writes `onnx.Softmax` and `onnx.Hardmax` of opset 12 or older over the merged dimensions (in the input)"
    )
    repairs: ClassVar[str] = (
        "Softmax of models of opset 12 or older, which IREE rejects (FIS421), and Hardmax, which it takes along one dimension (FIS162)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "merged the dimensions from axis on"
    advice: ClassVar[str] = "merge the dimensions from axis on"

    def fits(self, op: ir.Operation) -> bool:
        axis, given = legacy_axis(op), TensorType.of(op.operands[0]) if len(op.operands) == 1 else None
        if axis is None or given is None or given.element not in torch.FLOATS:
            return False
        return torch.front_end_name(op) != _HARDMAX or None not in given.shape[axis:]

    def written(self, op: ir.Operation) -> list[ir.Value]:
        axis, value = legacy_axis(op), op.operands[0]
        assert axis is not None  # `fits`
        given = type_of(value)
        last = len(given.shape) - 1
        flat = torch.merged(value, axis, last)
        if torch.front_end_name(op) == _HARDMAX:
            made = _hardmax(flat)
        else:
            made = torch.apply("aten.softmax.int", [flat, torch.integer(axis), torch.none()], type_of(flat))
        if axis < last:
            sizes = [
                torch.size(value, dim) if given.shape[dim] is None else torch.integer(given.shape[dim] or 0)
                for dim in range(axis, last + 1)
            ]
            made = torch.apply("aten.unflatten.int", [made, torch.integer(axis), torch.listed(sizes)], given)
        return [torch.cast(made, op.results[0].type)]


def _hardmax(value: ir.Value) -> ir.Value:
    """1 at the first maximum along the last dimension, and 0 elsewhere."""
    type_ = type_of(value)
    dim = len(type_.shape) - 1
    largest = TensorType((*type_.shape[:-1], 1), "si64")
    first = torch.apply("aten.argmax", [value, torch.integer(dim), torch.boolean(True)], largest)
    none, number = torch.none(), torch.integer(type_.shape[-1] or 0)
    places = torch.apply(
        "aten.arange", [number, none, none, none, none], TensorType(type_.shape[-1:], "si64")
    )
    chosen = torch.apply("aten.eq.Tensor", [first, places], TensorType(type_.shape, "i1"))
    return torch.converted(chosen, type_.element)
