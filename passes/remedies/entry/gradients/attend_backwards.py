"""Attention as PyTorch traces it on a CPU, and its gradients, as products and a softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..core.formulas import Tensor, all_floats
from ..front_end import FrontEndRemedy
from ..tensors.values import inserted, size_of
from ..torch_ops import TensorType, apply

_FORWARD = "aten._scaled_dot_product_flash_attention_for_cpu"
_BACKWARD = "aten._scaled_dot_product_flash_attention_for_cpu_backward"
_OPERANDS = {_FORWARD: 7, _BACKWARD: 10}


@register_pass
@dataclass(frozen=True)
class AttendBackwards(FrontEndRemedy):
    """Writes `aten._scaled_dot_product_flash_attention_for_cpu` and its gradients as products, exponentials and sums.

    PyTorch traces `scaled_dot_product_attention` so where a gradient is computed. The scores of a row are exponentiated against the logarithm of
    their sum, which the forward op gives to the gradient. A forward op of which that result is not used becomes
    `aten.scaled_dot_product_attention`. IREE 3.13 has no lowering for either. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-attend-backwards"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten._scaled_dot_product_flash_attention_for_cpu` and its gradient with products, exponentials and sums (in the input)"
    )
    repairs: ClassVar[str] = "attention in a training step, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as products, exponentials and sums"
    advice: ClassVar[str] = "rewrite it as products, exponentials and sums"

    def fits(self, op: ir.Operation) -> bool:
        return _Call.of(op) is not None

    def written(self, op: ir.Operation) -> list[ir.Value]:
        call = _Call.of(op)
        assert call is not None
        found = call.slopes() if torch.front_end_name(op) == _BACKWARD else call.values(op)
        return [value.as_result(result) for value, result in zip(found, op.results, strict=True)]


@dataclass(frozen=True)
class _Call:
    """The operands; ``more``: of a gradient, the incoming one, the forward op's result and its logarithms."""

    query: ir.Value
    key: ir.Value
    value: ir.Value
    mask: ir.Value
    causal: bool
    scale: float
    more: tuple[ir.Value, ...] = ()

    @staticmethod
    def of(op: ir.Operation) -> _Call | None:
        """None for another op, with a dropout, or where a constant or the size of a head is not known."""
        name, given = torch.front_end_name(op), list(op.operands)
        if len(given) != _OPERANDS.get(name) or len(op.results) != (2 if name == _FORWARD else 3):
            return None
        more: tuple[ir.Value, ...] = ()
        if name == _BACKWARD:
            more = (given[0], given[4], given[5])
            given = [*given[1:4], *given[6:]]
        query, key, value, dropout, causal, mask, scale = given
        types, masked = all_floats([query, key, value, *more[:2]]), TensorType.of(mask)
        if types is None or any(len(one.shape) != 4 for one in types) or types[0].shape[-1] is None:
            return None
        if len({one.shape[1] for one in types}) != 1:
            return None  # queries that share their keys
        if not torch.is_none(mask) and (masked is None or masked.element not in (*torch.FLOATS, "i1")):
            return None
        factor = 1 / sqrt(types[0].shape[-1]) if torch.is_none(scale) else torch.number_of(scale)
        causal_too = torch.boolean_of(causal)
        if torch.number_of(dropout) != 0.0 or factor is None or causal_too is None:
            return None
        return _Call(query, key, value, mask, causal_too, factor, more)

    def values(self, op: ir.Operation) -> Sequence[Tensor]:
        """The result, and of each row the logarithm of the sum of its exponentials."""
        if not any(True for _use in op.results[1].uses):
            options = [
                self.mask,
                torch.real(0.0),
                torch.boolean(self.causal),
                torch.real(self.scale),
                torch.boolean(False),
            ]
            made = TensorType.of(op.results[0])
            assert made is not None
            name = "aten.scaled_dot_product_attention"
            found = Tensor(apply(name, [self.query, self.key, self.value, *options], made))
            return found, Tensor(torch.literal("0.0", "f32")).over(self.query, 3)
        scores = self._scores()
        largest = scores.largest(3)
        # A row that is masked as a whole has no largest number: its result is 0.
        largest = largest.is_("eq", -inf).chosen(0.0, largest)
        powers = (scores - largest).of("exp")
        total = powers.summed([3])
        total = total.is_("gt", 0.0).chosen(total, 1.0)
        shares = powers / total
        logarithm = (total.of("log") + largest).dropped(3)
        return shares @ Tensor.wide(self.value), logarithm

    def slopes(self) -> Sequence[Tensor]:
        """By the query, the key and the value."""
        slope, result, logarithm = (Tensor.wide(one) for one in self.more)
        query, key, value = (Tensor.wide(one) for one in (self.query, self.key, self.value))
        logarithm = logarithm.spread(1)
        shares = (self._scores() - logarithm.is_("eq", -inf).chosen(0.0, logarithm)).of("exp")
        by_share = slope @ value.turned() - (slope * result).summed([3])
        by_score = shares * by_share * self.scale
        return by_score @ key, by_score.turned() @ query, shares.turned() @ slope

    def _scores(self) -> Tensor:
        query, key = Tensor.wide(self.query), Tensor.wide(self.key)
        scores = (query @ key.turned()) * self.scale
        mask = Tensor(self.mask)
        if not torch.is_none(self.mask):
            is_choice = mask.type_.element == "i1"
            scores = mask.chosen(scores, -inf) if is_choice else scores + Tensor.wide(self.mask)
        if self.causal:
            rows, columns = (_counted(scores.value, dim) for dim in (2, 3))
            shape = TensorType((*scores.type_.shape[2:],), "i1")
            past = Tensor(apply("aten.ge.Tensor", [inserted(rows, 1), columns], shape))
            scores = past.chosen(scores, -inf)
        return scores


def _counted(value: ir.Value, dim: int) -> ir.Value:
    """0, 1, 2, … along a dimension."""
    end = [size_of(value, dim), *(torch.none() for _option in range(3)), torch.boolean(False)]
    type_ = TensorType.of(value)
    assert type_ is not None
    return apply("aten.arange", end, TensorType((type_.shape[dim],), "si64"))
