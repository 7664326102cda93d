"""Rolls by more places than a dimension has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import python_remainder, size_of, type_of
from ..torch_ops import TensorType, apply
from .plans import LIST


@register_pass
@dataclass(frozen=True)
class WrapRolls(FrontEndRemedy):
    """Rolls a dimension by the remainder of the shift and its size.

    IREE 3.13 writes `aten.roll` as two slices from the shift on, which are clamped where it is larger than the size: the tensor is not rolled
    (FIS162). A shift or a size that the call decides is divided when the program runs. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-wrap-rolls"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "shifts an `aten.roll` by the remainder of the shift and the size (in the input)"
    repairs: ClassVar[str] = (
        "rolls by more places than a dimension has, in which IREE moves nothing: wrong numbers on every target (FIS162)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "shifted it by the remainder of the shift and the size"
    advice: ClassVar[str] = "shift it by the remainder of the shift and the size: `shift % x.size(dim)`"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.roll" or len(op.operands) != 3 or len(op.results) != 1:
            return False
        x, dims, owner = (
            TensorType.of(op.operands[0]),
            torch.integers_of(op.operands[2]),
            op.operands[1].owner,
        )
        if x is None or not dims or isinstance(owner, ir.Block) or owner.name != LIST:
            return False
        rank = len(x.shape)
        if len(owner.operands) != len(dims) or any(not -rank <= dim < rank for dim in dims):
            return False
        return any(_is_clamped(shift, x.shape[dim]) for shift, dim in zip(owner.operands, dims, strict=True))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        x, shifts, dims = op.operands
        pairs = zip(shifts.owner.operands, torch.integers_of(dims) or (), strict=True)
        wrapped = torch.listed([_wrapped(x, shift, dim % len(type_of(x).shape)) for shift, dim in pairs])
        return [apply("aten.roll", [x, wrapped, dims], op.results[0].type)]


def _is_clamped(shift: ir.Value, size: int | None) -> bool:
    """Whether a slice from ``shift`` on may be clamped. By one place it is right of every size."""
    number = torch.integer_of(shift)
    if number is None or size is None:
        return number is None or abs(number) > 1
    return size > 0 and not -size < number <= size


def _wrapped(x: ir.Value, shift: ir.Value, dim: int) -> ir.Value:
    size, number = type_of(x).shape[dim], torch.integer_of(shift)
    if not _is_clamped(shift, size):
        return shift
    if number is not None and size is not None:
        return torch.integer(number % size)
    sizes = apply("prim.max.int", [size_of(x, dim), torch.integer(1)], ir.Type.parse("!torch.int"))
    return python_remainder(shift, sizes)
