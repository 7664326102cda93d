"""Tensor contractions as products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import FLOATS, TensorType, apply
from .values import INTEGERS, inserted, permuted, size_of, type_of, without


@register_pass
@dataclass(frozen=True)
class ContractDims(FrontEndRemedy):
    """Writes `aten.tensordot` as a product of two matrices, of which the contracted dimensions, merged, are the inner one.

    Sizes may be dynamic; a contracted dimension of size 1 that is broadcast is left alone. The torch dialect of IREE 3.13 has no
    `aten.tensordot`. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-contract-dims"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten.tensordot` with a product of two matrices (in the input)"
    repairs: ClassVar[str] = "`aten.tensordot`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as a product of two matrices"
    advice: ClassVar[str] = "rewrite it as a product of two matrices"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.tensordot" or len(op.operands) != 4 or len(op.results) != 1:
            return False
        left, right, result = (TensorType.of(one) for one in (*op.operands[:2], op.results[0]))
        if left is None or right is None or result is None or left.element != right.element:
            return False
        ours, theirs = _dims(op)
        if ours is None or theirs is None or len(ours) != len(theirs) or result.element != left.element:
            return False
        pairs = [(left.shape[a], right.shape[b]) for a, b in zip(ours, theirs, strict=True)]
        equal = all(a == b or (None in (a, b) and 1 not in (a, b)) for a, b in pairs)
        return equal and left.element in (*FLOATS, *INTEGERS)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        left, right = op.operands[0], op.operands[1]
        ours, theirs = _dims(op)
        assert ours is not None and theirs is not None
        rows, columns = _others(left, ours), _others(right, theirs)
        first = _matrix(permuted(left, [*rows, *ours]), len(rows))
        second = _matrix(permuted(right, [*theirs, *columns]), len(theirs))
        made = TensorType((type_of(first).shape[0], type_of(second).shape[1]), type_of(first).element)
        product = apply("aten.mm", [first, second], made)
        product = _split(product, 1, right, columns)
        return [torch.cast(_split(product, 0, left, rows), op.results[0].type)]


def _dims(op: ir.Operation) -> tuple[list[int] | None, list[int] | None]:
    """The contracted dimensions of both operands; None where one is not known, or no dimension, or given twice."""
    found: list[list[int] | None] = []
    for value, dims in zip(op.operands[:2], list(op.operands)[2:], strict=True):
        rank, numbers = len(type_of(value).shape), torch.integers_of(dims)
        if numbers is not None and all(-rank <= dim < rank for dim in numbers):
            given = [dim % rank for dim in numbers]
            found.append(given if len(set(given)) == len(given) else None)
        else:
            found.append(None)
    return found[0], found[1]


def _others(value: ir.Value, dims: Sequence[int]) -> list[int]:
    return [dim for dim in range(len(type_of(value).shape)) if dim not in dims]


def _matrix(value: ir.Value, rows: int) -> ir.Value:
    """``value`` with its first ``rows`` dimensions as one, and the others as one."""
    rank = len(type_of(value).shape)
    # One at a time: IREE's import mistakes a reshape that merges dimensions in two places.
    value = torch.merged(value, rows, rank - 1) if rows < rank else inserted(value, rank)
    return torch.merged(value, 0, rows - 1) if rows else inserted(value, 0)


def _split(product: ir.Value, dim: int, source: ir.Value, dims: Sequence[int]) -> ir.Value:
    """Gives dimension ``dim`` the sizes that ``dims`` of ``source`` have."""
    type_ = type_of(product)
    if len(dims) == 1:
        return product
    if not dims:
        return apply("aten.squeeze.dim", [product, torch.integer(dim)], without(type_, dim))
    shape = tuple(type_of(source).shape[one] for one in dims)
    made = TensorType((*type_.shape[:dim], *shape, *type_.shape[dim + 1 :]), type_.element)
    sizes = torch.listed([size_of(source, one) for one in dims])
    return apply("aten.unflatten.int", [product, torch.integer(dim), sizes], made)
