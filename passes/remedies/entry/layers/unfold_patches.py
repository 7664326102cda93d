"""The patches of an image, taken out row by row and column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_MOST_SLICES = 128
"""Of both dimensions together. Each is a copy."""
_LAST = 2**63 - 1


@dataclass(frozen=True)
class Windows:
    """How patches lie along one dimension."""

    size: int
    dilation: int
    padding: int
    stride: int

    def count(self, length: int | None) -> int | None:
        """How many there are along ``length`` elements; below 1 if none fits."""
        if length is None:
            return None
        return (length + 2 * self.padding - self.dilation * (self.size - 1) - 1) // self.stride + 1


def windows_of(operands: list[ir.Value]) -> tuple[Windows, Windows] | None:
    """Those along height and width, from the kernel's size, dilation, padding and stride; None where they are not known."""
    lists = [torch.integers_of(one) for one in operands]
    known = [one for one in lists if one is not None and len(one) == 2]
    if len(known) != 4:
        return None
    tall, wide = (Windows(*numbers) for numbers in zip(*known, strict=True))
    good = (min(one.size, one.dilation, one.stride) > 0 <= one.padding for one in (tall, wide))
    return (tall, wide) if all(good) else None


@register_pass
@dataclass(frozen=True)
class UnfoldPatches(FrontEndRemedy):
    """Writes `aten.im2col` (`F.unfold`) as one slice for each row and each column of the kernel.

    A slice holds what one row of the kernel meets, with the stride as its step; the slices of the rows lie one after the other, and so
    do those of the columns of what they hold. All sizes may be dynamic. IREE 3.13 has no lowering for the op. Run it on
    the program as it was imported.
    """

    name: ClassVar[str] = "fissile-unfold-patches"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.im2col` with slices for each row and column of the kernel (in the input)"
    )
    repairs: ClassVar[str] = "the patches of images (`F.unfold`), which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as slices"
    advice: ClassVar[str] = "rewrite it as slices"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.im2col" or len(op.operands) != 5:
            return False
        type_, windows = torch.TensorType.of(op.operands[0]), windows_of(list(op.operands)[1:])
        if type_ is None or windows is None or len(type_.shape) not in (3, 4):
            return False
        counts = [one.count(size) for one, size in zip(windows, type_.shape[-2:], strict=True)]
        some = all(count is None or count > 0 for count in counts)
        small = sum(one.size for one in windows) <= _MOST_SLICES
        return some and small and type_.element in torch.FLOATS

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, windows = op.operands[0], windows_of(list(op.operands)[1:])
        given = torch.TensorType.of(value)
        assert given is not None and windows is not None
        value = _padded(value, windows)
        channels = len(given.shape) - 3
        for number, one in enumerate(windows):
            # [..., channel, (kernel's row,) height, width]: what is taken of the kernel goes before the height.
            value = _taken(value, channels + 1 + number, channels + 1 + 2 * number, one)
        value = torch.merged(value, channels, channels + 2)
        return [torch.cast(torch.merged(value, channels + 1, channels + 2), op.results[0].type)]


def _padded(value: ir.Value, windows: tuple[Windows, Windows]) -> ir.Value:
    """``value`` with zeros around height and width."""
    tall, wide = (one.padding for one in windows)
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    if not tall and not wide:
        return value
    sizes = [
        None if size is None else size + 2 * more
        for size, more in zip(type_.shape[-2:], (tall, wide), strict=True)
    ]
    made = torch.TensorType((*type_.shape[:-2], *sizes), type_.element)
    around = torch.integers([wide, wide, tall, tall])
    return torch.apply("aten.constant_pad_nd", [value, around, torch.real(0.0)], made)


def _taken(value: ir.Value, place: int, dim: int, windows: Windows) -> ir.Value:
    """What each element of the kernel meets along ``dim``, in a new dimension at ``place``."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    size = type_.shape[dim]
    reach = windows.dilation * (windows.size - 1)
    count = None if size is None else (size - reach - 1) // windows.stride + 1
    sliced = type_.with_size(dim, count)
    apart = torch.TensorType((*sliced.shape[:place], 1, *sliced.shape[place:]), type_.element)
    parts = []
    for number in range(windows.size):
        begin = number * windows.dilation
        bounds = (dim, begin, begin - reach or _LAST, windows.stride)
        part = torch.apply("aten.slice.Tensor", [value, *(torch.integer(one) for one in bounds)], sliced)
        parts.append(torch.apply("aten.unsqueeze", [part, torch.integer(place)], apart))
    return torch.concatenated(parts, place)
