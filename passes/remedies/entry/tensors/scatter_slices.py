"""Slices that an index adds to, fills, copies to or reduces into, as scatters."""

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
from .values import INDICES, INTEGERS, axis_of, from_front, inserted, size_of, type_of

_ADD, _COPY, _REDUCE = "aten.index_add", "aten.index_copy", "aten.index_reduce"
_FILL, _FILL_BY = "aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor"
_OPERANDS = {_ADD: 5, _COPY: 4, _FILL: 4, _FILL_BY: 4, _REDUCE: 6}
_COPIED = (*FLOATS, *INTEGERS, "si16", "si8", "ui8", "i1")
"""Of a copy, as in the cache of a quantised model."""
_NEUTRAL = {"prod": 1.0, "amax": -inf, "amin": inf, "mean": 0.0}
"""What a reduction of `aten.index_reduce` begins with where it leaves out what was there."""


@register_pass
@dataclass(frozen=True)
class ScatterSlices(FrontEndRemedy):
    """Writes `aten.index_add`, `index_copy`, `index_fill` and `index_reduce` as scatters by an index that is broadcast to the slices.

    Slices that the index names several times add up. Floats of 16 bits are added as f32, and rounded once. Sizes may be dynamic. The
    torch dialect of IREE 3.13 has none of these ops. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scatter-slices"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.index_add`, `index_copy`, `index_fill` and `index_reduce` with scatters (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.index_add`, `aten.index_copy`, `aten.index_fill` and `aten.index_reduce`, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical; the sums of `index_add` and `index_reduce` may be reordered"
    done: ClassVar[str] = "rewrote it as a scatter"
    advice: ClassVar[str] = "rewrite it as a scatter"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.operands) != _OPERANDS.get(name) or len(op.results) != 1:
            return False
        value, index = TensorType.of(op.operands[0]), TensorType.of(op.operands[2])
        if value is None or index is None or not value.shape or TensorType.of(op.results[0]) is None:
            return False
        elements = _COPIED if name == _COPY else (*FLOATS, *INTEGERS)
        if value.element not in elements or index.element not in INDICES or len(index.shape) != 1:
            return False
        if axis_of(op.operands[1], len(value.shape)) is None:
            return False
        source, is_float = TensorType.of(op.operands[3]), value.element in FLOATS
        if name == _FILL:
            number = torch.number_of(op.operands[3])
            return number is not None and (is_float or isinstance(number, int))
        if source is None or source.element != value.element:
            return False
        if len(source.shape) != (0 if name == _FILL_BY else len(value.shape)):
            return False
        if name == _ADD:
            factor = torch.number_of(op.operands[4])
            return factor is not None and (is_float or isinstance(factor, int))
        if name == _REDUCE:
            kind, with_self = torch.string_of(op.operands[4]), torch.boolean_of(op.operands[5])
            # What begins a reduction of integers would need their limits, and PyTorch rounds their mean down.
            return kind in _NEUTRAL and (is_float or (with_self is True and kind != "mean"))
        return True

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, value, index = torch.front_end_name(op), op.operands[0], op.operands[2]
        of_value = type_of(value)
        axis = axis_of(op.operands[1], len(of_value.shape))
        assert axis is not None
        added = name in (_ADD, _REDUCE) and of_value.element in FLOATS
        wide = "f32" if added else of_value.element
        value, index = torch.converted(value, wide), torch.converted(index, "si64")
        made = type_of(value)
        dim = torch.integer(axis)
        if name in (_FILL, _FILL_BY):
            index = from_front(index, size_of(value, axis))
        if name == _FILL:
            index = _broadcast(index, value, axis)
            number = torch.number_of(op.operands[3])
            assert number is not None
            filler = torch.real(float(number)) if wide in FLOATS else torch.integer(int(number))
            found = apply("aten.scatter.value", [value, dim, index, filler], made)
            return [torch.cast(torch.converted(found, of_value.element), op.results[0].type)]
        source = torch.converted(op.operands[3], wide)
        if name == _FILL_BY:
            index = _broadcast(index, value, axis)
            source = _expanded(
                source, [size_of(index, one) for one in range(len(made.shape))], type_of(index)
            )
        else:
            index = _broadcast(index, source, axis)
        if name == _ADD:
            factor = torch.number_of(op.operands[4])
            if factor != 1:
                source = apply("aten.mul.Scalar", [source, op.operands[4]], type_of(source))
            found = apply("aten.scatter_add", [value, dim, index, source], made)
        elif name == _REDUCE:
            with_self = bool(torch.boolean_of(op.operands[5]))
            found = _reduced(value, axis, index, source, torch.string_of(op.operands[4]) or "", with_self)
        else:
            found = apply("aten.scatter.src", [value, dim, index, source], made)
        return [torch.cast(torch.converted(found, of_value.element), op.results[0].type)]


def _broadcast(index: ir.Value, like: ir.Value, axis: int) -> ir.Value:
    """``index`` along ``axis``, and in the other dimensions as large as ``like``."""
    rank, known = len(type_of(like).shape), type_of(index).shape[0]
    if rank == 1:
        return index
    sizes = [size_of(index, 0) if dim == axis else size_of(like, dim) for dim in range(rank)]
    for dim in range(rank):
        if dim != axis:
            index = inserted(index, dim)
    return _expanded(index, sizes, type_of(like).with_size(axis, known))


def _expanded(value: ir.Value, sizes: list[ir.Value], like: TensorType) -> ir.Value:
    made = TensorType(like.shape, type_of(value).element)
    return apply("aten.broadcast_to", [value, torch.listed(sizes)], made)


def _reduced(
    value: ir.Value, axis: int, index: ir.Value, source: ir.Value, kind: str, with_self: bool
) -> ir.Value:
    """What `aten.index_reduce` gives; ``with_self``: with the elements of ``value`` that the index names."""
    made, dim = type_of(value), torch.integer(axis)
    if not with_self:
        start = torch.real(_NEUTRAL[kind])
        value = apply("aten.scatter.value", [value, dim, index, start], made)
    if kind != "mean":
        named = [torch.string(kind), torch.boolean(True)]
        return apply("aten.scatter_reduce.two", [value, dim, index, source, *named], made)
    total = apply("aten.scatter_add", [value, dim, index, source], made)
    ones, zeros = (_filled(one, number) for one, number in ((source, 1.0), (value, float(with_self))))
    count = apply("aten.scatter_add", [zeros, dim, index, ones], made)
    count = apply("aten.clamp", [count, torch.real(1.0), torch.none()], made)
    return apply("aten.div.Tensor", [total, count], made)


def _filled(like: ir.Value, number: float) -> ir.Value:
    options = [torch.none() for _option in range(5)]
    return apply("aten.full_like", [like, torch.real(number), *options], type_of(like))
