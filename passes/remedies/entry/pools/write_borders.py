"""Convolutions that keep the size with an even window, and pads of PyTorch that take elements away, with their borders written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..tensors.values import type_of
from ..torch_ops import FLOATS, TensorType, apply

_SPATIAL = {f"aten.conv{count}d.padding": count for count in (1, 2, 3)}
"""Op -> how many dimensions its window has."""
_PAD = "aten.pad"


@register_pass
@dataclass(frozen=True)
class WriteBorders(FrontEndRemedy):
    """Writes a convolution with padding "same" and an even window as a pad and a convolution without, and an `aten.pad` with negative widths
    and mode replicate or circular as slices and a pad that only adds elements.

    IREE 3.13 pads both sides alike, so that the result is one element short, and does not take elements away (FIS162); where the sizes are
    known it rejects the program. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-write-borders"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS162")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes the border of a convolution that keeps the size with an even window, and of an `aten.pad` with negative widths, as a pad (in the input)"
    )
    repairs: ClassVar[str] = (
        "such convolutions, and such pads with mode replicate or circular: results of another size (FIS162), or an error (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote its border as a pad"
    advice: ClassVar[str] = "pad the input, and convolve it with padding 0"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.results) != 1 or TensorType.of(op.results[0]) is None:
            return False
        if name == _PAD:
            return len(op.operands) == 4 and _crops(op)
        return name in _SPATIAL and len(op.operands) == 7 and _has_even_window(op)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        return [(_cropped if torch.front_end_name(op) == _PAD else _kept_size)(op)]


def _in_front_of(value: ir.Value, widths: list[tuple[int, int]]) -> ir.Value:
    """``value`` with zeros around its last dimensions: before and behind each of ``widths``."""
    type_ = type_of(value)
    first = len(type_.shape) - len(widths)
    shape = [
        size if size is None or at < first else size + sum(widths[at - first])
        for at, size in enumerate(type_.shape)
    ]
    flat = [one for before, behind in reversed(widths) for one in (before, behind)]
    operands = [value, torch.integers(flat), torch.real(0.0)]
    return apply("aten.constant_pad_nd", operands, TensorType(tuple(shape), type_.element))


def _kept_size(op: ir.Operation) -> ir.Value:
    """Zeros on both sides, one more behind where their number is odd, and a convolution without any."""
    value, weight, bias, stride, _padding, dilation, groups = op.operands
    spatial = _SPATIAL[torch.front_end_name(op)]
    window, steps = type_of(weight).shape[2:], _for_each(dilation, spatial)
    totals = [((size or 1) - 1) * step for size, step in zip(window, steps or (), strict=True)]
    padded = _in_front_of(value, [(one // 2, one - one // 2) for one in totals])
    no, zeros = torch.boolean(False), torch.integers([0] * spatial)
    operands = [padded, weight, bias, stride, zeros, dilation, no, zeros, groups]
    return apply("aten.convolution", operands, type_of(op.results[0]))


def _for_each(value: ir.Value, count: int) -> list[int] | None:
    """The constants of a list, of which one may stand for all."""
    found = torch.integers_of(value)
    if found is None or len(found) not in (1, count):
        return None
    return found * count if len(found) == 1 else found


def _has_even_window(op: ir.Operation) -> bool:
    """The others IREE pads rightly."""
    value, weight = TensorType.of(op.operands[0]), TensorType.of(op.operands[1])
    spatial = _SPATIAL[torch.front_end_name(op)]
    if (
        value is None
        or weight is None
        or value.element not in FLOATS
        or not len(value.shape) == len(weight.shape) == spatial + 2
    ):
        return False
    strides, steps = (_for_each(op.operands[at], spatial) for at in (3, 5))
    if strides is None or steps is None or None in weight.shape[2:] or len(torch.integers_of(op.operands[5]) or ()) != spatial:  # fmt: skip
        return False
    if torch.string_of(op.operands[4]) != "same" or set(strides) != {1} or len(torch.integers_of(op.operands[3]) or ()) != spatial:  # fmt: skip
        return False
    return any(((size or 1) - 1) * step % 2 for size, step in zip(weight.shape[2:], steps, strict=True))


def _cropped(op: ir.Operation) -> ir.Value:
    """What the negative widths take away, and a pad of the rest."""
    value, widths, mode, fill = op.operands
    rank, given = len(type_of(value).shape), torch.integers_of(widths) or []
    for at in range(len(given) // 2):
        before, behind = given[2 * at], given[2 * at + 1]
        if min(before, behind) < 0:
            value = torch.sliced(value, rank - 1 - at, max(-before, 0), -max(-behind, 0) or None)
    left = torch.integers([max(one, 0) for one in given])
    return apply("aten.pad", [value, left, mode, fill], type_of(op.results[0]))


def _crops(op: ir.Operation) -> bool:
    """A pad with constants is `fissile-crop-before-padding`'s; a reflection at what is taken away is not that of the rest."""
    value, widths = TensorType.of(op.operands[0]), torch.integers_of(op.operands[1])
    if value is None or not widths or len(widths) % 2 or len(widths) > 2 * len(value.shape):
        return False
    pairs = list(zip(widths[::2], widths[1::2], strict=True))
    sizes = value.shape[::-1]
    left = all(size is None or size + min(a, 0) + min(b, 0) > 0 for (a, b), size in zip(pairs, sizes, strict=False))  # fmt: skip
    return left and min(widths) < 0 and torch.string_of(op.operands[2]) in ("replicate", "circular")
