"""Attentions of PyTorch whose mask may leave nothing of a row: such a row is 0."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..masks.torch_bounds import TorchBounds
from ..torch_ops import TensorType, apply

_MASKS = {"aten.scaled_dot_product_attention": 3, "aten._scaled_dot_product_flash_attention_for_cpu": 5}
"""Op -> the operand that is its mask. PyTorch decomposes the first into the second, and IREE reads both as an attention."""


@register_pass
@dataclass(frozen=True)
class ClearMaskedRows(FrontEndRemedy):
    """Selects 0 for the rows of an `aten.scaled_dot_product_attention`, or of the op that PyTorch decomposes it into, whose mask is false, or minus infinity, throughout.

    IREE 3.13 subtracts minus infinity from itself there: NaN (FIS219). A mask that never has such a row is left alone: what is computed of
    constants (a causal mask), or of finite numbers (a position bias).
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-clear-masked-rows"
    cures: ClassVar[tuple[str, ...]] = ("FIS219",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "selects 0 for the rows of an attention of which its mask leaves nothing (in the input)"
    )
    repairs: ClassVar[str] = (
        "such rows, of padded sequences, which IREE makes NaN: wrong on every target (FIS219)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "selected 0 for rows that are masked throughout"
    advice: ClassVar[str] = "select 0 for rows that are masked throughout"

    def fits(self, op: ir.Operation) -> bool:
        position = _MASKS.get(torch.front_end_name(op))
        if position is None or len(op.operands) <= position:
            return False
        mask, made = TensorType.of(op.operands[position]), TensorType.of(op.results[0])
        if mask is None or made is None or not 2 <= len(mask.shape) <= len(made.shape):
            return False
        if mask.element not in (*torch.FLOATS, "f64", "i1"):
            return False
        return _may_mask_rows(op.operands[position])

    def written(self, op: ir.Operation) -> list[ir.Value]:
        made = TensorType.of(op.results[0])
        assert made is not None  # `fits`
        attributes = {name: op.attributes[name] for name in op.attributes}
        types = [result.type for result in op.results]
        attention = ir.Operation.create(
            op.name, results=types, operands=list(op.operands), attributes=attributes
        )
        mask = op.operands[_MASKS[torch.front_end_name(op)]]
        return [cleared(attention.results[0], made, mask), *list(attention.results)[1:]]


def cleared(value: ir.Value, type_: TensorType, mask: ir.Value) -> ir.Value:
    """``value``, the result of an attention, with 0 in the rows of which ``mask`` leaves nothing."""
    given = TensorType.of(mask)
    assert given is not None
    row = TensorType((*given.shape[:-1], 1), given.element)
    last, keep = torch.integer(-1), torch.boolean(True)
    if given.element == "i1":
        has_some = apply("aten.any.dim", [mask, last, keep], row)
    else:
        largest = apply("aten.amax", [mask, torch.listed([last]), keep], row)
        has_some = apply("aten.ne.Scalar", [largest, torch.real(-inf)], TensorType(row.shape, "i1"))
    return apply("aten.where.ScalarOther", [has_some, value, torch.real(0.0)], type_)


def _may_mask_rows(mask: ir.Value) -> bool:
    """False where each row of ``mask`` has an element that counts, whatever the program is given."""
    type_, found = TensorType.of(mask), TorchBounds().of(mask)
    assert type_ is not None  # `fits`
    least = found.low if found.low.ndim else found.low.reshape(1)
    if not least.size:
        return False  # there is no row
    kept = least.max(axis=-1) > (0 if type_.element == "i1" else -inf)
    return not kept.all()
