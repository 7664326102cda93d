"""Torch ops between a tensor and a number, where IREE lowers only the one between two tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_WITH_TENSORS = {
    "aten.__or__.Scalar": "aten.bitwise_or.Tensor",
    "aten.__xor__.Scalar": "aten.bitwise_xor.Tensor",
    "aten.bitwise_left_shift.Tensor_Scalar": "aten.bitwise_left_shift.Tensor",
    "aten.bitwise_or.Scalar": "aten.bitwise_or.Tensor",
    "aten.bitwise_right_shift.Tensor_Scalar": "aten.bitwise_right_shift.Tensor",
    "aten.bitwise_xor.Scalar": "aten.bitwise_xor.Tensor",
    "aten.copysign.Scalar": "aten.copysign.Tensor",
    "aten.fmod.Scalar": "aten.fmod.Tensor",
    "aten.xlogy.Scalar_Other": "aten.xlogy.Tensor",
}
"""Op -> the one of two tensors that PyTorch computes it by (aten/src/ATen/native/BinaryOps.cpp)."""


@register_pass
@dataclass(frozen=True)
class RewriteScalarOperands(FrontEndRemedy):
    """Makes the number a tensor without dimensions, of the other operand's element type.

    IREE 3.13 has no name for most of these ops, and no pattern for `aten.fmod.Scalar`. PyTorch converts such a number to the element
    type of the tensor; where the result has another one, or the number is not known, the op is left alone. Run it on the program as
    it was imported, ahead of `fissile-decompose-elementwise`.
    """

    name: ClassVar[str] = "fissile-rewrite-scalar-operands"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces torch ops on a tensor and a number with the ones on two tensors (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.bitwise_or.Scalar`, `aten.fmod.Scalar` and others, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with the number as a tensor"
    advice: ClassVar[str] = "rewrite it with the number as a tensor"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _WITH_TENSORS or len(op.operands) != 2 or len(op.results) != 1:
            return False
        given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
        if given is None or made is None or given.element != made.element:
            return False
        return _literal(op.operands[1], given.element) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        given = torch.TensorType.of(op.operands[0])
        assert given is not None
        literal = _literal(op.operands[1], given.element)
        assert literal is not None
        number = torch.literal(literal, given.element)
        name = _WITH_TENSORS[torch.front_end_name(op)]
        return [torch.apply_named(name, [op.operands[0], number], op.results[0].type)]


def _literal(value: ir.Value, element: str) -> str | None:
    """The number ``value`` as MLIR spells it for ``element``; None where it is not known, or has another kind of type."""
    number = torch.number_of(value)
    if number is None or not math.isfinite(number):
        return None
    if element.startswith("si"):
        bound = 1 << (int(element[2:]) - 1)
        return str(number) if isinstance(number, int) and -bound <= number < bound else None
    return f"{float(number):.17e}" if element in torch.FLOATS else None
