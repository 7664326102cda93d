"""ONNX's BitCast as the same bits under another element type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_WIDTH = re.compile(r"(?:bf|[fsu]i?)(\d+)")


@register_pass
@dataclass(frozen=True)
class DecomposeBitCast(FrontEndRemedy):
    """Writes `onnx.BitCast` between element types of the same width as `arith.bitcast` of the tensor.

    IREE 3.13 has no lowering for it. A cast that changes the number of elements is left alone, and f64, which IREE makes f32 by default: then
    there are no 64 bits to read.
    """

    name: ClassVar[str] = "fissile-decompose-bitcast"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces `onnx.BitCast` with a bitcast of the tensor (in the input)"
    repairs: ClassVar[str] = "`onnx.BitCast`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as a bitcast of the tensor"
    advice: ClassVar[str] = "rewrite it as a bitcast of the tensor"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.BitCast" or len(op.operands) != 1 or len(op.results) != 1:
            return False
        given, made = torch.TensorType.of(op.operands[0]), torch.TensorType.of(op.results[0])
        if given is None or made is None or given.shape != made.shape:
            return False
        return _width(given.element) is not None and _width(given.element) == _width(made.element)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = torch.TensorType.of(op.results[0])
        assert made is not None
        return [torch.bits_as(op.operands[0], made)]


def _width(element: str) -> int | None:
    """Bits of an element whose type the front end and MLIR spell alike, up to the sign."""
    found = _WIDTH.fullmatch(element) if element != "f64" else None
    return int(found[1]) if found else None
