"""Reshapes of tensors without elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply


@register_pass
@dataclass(frozen=True)
class ReshapeEmpty(FrontEndRemedy):
    """Writes an `onnx.Reshape` to a shape with a size of 0 as a tensor of that shape, which has no elements.

    IREE 3.13 divides by the number of elements, and crashes. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-reshape-empty"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes an `onnx.Reshape` to a shape without elements as a tensor of that shape (in the input)"
    )
    repairs: ClassVar[str] = "reshapes of tensors without elements, which IREE crashes on (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as a tensor without elements"
    advice: ClassVar[str] = "write it as a tensor without elements"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "onnx.Reshape" or len(op.operands) != 2 or len(op.results) != 1:
            return False
        made = TensorType.of(op.results[0])
        return (
            made is not None
            and made.element in torch.NUMBERS
            and None not in made.shape
            and any(size == 0 for size in made.shape)
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        sizes = torch.integers([size or 0 for size in made.shape])
        nothing = torch.none()
        values = [sizes, torch.integer(torch.NUMBERS[made.element]), nothing, nothing, nothing]
        return [apply("aten.zeros", values, made)]
