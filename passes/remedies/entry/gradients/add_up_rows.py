"""Gradients of embeddings, as rows that are added up by their index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor, filled
from ..front_end import FrontEndRemedy
from ..tensors.values import INDICES, from_front, size_of, type_of
from ..torch_ops import TensorType, apply

_NAME = "aten.embedding_dense_backward"
_MASKED = "aten._unsafe_masked_index_put_accumulate"
"""What PyTorch decomposes the gradient of an embedding into."""


@register_pass
@dataclass(frozen=True)
class AddUpRows(FrontEndRemedy):
    """Writes `aten.embedding_dense_backward` as zeros to which the gradient's rows are added, each at its index.

    And `aten._unsafe_masked_index_put_accumulate`, which PyTorch decomposes it into. Rows of the padding index count as nothing. Floats of 16 bits are added as f32, and rounded once. IREE 3.13 has no lowering for
    them. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-add-up-rows"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.embedding_dense_backward` and `_unsafe_masked_index_put_accumulate` with rows that are added up by their index (in the input)"
    )
    repairs: ClassVar[str] = "the gradient of an embedding, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as rows that are added up by their index"
    advice: ClassVar[str] = "rewrite it as rows that are added up by their index"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) == _MASKED:
            return _fits_masked(op)
        if torch.front_end_name(op) != _NAME or len(op.operands) != 5 or len(op.results) != 1:
            return False
        slope, index, made = (TensorType.of(one) for one in (*op.operands[:2], op.results[0]))
        if slope is None or index is None or made is None or slope.element not in torch.FLOATS:
            return False
        if index.element not in INDICES or len(slope.shape) != len(index.shape) + 1 or len(made.shape) != 2:
            return False
        # With by_frequency each row would be divided by how often it is used.
        return torch.integer_of(op.operands[3]) is not None and torch.boolean_of(op.operands[4]) is False

    def written(self, op: ir.Operation) -> list[ir.Value]:
        if torch.front_end_name(op) == _MASKED:
            return [_written_masked(op)]
        slope, index, count, padding, _by_frequency = op.operands
        slope, rank = torch.converted(slope, "f32"), len(type_of(index).shape)
        index = torch.converted(index, "si64")
        if rank == 0:
            index = apply("aten.unsqueeze", [index, torch.integer(0)], TensorType((1,), "si64"))
            width = type_of(slope).shape[0]
            slope = apply("aten.unsqueeze", [slope, torch.integer(0)], TensorType((1, width), "f32"))
            rank = 1
        slope, index = torch.merged(slope, 0, rank - 1), torch.merged(index, 0, rank - 1)
        skipped = torch.integer_of(padding)
        if skipped is not None and skipped >= 0:
            counts = Tensor(index).is_("ne", float(skipped)).spread(1)
            slope = counts.chosen(Tensor(slope), 0.0).value
        made = TensorType(type_of(op.results[0]).shape, "f32")
        zeros = filled([count, size_of(slope, 1)], made, 0.0)
        return [Tensor(_added(zeros, index, slope)).as_result(op.results[0])]


def _added(value: ir.Value, index: ir.Value, rows: ir.Value) -> ir.Value:
    """``value`` and the ``rows``, each at its index."""
    chosen = ir.Operation.create(
        "torch.prim.ListConstruct",
        results=[ir.Type.parse("!torch.list<optional<vtensor>>")],
        operands=[index],
    ).result
    return apply("aten.index_put", [value, chosen, rows, torch.boolean(True)], type_of(value))


def _fits_masked(op: ir.Operation) -> bool:
    """With one index, for the first of two dimensions, and a mask of rows."""
    if len(op.operands) != 4 or len(op.results) != 1:
        return False
    listed = op.operands[2].owner
    if isinstance(listed, ir.Block) or len(listed.operands) != 1:
        return False
    value, mask, rows = (TensorType.of(op.operands[at]) for at in (0, 1, 3))
    index = TensorType.of(listed.operands[0])
    if value is None or mask is None or rows is None or index is None or not index.shape:
        return False
    if value.element not in torch.FLOATS or rows.element != value.element or index.element not in INDICES:
        return False
    shapes = mask.shape == (*index.shape, 1) and rows.shape == (*index.shape, *value.shape[1:])
    return shapes and mask.element == "i1" and len(value.shape) == 2


def _written_masked(op: ir.Operation) -> ir.Value:
    value, mask, listed, rows = op.operands
    index = torch.converted(listed.owner.operands[0], "si64")
    last = len(type_of(index).shape) - 1
    index, mask, rows = (torch.merged(one, 0, last) for one in (index, mask, torch.converted(rows, "f32")))
    counts = Tensor(mask)
    # A row that does not count may have an index outside.
    inside = [counts.dropped(1).value, index, torch.integer(0)]
    index = apply("aten.where.ScalarOther", inside, type_of(index))
    index = from_front(index, size_of(value, 0))
    base = torch.converted(value, "f32")
    found = _added(base, index, counts.chosen(Tensor(rows), 0.0).value)
    return Tensor(found).as_result(op.results[0])
