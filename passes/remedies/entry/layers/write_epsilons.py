"""What PyTorch's root mean square norms do by default, written out: the number that they add, and 32 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply

RMS_NORM = "aten.rms_norm"
_WIDE = "f32"
LEAST = 2.0**-23
"""What PyTorch adds to the mean by default: it computes 16-bit floats in f32 as well."""


@register_pass
@dataclass(frozen=True)
class WriteEpsilons(FrontEndRemedy):
    """Writes the default epsilon of an `aten.rms_norm` as a constant, and computes one of 16-bit floats in f32.

    IREE 3.13 takes f64's epsilon, 2**-52 (FIS162): rows of small numbers come out too large. Of 16-bit floats it squares and sums in 16 bits: an f16 of
    256 or more has no square there, and a sum of 4096 bf16 was 4% off. f64 itself, which IREE computes in f32, is left alone. Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-epsilons"
    cures: ClassVar[tuple[str, ...]] = ("FIS162",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes the default epsilon of an `aten.rms_norm` as a constant, and computes one of 16-bit floats in f32 (in the input)"
    )
    repairs: ClassVar[str] = (
        "`nn.RMSNorm` without an epsilon, for which IREE takes that of f64, or of 16-bit floats, which IREE squares and sums in 16 bits: wrong on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "computed it in f32, with PyTorch's epsilon"
    advice: ClassVar[str] = "compute the norm in f32, with an epsilon (`torch.finfo(torch.float32).eps`)"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != RMS_NORM or len(op.operands) != 4 or len(op.results) != 1:
            return False
        given = TensorType.of(op.operands[0])
        if given is None or given.element not in torch.FLOATS or TensorType.of(op.results[0]) is None:
            return False
        return given.element != _WIDE or torch.is_none(op.operands[3])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, shape, weights, least = op.operands
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        value, weights = (
            one if torch.is_none(one) else torch.converted(one, _WIDE) for one in (value, weights)
        )
        least = torch.real(LEAST) if torch.is_none(least) else least
        wide = TensorType(made.shape, _WIDE)
        return [torch.converted(apply(RMS_NORM, [value, shape, weights, least], wide), made.element)]
