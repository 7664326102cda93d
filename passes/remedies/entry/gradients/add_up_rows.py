"""Gradients of embeddings, as rows that are added up by their index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import INDICES, size_of, type_of
from ..torch_ops import TensorType, apply
from .formulas import Tensor, filled

_NAME = "aten.embedding_dense_backward"


@register_pass
@dataclass(frozen=True)
class AddUpRows(FrontEndRemedy):
    """Writes `aten.embedding_dense_backward` as zeros to which the gradient's rows are added, each at its index.

    Rows of the padding index count as nothing. Floats of 16 bits are added as f32, and rounded once. IREE 3.13 has no lowering for it. Run it
    on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-add-up-rows"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten.embedding_dense_backward` with rows that are added up by their index (in the input)"
    )
    repairs: ClassVar[str] = "the gradient of an embedding, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as rows that are added up by their index"
    advice: ClassVar[str] = "rewrite it as rows that are added up by their index"

    def fits(self, op: ir.Operation) -> bool:
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
        chosen = ir.Operation.create(
            "torch.prim.ListConstruct",
            results=[ir.Type.parse("!torch.list<optional<vtensor>>")],
            operands=[index],
        ).result
        found = apply("aten.index_put", [zeros, chosen, slope, torch.boolean(True)], made)
        return [Tensor(found).as_result(op.results[0])]
