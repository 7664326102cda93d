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
    "aten.clamp", "aten.clamp_max", "aten.clamp_min", "aten.clamp_min.Tensor", "aten.copysign.Scalar", "aten.copysign.Tensor", "aten.fft_*",
    "aten.fmod.Scalar", "aten.fmod.Tensor", "aten.hypot", "aten.log10", "aten.logit",
    "aten.pow.Tensor_Scalar", "aten.pow.Tensor_Tensor", "aten.remainder.Tensor", "aten.sinc", "aten.special_entr", "aten.xlogy.Tensor",
)  # fmt: skip
"""Ops that PyTorch computes in the type of their result; of a complex one, in that of its parts."""
_ONE_BY_ONE = tuple(name for name in _PROMOTING if not name.endswith("*"))
_FAMILIES = tuple(name[:-1] for name in _PROMOTING if name.endswith("*"))
_PARTS = {"complex<f32>": "f32"}


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
        "converts the operands of `aten.clamp`, `pow`, `xlogy`, Fourier transforms and others to the float type of the result (in the input)"
    )
    repairs: ClassVar[str] = (
        "such ops of integers, or of an integer and a float, which IREE rejects where the result is a float (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "converted its operands to the type of the result"
    advice: ClassVar[str] = "convert its operands to the type of the result"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if not (name in _ONE_BY_ONE or name.startswith(_FAMILIES)) or len(op.results) != 1:
            return False
        made = _computed_in(op)
        elements = {type_.element for value in op.operands if (type_ := TensorType.of(value))}
        return (
            made in torch.FLOATS and elements <= {*torch.INTEGERS, *torch.FLOATS} and bool(elements - {made})
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        element = _computed_in(op)
        operands = [torch.converted(one, element) if TensorType.of(one) else one for one in op.operands]
        attributes = {one: op.attributes[one] for one in op.attributes}
        again = ir.Operation.create(
            op.name, results=[op.results[0].type], operands=operands, attributes=attributes
        )
        return [again.result]


def _computed_in(op: ir.Operation) -> str:
    """The element type in which PyTorch computes ``op``; empty where it is not known."""
    made = TensorType.of(op.results[0])
    return "" if made is None else _PARTS.get(made.element, made.element)
