"""Bags of embeddings: sums, means and extremes of rows of a table."""

from __future__ import annotations

from math import inf

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import INDICES, broadcast_shape, inserted, size_of, type_of
from ..torch_ops import TensorType, apply
from .composite import Composite, compared

_SUM, _MEAN, _MAX = 0, 1, 2


def _ends(offsets: ir.Value, indices: ir.Value, has_last: bool) -> tuple[ir.Value, ir.Value]:
    """Where each bag begins, and where it ends."""
    last = torch.sliced(offsets, 0, 1, None)
    if has_last:
        return torch.sliced(offsets, 0, 0, -1), last
    options = [torch.none() for _option in range(3)]
    number = torch.integer(torch.NUMBERS[type_of(offsets).element])
    filled = [torch.listed([torch.integer(1)]), size_of(indices, 0), number, *options]
    made = TensorType((1,), type_of(offsets).element)
    return offsets, torch.concatenated([last, apply("aten.full", filled, made)], 0)


def _both(left: ir.Value, right: ir.Value) -> ir.Value:
    made = TensorType(broadcast_shape([type_of(left).shape, type_of(right).shape]), "i1")
    return apply("aten.logical_and", [left, right], made)


def _members(op: ir.Operation) -> ir.Value:
    """Bags x indices: whether the index is in the bag."""
    indices, offsets, skipped = op.operands[1], op.operands[2], op.operands[8]
    begin, end = _ends(offsets, indices, bool(torch.boolean_of(op.operands[7])))
    count = type_of(indices).shape[0]
    options = [*(torch.none() for _option in range(3)), torch.boolean(False)]
    made = TensorType((count,), "si64")
    places = inserted(apply("aten.arange", [size_of(indices, 0), *options], made), 0)
    begin, end = (inserted(torch.converted(one, "si64"), 1) for one in (begin, end))
    at = Tensor(places)
    inside = _both(compared(at, "ge", Tensor(begin)).value, compared(at, "lt", Tensor(end)).value)
    if torch.is_none(skipped):
        return inside
    kept = apply("aten.ne.Scalar", [indices, skipped], TensorType((count,), "i1"))
    return _both(inside, inserted(kept, 0))


def _bags(op: ir.Operation) -> list[Tensor]:
    table, indices, weights = op.operands[0], op.operands[1], op.operands[6]
    rows = type_of(table).with_size(0, type_of(indices).shape[0])
    taken = Tensor.wide(apply("aten.index_select", [table, torch.integer(0), indices], rows))
    if not torch.is_none(weights):
        taken = taken * Tensor(inserted(Tensor.wide(weights).value, 1))
    inside = _members(op)
    member, mode = Tensor(inserted(inside, 2)), torch.integer_of(op.operands[4])
    counted = Tensor(torch.converted(inside, "f32")).summed([1])
    if mode == _MAX:
        found = counted.is_("lt", 1.0).chosen(0.0, member.chosen(taken, -inf).largest(1).dropped(1))
    else:
        found = member.chosen(taken, 0.0).summed([1], keep=False)
    if mode == _MEAN:
        found = found / counted.at_least(1.0)
    shapes = [[size or 0 for size in type_of(one).shape] for one in list(op.results)[1:]]
    return [found, *(Tensor(torch.table(np.zeros(shape, np.int64))) for shape in shapes)]


def _is_bag(op: ir.Operation) -> bool:
    """The results beside the bags are for gradients, and are not used."""
    table, indices, offsets = (TensorType.of(one) for one in list(op.operands)[:3])
    if table is None or indices is None or offsets is None or table.element not in torch.FLOATS:
        return False
    ranks = [len(one.shape) for one in (table, indices, offsets)]
    if ranks != [2, 1, 1] or not {indices.element, offsets.element} <= {*INDICES}:
        return False
    mode, skipped, weights = torch.integer_of(op.operands[4]), op.operands[8], op.operands[6]
    if mode not in (_SUM, _MEAN, _MAX) or torch.boolean_of(op.operands[7]) is None:
        return False
    if not torch.is_none(skipped) and not _is_row(op, torch.integer_of(skipped)):
        return False
    if not torch.is_none(weights) and (mode != _SUM or TensorType.of(weights) is None):
        return False
    others = list(op.results)[1:]
    known = all((made := TensorType.of(one)) and None not in made.shape for one in others)
    return known and not any(list(one.uses) for one in others)


def _is_row(op: ir.Operation, number: int | None) -> bool:
    """Whether the row that counts for nothing is one from the front; -1 is none but for the composite op, where it is the last."""
    if number is None:
        return False
    return number >= 0 or number == -1 and torch.front_end_name(op) != _COMPOSITE


_COMPOSITE = "aten.embedding_bag.padding_idx"
BAGS = {
    name: Composite(9, _bags, _is_bag, floats=False)
    for name in (_COMPOSITE, "aten._embedding_bag", "aten._embedding_bag_forward_only")
}
"""Op -> what takes its place."""
