"""Operands of another type than the result, converted to it before an elementwise op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_PROMOTING = (
    "aten.clamp", "aten.clamp_max", "aten.clamp_min", "aten.clamp_min.Tensor", "aten.copysign.Scalar", "aten.copysign.Tensor", "aten.fmod.Scalar",
    "aten.fmod.Tensor", "aten.hypot", "aten.log10", "aten.logit", "aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.remainder.Tensor", "aten.sinc",
    "aten.special_entr", "aten.xlogy.Tensor",
)  # fmt: skip
"""Ops that PyTorch computes in the type of their result."""
_INTEGERS = ("i1", "ui8", "si8", "si16", "si32", "si64")


@register_pass
@dataclass(frozen=True)
class PromoteOperands(FrontEndRemedy):
    """Converts integer operands of an op whose result is a float to the type of the result, and floats to a wider one.

    PyTorch does so before it computes. IREE 3.13's import compares or multiplies the integers as if they were floats and stops. Run it on the program as it was imported, ahead of the
    remedies that rewrite such an op of floats.
    """

    name: ClassVar[str] = "fissile-promote-operands"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "converts the operands of `aten.clamp`, `pow`, `xlogy`, `logit` and others to the float type of the result (in the input)"
    )
    repairs: ClassVar[str] = (
        "such ops of integers, or of an integer and a float, which IREE rejects where the result is a float (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "converted its operands to the type of the result"
    advice: ClassVar[str] = "convert its operands to the type of the result"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _PROMOTING or len(op.results) != 1:
            return False
        made = TensorType.of(op.results[0])
        if made is None or made.element not in torch.FLOATS:
            return False
        elements = {type_.element for value in op.operands if (type_ := TensorType.of(value))}
        return elements <= {*_INTEGERS, *torch.FLOATS} and bool(elements - {made.element})

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = TensorType.of(op.results[0])
        assert made is not None
        operands = [torch.converted(one, made.element) if TensorType.of(one) else one for one in op.operands]
        attributes = {one: op.attributes[one] for one in op.attributes}
        again = ir.Operation.create(
            op.name, results=[op.results[0].type], operands=operands, attributes=attributes
        )
        return [again.result]
