"""The sizes of shuffled pixels and channels, derived from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType

_ENLARGES = {"aten.pixel_shuffle": 1, "aten.pixel_unshuffle": -1, "aten.channel_shuffle": 0}
"""Op -> whether the image becomes larger, and has fewer channels, or the other way round."""


@register_pass
@dataclass(frozen=True)
class TypeShuffles(FrontEndRemedy):
    """Derives the sizes of the result of `aten.pixel_shuffle`, `pixel_unshuffle` and `channel_shuffle` where the operand has them and the type of the result does not.

    IREE 3.13 computes these sizes as it merges dimensions, and then rejects a result whose type does not have them. Run it on the program as
    it was imported.
    """

    name: ClassVar[str] = "fissile-type-shuffles"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "gives the result of `aten.pixel_shuffle`, `pixel_unshuffle` and `channel_shuffle` the sizes that follow from the operand (in the input)"
    )
    repairs: ClassVar[str] = (
        "such ops whose result has a type with fewer known sizes than the operand, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "derived the sizes of its result from the operand"
    advice: ClassVar[str] = "derive the sizes of its result from the operand"

    def fits(self, op: ir.Operation) -> bool:
        found = _derived(op)
        return found is not None and found != TensorType.of(op.results[0])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        found = _derived(op)
        assert found is not None  # `fits`
        made = torch.apply(torch.front_end_name(op), list(op.operands), found)
        return [torch.cast(made, op.results[0].type)]


def _derived(op: ir.Operation) -> TensorType | None:
    """The result's type with what is known from the operand; None where the two contradict each other, or the factor is not known."""
    enlarges = _ENLARGES.get(torch.front_end_name(op))
    if enlarges is None or len(op.operands) != 2 or len(op.results) != 1:
        return None
    given, made, factor = (
        TensorType.of(op.operands[0]), TensorType.of(op.results[0]), torch.integer_of(op.operands[1]),
    )  # fmt: skip
    if given is None or made is None or factor is None or factor < 1:
        return None
    if len(given.shape) != len(made.shape) or len(given.shape) < 3 or 0 in given.shape:
        return None
    *batch, channels, height, width = given.shape
    if enlarges:
        channels = _scaled(channels, factor * factor, enlarges < 0)
        height, width = (_scaled(size, factor, enlarges > 0) for size in (height, width))
    sizes = []
    for size, stated in zip((*batch, channels, height, width), made.shape, strict=True):
        if size is not None and stated not in (None, size):
            return None
        sizes.append(stated if size is None else size)
    return TensorType(tuple(sizes), made.element)


def _scaled(size: int | None, factor: int, larger: bool) -> int | None:
    if size is None:
        return None
    return size * factor if larger else size // factor
