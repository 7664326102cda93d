"""Extremes and signs of floats that pass a NaN on, whichever operand it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..onnx.broadcast_operands import differ_by_step
from ..tensors.values import type_of
from ..torch_ops import TensorType, apply
from .extremes import EXTREMES, WITH_NANS, extreme, is_number, or_nan

_SIGN = "onnx.Sign"


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
        if name not in EXTREMES and name != _SIGN or len(op.results) != 1:
            return False
        types = [TensorType.of(value) for value in (*op.operands, op.results[0])]
        elements = {None if one is None else one.element for one in types}
        if len(elements) != 1 or not elements <= set(WITH_NANS):
            return False
        if name == _SIGN:
            return len(op.operands) == 1
        if differ_by_step(op):  # IREE rejects it
            return False
        return len(op.operands) > 1 and not all(is_number(value) for value in list(op.operands)[:-1])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name = torch.front_end_name(op)
        if name == _SIGN:
            value = op.operands[0]
            made = or_nan(value, apply("aten.sign", [value], value.type), type_of(value))
        else:
            made = extreme(name, list(op.operands))
        return [torch.cast(made, op.results[0].type)]
