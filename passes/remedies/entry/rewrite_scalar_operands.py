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
_OF_BYTES = (
    "aten.floor_divide.Scalar",
    "aten.mul.Scalar",
    "aten.remainder.Scalar",
    "aten.rsub.Scalar",
    "aten.sub.Scalar",
)
"""Ops that crash IREE on 8-bit integers alone. Of more bits, cut to 8 again, the results are the same."""
_BYTES = ("si8", "ui8")
_WIDE = "si32"


@register_pass
@dataclass(frozen=True)
class RewriteScalarOperands(FrontEndRemedy):
    """Makes the number a tensor without dimensions, of the other operand's element type; computes 8-bit integers in 32 bits.

    IREE 3.13 has no name for most of these ops, and no pattern for `aten.fmod.Scalar`. It crashes on the arithmetic of 8-bit integers with
    a number (what unpacks weights of 4 bits). PyTorch converts such a number to the element
    type of the tensor; where the result has another one, or the number is not known, the op is left alone. Run it on the program as
    it was imported, ahead of `fissile-decompose-elementwise`.
    """

    name: ClassVar[str] = "fissile-rewrite-scalar-operands"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces torch ops on a tensor and a number with the ones on two tensors, and arithmetic of 8-bit integers with a number with one of 32 bits (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.bitwise_or.Scalar`, `aten.fmod.Scalar` and others, which IREE rejects, and arithmetic of 8-bit integers with a number, on which it crashes (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it with an op that IREE lowers"
    advice: ClassVar[str] = "rewrite it with an op that IREE lowers"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if (
            name not in _WITH_TENSORS
            and name not in _OF_BYTES
            or len(op.results) != 1
            or len(op.operands) < 2
        ):
            return False
        given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
        if given is None or made is None or given.element != made.element:
            return False
        if name in _OF_BYTES:
            return given.element in _BYTES and all(
                _literal(one, _WIDE) is not None for one in list(op.operands)[1:]
            )
        return len(op.operands) == 2 and _literal(op.operands[1], given.element) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, name = op.operands[0], torch.front_end_name(op)
        given, made = torch.TensorType.of(value), torch.TensorType.of(op.results[0])
        assert given is not None and made is not None
        if name in _OF_BYTES:
            wide = torch.converted(value, _WIDE)
            operands = [wide, *list(op.operands)[1:]]
            result = torch.apply_named(name, operands, torch.TensorType(made.shape, _WIDE))
            return [torch.converted(result, made.element)]
        literal = _literal(op.operands[1], given.element)
        assert literal is not None
        number = torch.literal(literal, given.element)
        return [torch.apply_named(_WITH_TENSORS[name], [value, number], op.results[0].type)]


def _literal(value: ir.Value, element: str) -> str | None:
    """The number ``value`` as MLIR spells it for ``element``; None where it is not known, or has another kind of type."""
    number = torch.number_of(value)
    if number is None or not math.isfinite(number):
        return None
    if element.startswith("si"):
        bound = 1 << (int(element[2:]) - 1)
        return str(number) if isinstance(number, int) and -bound <= number < bound else None
    return f"{float(number):.17e}" if element in torch.FLOATS else None
