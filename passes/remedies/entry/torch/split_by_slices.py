"""A split into parts of unknown sizes as slices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_BY_SIZES = ("aten.split_with_sizes", "aten.split.sizes", "aten.unsafe_split_with_sizes")
_BY_SIZE = ("aten.split.Tensor", "aten.unsafe_split.Tensor")
_LIST = "torch.prim.ListConstruct"
_END = 2**63 - 1


@register_pass
@dataclass(frozen=True)
class SplitBySlices(FrontEndRemedy):
    """Writes what unpacks the parts of an `aten.split` as an `aten.slice.Tensor` for each.

    IREE 3.13 lowers a split if it knows the size of the dimension and of each part. Halves of a sequence of any length, and the rows of
    each expert of a mixture, which the program counts, have other sizes. The last part of `aten.split.Tensor` is what is left.
    """

    name: ClassVar[str] = "fissile-split-by-slices"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "replaces a split into parts of unknown sizes with slices (in the input)"
    repairs: ClassVar[str] = (
        "`aten.split_with_sizes` and `aten.split.Tensor` of unknown sizes, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as slices"
    advice: ClassVar[str] = "rewrite it as slices"
    candidates: ClassVar[tuple[str, ...]] = ("torch.prim.ListUnpack",)

    def shown(self, op: ir.Operation) -> ir.Operation:
        return _split(op) or op

    def fits(self, op: ir.Operation) -> bool:
        split = _split(op)
        if split is None or len(split.operands) != 3:
            return False
        value, dim = torch.TensorType.of(split.operands[0]), torch.integer_of(split.operands[2])
        if value is None or dim is None or not -len(value.shape) <= dim < len(value.shape):
            return False
        if any(torch.TensorType.of(part) is None for part in op.results):
            return False
        if torch.front_end_name(split) in _BY_SIZE:
            known = torch.integer_of(split.operands[1]) is not None
        else:
            listed = split.operands[1].owner
            if (
                isinstance(listed, ir.Block)
                or listed.name != _LIST
                or len(listed.operands) != len(op.results)
            ):
                return False
            known = torch.integers_of(split.operands[1]) is not None
        return not (known and value.shape[dim] is not None)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        split = _split(op)
        assert split is not None
        value, sizes, dim = split.operands
        one, end = torch.integer(1), torch.integer(0)
        int_ = end.type
        lengths = (
            [sizes] * len(op.results)
            if torch.front_end_name(split) in _BY_SIZE
            else list(sizes.owner.operands)
        )
        parts = []
        for number, (part, length) in enumerate(zip(op.results, lengths, strict=True)):
            begin, end = end, torch.apply("aten.add.int", [end, length], int_)
            if number == len(lengths) - 1 and sizes.type == int_:
                end = torch.integer(_END)
            parts.append(torch.apply("aten.slice.Tensor", [value, dim, begin, end, one], part.type))
        return parts

    def replace(self, found: Iterable[ir.Operation]) -> None:
        found = list(found)
        splits = [split for op in found if (split := _split(op)) is not None]
        super().replace(found)
        for split in splits:  # IREE refuses one whose result nobody uses, too
            if not any(True for _use in split.results[0].uses):
                split.erase()


def _split(op: ir.Operation) -> ir.Operation | None:
    """The split whose parts ``op`` unpacks."""
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block):
        return None
    split = owner.operation
    return split if torch.front_end_name(split) in (*_BY_SIZES, *_BY_SIZE) else None
