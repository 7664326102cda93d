"""Channels whose elements become blocks of an image, one channel of the result after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class ShufflePixels(FrontEndRemedy):
    """Writes an `onnx.DepthToSpace` with mode = CRD as `torch.aten.pixel_shuffle`, which is the same op.

    IREE 3.13 splits the channels in the order of the other mode, and then exchanges dimensions as CRD does (FIS162). Run it on the
    program as it was imported.
    """

    name: ClassVar[str] = "fissile-shuffle-pixels"
    cures: ClassVar[tuple[str, ...]] = ("FIS162",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.DepthToSpace` with mode = CRD as `torch.aten.pixel_shuffle` (in the input)"
    )
    repairs: ClassVar[str] = (
        "such ops, of which IREE takes other channels: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as a pixel shuffle"
    advice: ClassVar[str] = "write it as a pixel shuffle"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.DepthToSpace" or len(op.operands) != 1:
            return False
        given = torch.TensorType.of(op.operands[0])
        return (
            given is not None
            and len(given.shape) == 4
            and number(op, "blocksize", 0) > 0
            and text_of(op, "torch.onnx.mode") == "CRD"
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        side = torch.integer(number(op, "blocksize", 0))
        return [torch.apply("aten.pixel_shuffle", [op.operands[0], side], op.results[0].type)]
