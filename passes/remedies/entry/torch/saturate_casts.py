"""ONNX's casts to 8-bit floats, with the values that are too large clipped first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_LARGEST = {"f8E4M3FN": 448.0, "f8E4M3FNUZ": 240.0, "f8E5M2": 57344.0, "f8E5M2FNUZ": 57344.0}
_CODES = {"f8E5M2": 23, "f8E4M3FN": 24, "f8E5M2FNUZ": 25, "f8E4M3FNUZ": 26}
"""What PyTorch's ScalarType calls them."""
_CASTS, _QUANTISES = ("onnx.Cast", "onnx.CastLike"), "onnx.QuantizeLinear"


@register_pass
@dataclass(frozen=True)
class SaturateCasts(FrontEndRemedy):
    """Clips what `onnx.Cast`, `onnx.CastLike` and `onnx.QuantizeLinear` make 8-bit floats of, unless they have saturate = 0.

    IREE 3.13 ignores the attribute, which is 1 by default: a value that is too large becomes infinite or NaN (FIS162); it has no lowering for
    the Cast. A QuantizeLinear has one scale, and becomes a division and a cast. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-saturate-casts"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "clips what `onnx.Cast`, `onnx.CastLike` and `onnx.QuantizeLinear` make 8-bit floats of (in the input)"
    )
    repairs: ClassVar[str] = (
        "such casts, which IREE makes infinite or NaN where the value is too large: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "clipped it to the largest value of the type before"
    advice: ClassVar[str] = "clip it to the largest value of the type before"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if name not in (*_CASTS, _QUANTISES) or len(op.operands) < (1 if name == "onnx.Cast" else 2):
            return False
        given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
        saturates = attribute(op, f"{torch.ONNX_ATTRIBUTE}saturate")
        if given is None or made is None or made.element not in _LARGEST or given.element not in torch.FLOATS:
            return False
        if saturates is not None and ir.IntegerAttr(saturates).value == 0:
            return False
        scale = torch.TensorType.of(op.operands[1]) if name == _QUANTISES else None
        return (
            name in _CASTS or scale is not None and set(scale.shape) <= {1} and scale.element == given.element
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, given = op.operands[0], torch.TensorType.of(op.operands[0])
        made = torch.TensorType.of(op.results[0])
        assert given is not None and made is not None  # `fits`
        if torch.front_end_name(op) == _QUANTISES:
            value = torch.apply_onnx("Div", [value, torch.as_scalar(op.operands[1])], given)
        ends = [torch.real(end) for end in (-_LARGEST[made.element], _LARGEST[made.element])]
        within = torch.apply("aten.clamp", [value, *ends], given)
        is_nan = torch.apply("aten.ne.Tensor", [value, value], torch.TensorType(given.shape, "i1"))
        clipped = torch.apply("aten.where.self", [is_nan, value, within], given)
        no = torch.boolean(False)
        operands = [clipped, torch.integer(_CODES[made.element]), no, no, torch.none()]
        return [torch.apply("aten.to.dtype", operands, made)]
