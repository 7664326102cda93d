"""Products of 8-bit floats with scales."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

_FACTORS = ("f8E4M3FN", "f8E5M2")
_OPERANDS = 8
"""The factors, their scales, a bias, the scale of the result, its element type, and whether sums may be less precise."""


@register_pass
@dataclass(frozen=True)
class MultiplyScaled(FrontEndRemedy):
    """Writes `aten._scaled_mm` as a product of matrices in f32, scaled after it.

    A scale is a number, or has one for each row of the first factor or each column of the second. A bias is added to the scaled product. The result is a
    float of 16 or 32 bits: what is rounded to 8 bits stays as it is. IREE 3.13 has no lowering for the op. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-multiply-scaled"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten._scaled_mm` with a product in f32 and its scales (in the input)"
    repairs: ClassVar[str] = (
        "scaled products of 8-bit floats (`torch._scaled_mm`), which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a product in f32 and its scales"
    advice: ClassVar[str] = "rewrite it as a product in f32 and its scales"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten._scaled_mm" or not 4 <= len(op.operands) <= _OPERANDS:
            return False
        first, second, *scales = (TensorType.of(one) for one in list(op.operands)[:4])
        made = TensorType.of(op.results[0])
        if first is None or second is None or made is None or made.element not in torch.FLOATS:
            return False
        if {first.element, second.element} - set(_FACTORS) or len(first.shape) != 2 or len(second.shape) != 2:
            return False
        rows, columns = ((), (1,), (1, 1), (first.shape[0], 1)), ((), (1,), (1, 1), (1, second.shape[1]))
        for scale, shapes in zip(scales, (rows, columns), strict=True):
            if scale is None or scale.element != "f32" or scale.shape not in shapes:
                return False
        bias = op.operands[4] if len(op.operands) > 4 else None
        if bias is None or torch.is_none(bias):
            return True
        added = TensorType.of(bias)
        return added is not None and len(added.shape) == 1 and added.element in ("f16", "bf16")

    def written(self, op: ir.Operation) -> list[ir.Value]:
        first, second = (torch.converted(one, "f32") for one in list(op.operands)[:2])
        types = TensorType.of(first), TensorType.of(second)
        assert types[0] is not None and types[1] is not None  # `fits`
        whole = TensorType((types[0].shape[0], types[1].shape[1]), "f32")
        value = apply("aten.mm", [first, second], whole)
        for scale in list(op.operands)[2:4]:
            value = apply("aten.mul.Tensor", [value, scale], whole)
        if len(op.operands) > 4 and not torch.is_none(op.operands[4]):
            bias = torch.converted(op.operands[4], "f32")
            value = apply("aten.add.Tensor", [value, bias, torch.integer(1)], whole)
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        return [torch.cast(torch.converted(value, made.element), op.results[0].type)]
