"""Ops that give lists of tensors: the parts of a split as slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from iree.compiler import ir

from .. import torch_ops as torch
from ..tensors.values import axis_of, type_of
from .plans import END, Plan, at_least, listed, operand, part, rank_of

Splits = Callable[[ir.Operation, int], "list[Plan] | None"]
"""The plans of the parts of an op whose list is unpacked into so many."""


def each_of_rank(rank: int) -> Splits:
    """The plans of `aten.atleast_*` of a list."""

    def planned(op: ir.Operation, _count: int) -> list[Plan] | None:
        tensors = listed(op)
        return None if tensors is None else [partial(at_least, one, rank) for one in tensors]

    return planned


def in_chunks(op: ir.Operation, _count: int) -> list[Plan] | None:
    """`aten.unsafe_chunk`: parts of one size, but for the last."""
    x = operand(op, 3)
    if x is None:
        return None
    dim, chunks = axis_of(op.operands[2], rank_of(x)), torch.integer_of(op.operands[1])
    size = None if dim is None else type_of(x).shape[dim]
    if dim is None or chunks is None or chunks < 1 or not size:
        return None
    length = -(-size // chunks)
    return _between(x, dim, range(length, size, length))


def in_sections(dim: int | None) -> Splits:
    """The plans of parts of sizes that differ by one at most, along ``dim``; None: the op names it."""

    def planned(op: ir.Operation, _count: int) -> list[Plan] | None:
        x = operand(op, 3 if dim is None else 2)
        if x is None:
            return None
        axis, count = _axis(op, x, dim), torch.integer_of(op.operands[1])
        size = None if axis is None else type_of(x).shape[axis]
        if axis is None or size is None or count is None or count < 1:
            return None
        length, longer = divmod(size, count)
        return _between(x, axis, [length * one + min(one, longer) for one in range(1, count)])

    return planned


def at_indices(dim: int | None) -> Splits:
    """The plans of parts that begin at the indices of a constant list, along ``dim``; None: the op names it."""

    def planned(op: ir.Operation, _count: int) -> list[Plan] | None:
        x = operand(op, 3 if dim is None else 2)
        if x is None:
            return None
        axis, indices = _axis(op, x, dim), torch.integers_of(op.operands[1])
        return None if axis is None or indices is None else _between(x, axis, indices)

    return planned


def _axis(op: ir.Operation, x: ir.Value, dim: int | None) -> int | None:
    """`hsplit` splits a tensor of one dimension along that one."""
    rank = rank_of(x)
    if dim is None:
        return axis_of(op.operands[2], rank)
    dim = 0 if dim == 1 and rank == 1 else dim
    return dim if dim < rank else None


def _between(x: ir.Value, dim: int, indices: Sequence[int]) -> list[Plan] | None:
    """The slices between ``indices``; along a size that is not known, those count from the front and rise."""
    size = type_of(x).shape[dim]
    if size is None:
        if any(one < 0 for one in indices) or list(indices) != sorted(indices):
            return None
        bounds = [0, *indices, END]
        return [
            partial(part, x, dim, begin, end, None)
            for begin, end in zip(bounds[:-1], bounds[1:], strict=True)
        ]
    begins = [0, *(min(max(one + size if one < 0 else one, 0), size) for one in indices)]
    lengths = [max(end - begin, 0) for begin, end in zip(begins, [*begins[1:], size], strict=True)]
    return [
        partial(part, x, dim, begin, begin + length, length)
        for begin, length in zip(begins, lengths, strict=True)
    ]
