"""Blocks of an image of unknown size, whose elements become channels."""

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

_MOST = 8
"""Elements of a block along a side: each of its elements is a slice."""


@register_pass
@dataclass(frozen=True)
class GatherBlocks(FrontEndRemedy):
    """Writes an `onnx.SpaceToDepth` as the concatenation of the slices that begin at each element of a block.

    IREE 3.13 divides an unknown size as a float, and rejects that. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-gather-blocks"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.SpaceToDepth` of unknown sizes as slices and a concatenation (in the input)"
    )
    repairs: ClassVar[str] = "such ops, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as slices and a concatenation"
    advice: ClassVar[str] = "write it as slices and a concatenation"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.SpaceToDepth" or len(op.operands) != 1:
            return False
        given = torch.TensorType.of(op.operands[0])
        if given is None or len(given.shape) != 4 or None not in given.shape[2:]:
            return False
        return 1 < number(op, "blocksize", 0) <= _MOST and text_of(op, "torch.onnx.mode") in ("", "DCR")

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, side = op.operands[0], number(op, "blocksize", 0)
        rows = [_every(value, 2, first, side) for first in range(side)]
        parts = [_every(row, 3, first, side) for row in rows for first in range(side)]
        return [torch.cast(torch.concatenated(parts, 1), op.results[0].type)]


def _every(value: ir.Value, dim: int, first: int, step: int) -> ir.Value:
    type_ = torch.TensorType.of(value)
    assert type_ is not None  # `fits`
    size = type_.shape[dim]
    bounds = [torch.integer(one) for one in (dim, first, 2**62, step)]
    made = type_.with_size(dim, None if size is None else (size - first + step - 1) // step)
    return torch.apply("aten.slice.Tensor", [value, *bounds], made)
