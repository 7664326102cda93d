"""The parts of a tensor that a model of an old opset splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.unknown_sizes import integers, number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class SliceParts(FrontEndRemedy):
    """Writes an `onnx.Split` whose sizes are an attribute, as they are up to opset 12, as a slice for each part.

    IREE 3.13 does not read the attribute, and makes equal parts (FIS162). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-slice-parts"
    cures: ClassVar[tuple[str, ...]] = ("FIS162",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "writes an `onnx.Split` with the attribute `split` as slices (in the input)"
    repairs: ClassVar[str] = (
        "Split in models of opset 12 or older, of which IREE makes equal parts: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as slices"
    advice: ClassVar[str] = "write it as slices"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.Split" or len(op.operands) != 1:
            return False
        given, sizes = torch.TensorType.of(op.operands[0]), integers(op, "split")
        if given is None or sizes is None or len(sizes) != len(op.results) or min(sizes) < 0:
            return False
        rank, axis = len(given.shape), number(op, "axis", 0)
        return -rank <= axis < rank and given.shape[axis] in (None, sum(sizes))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        given, sizes = torch.TensorType.of(op.operands[0]), integers(op, "split")
        assert given is not None and sizes is not None  # `fits`
        axis = number(op, "axis", 0) % len(given.shape)
        made, begin = [], 0
        for size, result in zip(sizes, op.results, strict=True):
            end = begin + size
            bounds = [torch.integer(one) for one in (axis, begin, end, 1)]
            part = torch.apply("aten.slice.Tensor", [op.operands[0], *bounds], given.with_size(axis, size))
            made.append(torch.cast(part, result.type))
            begin = end
        return made
