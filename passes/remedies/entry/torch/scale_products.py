"""Products of ONNX Runtime with a factor, as a product and a multiplication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute, attributes
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_FACTOR = f"{torch.ONNX_ATTRIBUTE}alpha"


@register_pass
@dataclass(frozen=True)
class ScaleProducts(FrontEndRemedy):
    """Multiplies the result of a `FusedMatMul` of ONNX Runtime with its factor ``alpha``.

    IREE 3.13 ignores the factor, which is 1 by default (FIS162). ONNX Runtime's optimiser makes the op of a product and the scale of an attention.
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scale-products"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "multiplies the result of `onnx.FusedMatMul` with its alpha (in the input)"
    repairs: ClassVar[str] = (
        "products of ONNX Runtime's optimiser with a factor, which IREE ignores: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "multiplied the result with alpha"
    advice: ClassVar[str] = "multiply the result with alpha"

    def fits(self, op: ir.Operation) -> bool:
        factor = attribute(op, _FACTOR)
        known = (
            torch.front_end_name(op) == "onnx.FusedMatMul"
            and len(op.results) == 1
            and torch.TensorType.of(op.results[0]) is not None
        )
        return known and factor is not None and ir.FloatAttr(factor).value != 1.0

    def written(self, op: ir.Operation) -> list[ir.Value]:
        begin, type_ = torch.ONNX_ATTRIBUTE, op.results[0].type
        kept = {
            name.removeprefix(begin): held
            for name, held in attributes(op)
            if name.startswith(begin) and name != _FACTOR
        }
        product = torch.apply_onnx("FusedMatMul", list(op.operands), type_, **kept)
        factor = torch.real(ir.FloatAttr(attribute(op, _FACTOR)).value)
        return [torch.apply("aten.mul.Scalar", [product, factor], type_)]
