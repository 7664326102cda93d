"""Logarithms of sums of exponentials, below the largest element."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import FLOATS, TensorType, apply
from .values import INTEGERS, as_boolean, type_of, without

_NAMES = ("aten.logsumexp", "aten.special_logsumexp")


@register_pass
@dataclass(frozen=True)
class SumExponentials(FrontEndRemedy):
    """Writes `aten.logsumexp` as torch defines it: the largest element, where it is finite, is subtracted before and added behind.

    Dimensions and their sizes may be any. Integers become f32, and elements of 16 bits are added as f32. IREE 3.13 rejects
    `aten.logsumexp` as it is exported. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-sum-exponentials"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten.logsumexp` with a maximum, exponentials and a sum (in the input)"
    repairs: ClassVar[str] = "`aten.logsumexp`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a maximum, exponentials and a sum"
    advice: ClassVar[str] = "rewrite it as a maximum, exponentials and a sum"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) not in _NAMES or len(op.operands) != 3 or len(op.results) != 1:
            return False
        type_, result = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
        dims = torch.integers_of(op.operands[1])
        if type_ is None or not type_.shape or 0 in type_.shape or result is None or dims is None:
            return False
        if torch.boolean_of(op.operands[2]) is None or result.element not in FLOATS:
            return False
        rank = len(type_.shape)
        distinct = all(-rank <= dim < rank for dim in dims) and len({dim % rank for dim in dims}) == len(dims)
        return distinct and type_.element in (*FLOATS, *INTEGERS)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, result = torch.converted(op.operands[0], "f32"), type_of(op.results[0])
        type_ = type_of(value)
        rank = len(type_.shape)
        dims = sorted(dim % rank for dim in torch.integers_of(op.operands[1]) or range(rank))
        over, keep = torch.integers(dims), torch.boolean(True)
        made = TensorType(
            tuple(1 if dim in dims else size for dim, size in enumerate(type_.shape)), type_.element
        )
        largest = apply("aten.amax", [value, over, keep], made)
        size = apply("aten.abs", [largest], made)
        infinite = apply("aten.eq.Scalar", [size, torch.real(inf)], as_boolean(made))
        largest = apply("aten.where.ScalarSelf", [infinite, torch.real(0.0), largest], made)
        below = apply("aten.sub.Tensor", [value, largest, torch.integer(1)], type_)
        powers = apply("aten.exp", [below], type_)
        total = apply("aten.sum.dim_IntList", [powers, over, keep, torch.none()], made)
        found = apply("aten.log", [total], made)
        found = apply("aten.add.Tensor", [found, largest, torch.integer(1)], made)
        if not torch.boolean_of(op.operands[2]):
            for dim in reversed(dims):
                found = apply("aten.squeeze.dim", [found, torch.integer(dim)], without(type_of(found), dim))
        return [torch.cast(torch.converted(found, result.element), op.results[0].type)]
