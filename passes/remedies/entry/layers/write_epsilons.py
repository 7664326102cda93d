"""The number that PyTorch's root mean square norms add by default, written out."""

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
LEAST = 2.0**-23
"""What PyTorch adds to the mean by default, of 16-bit floats as well: it computes in f32."""


@register_pass
@dataclass(frozen=True)
class WriteEpsilons(FrontEndRemedy):
    """Writes the default epsilon of an `aten.rms_norm` as a constant.

    IREE 3.13 takes f64's epsilon, 2**-52 (FIS162): rows of small numbers come out too large. f64 itself, which IREE computes in f32, is left
    alone. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-epsilons"
    cures: ClassVar[tuple[str, ...]] = ("FIS162",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "writes the default epsilon of an `aten.rms_norm` as a constant (in the input)"
    repairs: ClassVar[str] = (
        "`nn.RMSNorm` without an epsilon, for which IREE takes that of f64: wrong on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote PyTorch's epsilon"
    advice: ClassVar[str] = "give the norm an epsilon (`torch.finfo(torch.float32).eps`)"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != RMS_NORM or len(op.operands) != 4 or len(op.results) != 1:
            return False
        given = TensorType.of(op.operands[0])
        if given is None or given.element not in torch.FLOATS or TensorType.of(op.results[0]) is None:
            return False
        return torch.is_none(op.operands[3])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        return [apply(RMS_NORM, [*list(op.operands)[:3], torch.real(LEAST)], made)]
