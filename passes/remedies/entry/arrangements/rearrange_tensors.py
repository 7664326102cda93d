"""Ops of PyTorch that move elements, as transposes, slices, concatenations and gathers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType
from . import moves, selections, splits, stacks
from .plans import LIST, Plan

_TENSORS: dict[str, Callable[[ir.Operation], Plan | None]] = {
    "aten.mT": moves.transposed,
    "aten.mH": moves.adjoint,
    "aten.H": moves.adjoint,
    "aten.matrix_H": moves.adjoint,
    "aten.adjoint": moves.adjoint,
    "aten.ravel": moves.flattened,
    "aten.view_as": moves.viewed,
    "aten.movedim.intlist": moves.dims_moved,
    "aten.moveaxis.intlist": moves.dims_moved,
    "aten.atleast_2d": moves.of_rank(2),
    "aten.atleast_3d": moves.of_rank(3),
    "aten.sum_to_size": moves.summed_to,
    "aten.fft_fftshift": moves.halves_exchanged(inverse=False),
    "aten.fft_ifftshift": moves.halves_exchanged(inverse=True),
    "aten.roll": moves.rolled,
    "aten.diagflat": moves.on_diagonal,
    "aten.positive": moves.itself,
    "aten.resolve_conj": moves.itself,
    "aten.resolve_neg": moves.itself,
    "aten.conj_physical": moves.itself_if_real,
    "aten.real": moves.itself_if_real,
    "aten.vstack": stacks.stacked(2, 0),
    "aten.row_stack": stacks.stacked(2, 0),
    "aten.dstack": stacks.stacked(3, 2),
    "aten.block_diag": stacks.on_diagonal,
    "aten.cartesian_prod": stacks.all_tuples,
    "aten.combinations": stacks.all_choices,
    "aten._chunk_cat": stacks.chunks_joined,
    "aten.narrow_copy": selections.narrowed,
    "aten.take": selections.taken,
    "aten.take_along_dim": selections.taken_along,
    "aten.repeat_interleave.self_Tensor": selections.repeated,
}
_LISTS: dict[str, Callable[[ir.Operation, int], list[Plan] | None]] = {
    "aten.atleast_1d.Sequence": splits.each_of_rank(1),
    "aten.atleast_2d.Sequence": splits.each_of_rank(2),
    "aten.atleast_3d.Sequence": splits.each_of_rank(3),
    "aten.unsafe_chunk": splits.in_chunks,
    "aten.tensor_split.sections": splits.in_sections(None),
    "aten.hsplit.int": splits.in_sections(1),
    "aten.vsplit.int": splits.in_sections(0),
    "aten.dsplit.int": splits.in_sections(2),
    "aten.tensor_split.indices": splits.at_indices(None),
    "aten.hsplit.array": splits.at_indices(1),
    "aten.vsplit.array": splits.at_indices(0),
    "aten.dsplit.array": splits.at_indices(2),
}
_UNPACK = "torch.prim.ListUnpack"
_SUMS = ("aten.sum_to_size",)


@register_pass
@dataclass(frozen=True)
class RearrangeTensors(FrontEndRemedy):
    """Writes ops that stack, split, roll, transpose and select as ops that IREE lowers.

    IREE 3.13 has no name for most of them (`torch.operator "torch.aten.mT"`). Where what is written needs a size or an index that is
    not known, the op stays. The parts of a split are slices; what unpacks its list is written as well. Run it on the program as it was
    imported.
    """

    name: ClassVar[str] = "fissile-rearrange-tensors"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces PyTorch's stacks, splits, shifts and selections by transposes, slices and gathers (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.mT`, `aten.vstack`, `aten.hsplit`, `aten.take` and others that move elements, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical, but for the order of what `sum_to_size` adds"
    done: ClassVar[str] = "rewrote it with ops that move the same elements"
    advice: ClassVar[str] = "rewrite it with ops that move the same elements"

    def fits(self, op: ir.Operation) -> bool:
        return bool(_plans(op))

    def written(self, op: ir.Operation) -> list[ir.Value]:
        values = [plan() for plan in _plans(op)]
        [result] = op.results
        if TensorType.of(result) is not None:
            return [torch.cast(values[0], result.type)]
        for unpack in _unpacks(op):
            for one, value in zip(unpack.results, values, strict=True):
                one.replace_all_uses_with(torch.cast(value, one.type))
            unpack.erase()
        return [ir.Operation.create(LIST, results=[result.type], operands=values).result]


def _plans(op: ir.Operation) -> list[Plan]:
    """What builds the tensor that ``op`` gives, or each of its list; none for another op."""
    name = torch.front_end_name(op)
    if len(op.results) != 1 or not len(op.operands):
        return []
    if name in _TENSORS:
        made, given = TensorType.of(op.results[0]), TensorType.of(op.operands[0])
        if made is None or (given is not None and made.element != given.element and name not in _SUMS):
            return []
        plan = _TENSORS[name](op)
        return [] if plan is None else [plan]
    if name not in _LISTS:
        return []
    unpacks = _unpacks(op)
    counts = {len(one.results) for one in unpacks}
    if len(counts) != 1 or len(unpacks) != len(list(op.results[0].uses)):
        return []
    if any(TensorType.of(one) is None for unpack in unpacks for one in unpack.results):
        return []
    plans = _LISTS[name](op, count := counts.pop())
    return plans if plans is not None and len(plans) == count else []


def _unpacks(op: ir.Operation) -> list[ir.Operation]:
    """What takes the list of ``op`` apart."""
    users = [use.owner for use in op.results[0].uses]
    return [one for one in users if one.name == _UNPACK]
