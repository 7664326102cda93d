"""Bilinear upsampling under the name that IREE lowers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_MODES = {"aten.upsample_bilinear2d.vec": "bilinear"}


@register_pass
@dataclass(frozen=True)
class RewriteUpsampling(FrontEndRemedy):
    """Writes `aten.upsample_bilinear2d.vec` as the `aten.__interpolate` that PyTorch's `interpolate` calls it from.

    IREE 3.13 has the op in its torch dialect and no pattern for it. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-rewrite-upsampling"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "replaces `aten.upsample_bilinear2d.vec` with `aten.__interpolate` (in the input)"
    repairs: ClassVar[str] = "bilinear upsampling, which IREE rejects in exported models (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as torch.nn.functional.interpolate"
    advice: ClassVar[str] = "rewrite it as torch.nn.functional.interpolate"

    def fits(self, op: ir.Operation) -> bool:
        return (
            torch.front_end_name(op) in _MODES
            and len(op.operands) == 4
            and torch.TensorType.of(op.operands[0]) is not None
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, size, corners, scales = op.operands
        mode = torch.string(_MODES[torch.front_end_name(op)])
        operands = [value, size, scales, mode, corners, torch.none(), torch.boolean(False)]
        return [torch.apply("aten.__interpolate.size_list_scale_list", operands, op.results[0].type)]
