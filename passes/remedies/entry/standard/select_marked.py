"""The rows of a tensor that a list of booleans marks, as rows at the places of the marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import type_of
from ..torch_ops import TensorType, apply


@register_pass
@dataclass(frozen=True)
class SelectMarked(FrontEndRemedy):
    """Writes `onnx.Compress` as `aten.index_select` at the places where the condition is true.

    Of a constant condition the places are constants, and the size of the result is known; of another one they come from `aten.nonzero`.
    IREE 3.13 starts with a cast to fewer dimensions, which it rejects. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-select-marked"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes `onnx.Compress` as `aten.index_select` at the places where the condition is true (in the input)"
    )
    repairs: ClassVar[str] = "selections by a list of booleans, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "selected at the places where the condition is true"
    advice: ClassVar[str] = "select at the places where the condition is true"

    def fits(self, op: ir.Operation) -> bool:
        if (
            torch.front_end_name(op) != "onnx.Compress"
            or len(op.operands) != 2
            or TensorType.of(op.results[0]) is None
        ):
            return False
        given, condition = (TensorType.of(value) for value in op.operands)
        if given is None or not given.shape or condition is None:
            return False
        if condition.element != "i1" or len(condition.shape) != 1:
            return False
        axis = number(op, "axis", 0)
        return -len(given.shape) <= axis < len(given.shape)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, condition = op.operands
        rank = len(type_of(value).shape)
        if attribute(op, f"{torch.ONNX_ATTRIBUTE}axis") is None:
            value, axis = torch.merged(value, 0, rank - 1), 0
        else:
            axis = number(op, "axis", 0) % rank
        places = _places(condition)
        made = type_of(value).with_size(axis, type_of(places).shape[0])
        chosen = apply("aten.index_select", [value, torch.integer(axis), places], made)
        return [torch.cast(chosen, op.results[0].type)]


def _places(condition: ir.Value) -> ir.Value:
    """Where ``condition`` is true."""
    marks = integers_of(condition)
    if marks is not None and any(marks):
        return torch.table(np.flatnonzero(marks).astype(np.int64))
    column = apply("aten.nonzero", [condition], TensorType((None, 1), "si64"))
    return apply("aten.squeeze.dim", [column, torch.integer(1)], TensorType((None,), "si64"))
