"""Slices that are written at an index from the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import axis_of, python_remainder, size_of, type_of
from ..torch_ops import TensorType, apply


@register_pass
@dataclass(frozen=True)
class CountIndices(FrontEndRemedy):
    """Counts the index of an `aten.select_scatter` from the front.

    IREE 3.13 writes it as a slice from the index to the one behind it: from -1 to 0, which is empty, so that `x[:, -1] = y` writes nothing
    (FIS162). An index that the call decides is counted when the program runs. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-count-indices"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "counts the index of an `aten.select_scatter` from the front (in the input)"
    repairs: ClassVar[str] = (
        "`x[:, -1] = y` and other writes at the last index of a dimension, which IREE leaves out: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "counted its index from the front"
    advice: ClassVar[str] = "count the index from the front: `x[:, x.size(1) - 1] = y`"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.select_scatter" or len(op.operands) != 4 or len(op.results) != 1:
            return False
        x, index = TensorType.of(op.operands[0]), torch.integer_of(op.operands[3])
        return x is not None and axis_of(op.operands[2], len(x.shape)) is not None and index in (None, -1)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        x, part, dim, index = op.operands
        axis = axis_of(dim, len(type_of(x).shape)) or 0
        size, number = type_of(x).shape[axis], torch.integer_of(index)
        if number is not None and size is not None:
            index = torch.integer(number + size)
        else:
            index = python_remainder(index, size_of(x, axis))
        return [apply("aten.select_scatter", [x, part, torch.integer(axis), index], op.results[0].type)]
