"""Average pools of ONNX with windows that reach behind the image, under PyTorch's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.analysis.imports.pooling import has_partial_windows, windows_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_OPS = {1: "aten.avg_pool1d", 2: "aten.avg_pool2d", 3: "aten.avg_pool3d"}


@register_pass
@dataclass(frozen=True)
class PoolWindows(FrontEndRemedy):
    """Writes an `onnx.AveragePool` with partial windows as `aten.avg_pool1d`, `2d` or `3d`.

    IREE 3.13 divides the last windows of an ONNX pool with ceil_mode = 1 by the elements of a whole one (FIS162), and those of PyTorch's op, which it
    makes of it, rightly. Paddings are the same before and after, there is no dilation, and the sizes are known. Run it on the program as
    it was imported.
    """

    name: ClassVar[str] = "fissile-pool-windows"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `onnx.AveragePool` whose last windows reach behind the image with `aten.avg_pool2d` and the like (in the input)"
    )
    repairs: ClassVar[str] = (
        "such pools, whose last windows IREE divides by too many elements: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as torch.nn.functional.avg_pool"
    advice: ClassVar[str] = "rewrite it as torch.nn.functional.avg_pool"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.AveragePool" or not has_partial_windows(op):
            return False
        windows = windows_of(op) or []
        return len(windows) in _OPS and all(one.before == one.after and one.dilation == 1 for one in windows)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        windows = windows_of(op) or []
        lists = [
            torch.integers([getattr(one, name) for one in windows]) for name in ("elements", "step", "before")
        ]
        counted = attribute(op, f"{torch.ONNX_ATTRIBUTE}count_include_pad")
        pads_count = counted is not None and ir.IntegerAttr(counted).value != 0
        operands = [op.operands[0], *lists, torch.boolean(True), torch.boolean(pads_count)]
        if len(windows) > 1:
            operands.append(torch.none())
        return [torch.apply(_OPS[len(windows)], operands, op.results[0].type)]
