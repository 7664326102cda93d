"""Gradients of slices, as slices of zeros that are overwritten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import filled
from ..front_end import FrontEndRemedy
from ..tensors.values import INTEGERS, axis_of, inserted, type_of
from ..torch_ops import TensorType, apply

_SELECT, _SLICE, _DIAGONAL = "aten.select_backward", "aten.slice_backward", "aten.diagonal_backward"
_SCATTER = "aten.diagonal_scatter"
_OPERANDS = {_SELECT: 4, _SLICE: 6, _DIAGONAL: 5, _SCATTER: 5}
_LAST = 2**63 - 1


@register_pass
@dataclass(frozen=True)
class PlaceSlices(FrontEndRemedy):
    """Writes `aten.slice_backward`, `select_backward` and `diagonal_backward` as zeros in which the gradient takes the place of the slice.

    And `aten.diagonal_scatter`, with which `torch.func.jacrev` begins. IREE 3.13 has no lowering for any of them. Sizes may be dynamic; of a diagonal only the main one is written, of two dimensions
    of one known size. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-place-slices"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.slice_backward`, `select_backward`, `diagonal_backward` and `diagonal_scatter` with a slice that is overwritten (in the input)"
    )
    repairs: ClassVar[str] = "gradients of slices and diagonals that are set, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as a slice that is overwritten"
    advice: ClassVar[str] = "rewrite it as a slice that is overwritten"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.operands) != _OPERANDS.get(name) or len(op.results) != 1:
            return False
        given, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
        if given is None or made is None or given.element != made.element:
            return False
        rank = len(made.shape)
        if made.element not in (*torch.FLOATS, *INTEGERS):
            return False
        if name == _SCATTER:
            if TensorType.of(op.operands[1]) is None or rank != len(given.shape):
                return False
        elif not _is_list_of(op.operands[1], rank):
            return False
        if name in (_DIAGONAL, _SCATTER):
            dims = [axis_of(one, rank) for one in op.operands[3:5]]
            sizes = [made.shape[dim] for dim in dims if dim is not None]
            return (
                len(sizes) == 2 and sizes[0] == sizes[1] is not None and torch.integer_of(op.operands[2]) == 0
            )
        if axis_of(op.operands[2], rank) is None or len(given.shape) != rank - (name == _SELECT):
            return False
        return name == _SLICE or torch.integer_of(op.operands[3]) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, slope = torch.front_end_name(op), op.operands[0]
        made = type_of(op.results[0])
        if name == _DIAGONAL:
            return [_on_diagonal(op, slope, made, None)]
        if name == _SCATTER:
            return [_on_diagonal(op, op.operands[1], made, op.operands[0])]
        axis = axis_of(op.operands[2], len(made.shape))
        assert axis is not None
        whole = filled(list(op.operands[1].owner.operands), made, 0.0)
        if name == _SELECT:
            at = torch.integer_of(op.operands[3])
            assert at is not None
            slope = inserted(slope, axis)
            bounds = [torch.integer(at), torch.integer(_LAST if at == -1 else at + 1), torch.integer(1)]
        else:
            bounds = list(op.operands[3:6])
        return [apply("aten.slice_scatter", [whole, slope, torch.integer(axis), *bounds], made)]


def _on_diagonal(op: ir.Operation, value: ir.Value, made: TensorType, around: ir.Value | None) -> ir.Value:
    """``value`` along both dimensions, where they meet; its own is the last. Elsewhere what is ``around``, or zeros."""
    first, second = sorted(axis_of(one, len(made.shape)) or 0 for one in op.operands[3:5])
    last = len(made.shape) - 2
    order = [*range(first), last, *range(first, last)]
    moved = type_of(value)
    moved = TensorType(tuple(moved.shape[dim] for dim in order), moved.element)
    if order != sorted(order):
        value = apply("aten.permute", [value, torch.integers(order)], moved)
    value = inserted(value, second)
    end = [
        torch.integer(made.shape[first] or 0),
        *(torch.none() for _option in range(3)),
        torch.boolean(False),
    ]
    count = apply("aten.arange", end, TensorType((made.shape[first],), "si64"))
    rows, columns = count, count
    for _ in range(len(made.shape) - 1 - first):
        rows = inserted(rows, len(type_of(rows).shape))
    for _ in range(len(made.shape) - 1 - second):
        columns = inserted(columns, len(type_of(columns).shape))
    ones = (1,) * (len(made.shape) - 1 - second)
    met = TensorType(
        (made.shape[first], *(1 for _ in range(second - first - 1)), made.shape[first], *ones), "i1"
    )
    here = apply("aten.eq.Tensor", [rows, columns], met)
    if around is not None:
        return apply("aten.where.self", [here, value, around], made)
    zero = torch.real(0.0) if made.element in torch.FLOATS else torch.integer(0)
    return apply("aten.where.ScalarOther", [here, value, zero], made)


def _is_list_of(value: ir.Value, count: int) -> bool:
    owner = value.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.name == "torch.prim.ListConstruct"
        and len(owner.operands) == count
    )
