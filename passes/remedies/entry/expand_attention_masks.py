"""Attention masks of the rank that IREE's import of attention expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from . import torch_ops as torch
from .front_end import FrontEndRemedy

_QUERY, _MASK = 0, 3
_ATTENTION = "aten.scaled_dot_product_attention"


@register_pass
@dataclass(frozen=True)
class ExpandAttentionMasks(FrontEndRemedy):
    """Gives the mask of `aten.scaled_dot_product_attention` leading dimensions of size 1, up to the query's rank.

    torch broadcasts a mask of any rank over batches and heads. IREE 3.13 collapses the mask's leading dimensions as if it had the
    query's rank, and stops. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-expand-attention-masks"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "adds leading dimensions of size 1 to an attention mask, up to the query's rank (in the input)"
    )
    repairs: ClassVar[str] = (
        "attentions whose mask has fewer dimensions than the query, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "gave the mask the query's rank"
    advice: ClassVar[str] = "give the mask the query's rank"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != _ATTENTION or op.name == torch.OPERATOR or len(op.operands) <= _MASK:
            return False
        query, mask = torch.TensorType.of(op.operands[_QUERY]), torch.TensorType.of(op.operands[_MASK])
        return query is not None and mask is not None and 2 <= len(mask.shape) < len(query.shape)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        query, type_ = (torch.TensorType.of(op.operands[k]) for k in (_QUERY, _MASK))
        assert query is not None and type_ is not None
        operands = list(op.operands)
        while len(type_.shape) < len(query.shape):
            type_ = torch.TensorType((1, *type_.shape), type_.element)
            operands[_MASK] = torch.apply("aten.unsqueeze", [operands[_MASK], torch.integer(0)], type_)
        return [torch.apply(_ATTENTION, operands, op.results[0].type)]
