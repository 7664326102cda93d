"""Paddings of torch that repeat the tensor, as concatenated slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply
from .values import type_of

_CIRCULAR, _REFLECT = "circular", "reflect"
_REFLECTED = "aten.reflection_pad3d"


@register_pass
@dataclass(frozen=True)
class ConcatenatePads(FrontEndRemedy):
    """Writes `aten.pad` with mode circular, `aten.reflection_pad3d`, and `aten.pad` with mode reflect in three dimensions as a concatenation of slices.

    IREE 3.13 lowers mode reflect in one and two dimensions. Sizes are known, and no width is below 0. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-concatenate-pads"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.pad` with mode circular, and reflect in three dimensions (`aten.reflection_pad3d`), with concatenated slices (in the input)"
    )
    repairs: ClassVar[str] = "such paddings, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as a concatenation of slices"
    advice: ClassVar[str] = "rewrite it as a concatenation of slices"

    def fits(self, op: ir.Operation) -> bool:
        return _planned(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        planned = _planned(op)
        assert planned is not None
        mode, widths = planned
        x = op.operands[0]
        for dim, (before, after) in widths.items():
            x = padded(x, dim, before, after, mode == _REFLECT)
        return [torch.cast(x, op.results[0].type)]


def padded(x: ir.Value, dim: int, before: int, after: int, mirrored: bool = True) -> ir.Value:
    """What repeats the tensor's other end; ``mirrored`` reads from the same end, backwards and without the outermost element.

    Of a size that is not known only ``mirrored``: it is larger than both widths.
    """
    type_ = TensorType.of(x)
    assert type_ is not None
    size = type_.shape[dim]
    if size is None:
        assert mirrored
        return _mirrored(x, dim, before, after)
    if mirrored:
        starts = {"before": 1, "after": size - 1 - after}
    else:
        starts = {"before": size - before, "after": 0}

    def part(which: str, count: int) -> list[ir.Value]:
        if not count:
            return []
        begin = starts[which]
        held = torch.sliced(x, dim, begin, begin + count - size or None)
        of_held = TensorType.of(held)
        assert of_held is not None
        dims = torch.integers([dim])
        return [torch.apply("aten.flip", [held, dims], of_held) if mirrored else held]

    parts = [*part("before", before), x, *part("after", after)]
    return torch.concatenated(parts, dim) if len(parts) > 1 else x


def _mirrored(x: ir.Value, dim: int, before: int, after: int) -> ir.Value:
    """The same of a dimension whose size the call decides: the slices begin at either end of it."""
    parts, dims = [x], torch.integers([dim])
    for number, bounds in ((before, (1, before + 1)), (after, (-after - 1, -1))):
        if not number:
            continue
        kind = type_of(x).with_size(dim, number)
        operands = [x, *(torch.integer(one) for one in (dim, *bounds, 1))]
        flipped = apply("aten.flip", [apply("aten.slice.Tensor", operands, kind), dims], kind)
        parts.insert(0 if bounds[0] > 0 else len(parts), flipped)
    return torch.concatenated(parts, dim) if len(parts) > 1 else x


def _planned(op: ir.Operation) -> tuple[str, dict[int, tuple[int, int]]] | None:
    """The mode, and how much is added before and after each dimension."""
    operands = {"aten.pad": 4, _REFLECTED: 2}
    name = torch.front_end_name(op)
    if len(op.operands) != operands.get(name):
        return None
    type_, widths = TensorType.of(op.operands[0]), torch.integers_of(op.operands[1])
    mode = _REFLECT if name == _REFLECTED else torch.string_of(op.operands[2])
    if type_ is None or not widths or len(widths) % 2 or len(widths) > 2 * len(type_.shape):
        return None
    if mode != _CIRCULAR and not (mode == _REFLECT and len(widths) == 6):
        return None
    last = len(type_.shape) - 1
    added = {last - i: (widths[2 * i], widths[2 * i + 1]) for i in range(len(widths) // 2)}
    for dim, pair in added.items():
        size = type_.shape[dim]
        if size is None or min(pair) < 0 or max(pair) > size - (mode == _REFLECT):
            return None
    return mode, added
