"""Differences of neighbours as slices and subtractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_MOST_TIMES = 16


@register_pass
@dataclass(frozen=True)
class DecomposeDiff(FrontEndRemedy):
    """Writes `aten.diff` as torch defines it: `prepend` and `append` are concatenated, then x[1:] - x[:-1], n times.

    The torch dialect of IREE 3.13 has no `aten.diff`. Booleans differ where they are not equal. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-diff"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces `aten.diff` with concatenations, slices and subtractions (in the input)"
    repairs: ClassVar[str] = (
        "`aten.diff`, which IREE rejects and the masks of exported language models use (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as slices and a subtraction"
    advice: ClassVar[str] = "rewrite it as slices and a subtraction"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.diff" or len(op.operands) != 5:
            return False
        value, times, dim, prepend, append = op.operands
        types = [torch.TensorType.of(one) for one in (value, prepend, append) if not torch.is_none(one)]
        count, axis = torch.integer_of(times), torch.integer_of(dim)
        if count is None or axis is None or any(one is None for one in types):
            return False
        ranks = {(len(one.shape), one.element) for one in types if one is not None}
        if len(ranks) != 1 or not 1 <= count <= _MOST_TIMES:
            return False
        [(rank, _element)] = ranks
        if not -rank <= axis < rank:
            return False
        sizes = [one.shape[axis] for one in types if one is not None]
        return None in sizes or sum(size or 0 for size in sizes) > count

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, times, dim, prepend, append = op.operands
        type_, axis = torch.TensorType.of(value), torch.integer_of(dim)
        assert type_ is not None and axis is not None
        axis %= len(type_.shape)
        parts = [one for one in (prepend, value, append) if not torch.is_none(one)]
        value = torch.concatenated(parts, axis) if len(parts) > 1 else value
        for _time in range(torch.integer_of(times) or 0):
            later, earlier = torch.sliced(value, axis, 1, None), torch.sliced(value, axis, 0, -1)
            made = torch.TensorType.of(later)
            assert made is not None
            if made.element == "i1":
                value = torch.apply("aten.ne.Tensor", [later, earlier], made)
            else:
                value = torch.apply("aten.sub.Tensor", [later, earlier, torch.integer(1)], made)
        return [torch.cast(value, op.results[0].type)]
