"""Lists of tensors that become one: stacks, blocks on a diagonal, products of sets."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..tensors.values import inserted, size_of, type_of
from ..torch_ops import FLOATS, apply
from .plans import (
    PADDED,
    Plan,
    at_least,
    flat,
    known,
    listed,
    operand,
    rank_of,
    reshaped,
    selected,
    spread,
)

_MOST_INDICES = 1 << 16


def stacked(rank: int, dim: int):
    """The plan of a stack: tensors of at least ``rank`` dimensions side by side along ``dim``."""

    def planned(op: ir.Operation) -> Plan | None:
        tensors = listed(op)
        if tensors is None or len({max(rank, rank_of(one)) for one in tensors}) != 1:
            return None
        return lambda: torch.concatenated([at_least(one, rank) for one in tensors], dim)

    return planned


def on_diagonal(op: ir.Operation) -> Plan | None:
    """`aten.block_diag`: zeros around each block, whose widths are known."""
    tensors = listed(op)
    if tensors is None or type_of(tensors[0]).element not in PADDED:
        return None
    shapes = [type_of(one).shape for one in tensors]
    if any(len(one) > 2 for one in shapes):
        return None
    widths = known([one[-1] if one else 1 for one in shapes])
    if widths is None:
        return None

    def build() -> ir.Value:
        rows, before = [], 0
        for one, width in zip(tensors, widths, strict=True):
            rows.append(padded(at_least(one, 2), 1, before, sum(widths) - before - width))
            before += width
        return torch.concatenated(rows, 0)

    return build


def padded(value: ir.Value, dim: int, before: int, behind: int) -> ir.Value:
    """With zeros around it along ``dim``, whose size is known."""
    type_ = type_of(value)
    size = type_.shape[dim]
    assert size is not None
    if not before and not behind:
        return value
    zero = torch.real(0.0) if type_.element in (*FLOATS, "f64") else torch.integer(0)
    edges = [0, 0] * (len(type_.shape) - 1 - dim) + [before, behind]
    made = type_.with_size(dim, before + size + behind)
    return apply("aten.constant_pad_nd", [value, torch.integers(edges), zero], made)


def all_tuples(op: ir.Operation) -> Plan | None:
    """`aten.cartesian_prod`: each tensor along a dimension of its own, spread over those of the others."""
    tensors = listed(op)
    if tensors is None or any(rank_of(one) != 1 for one in tensors):
        return None
    if len(tensors) == 1:
        return lambda: tensors[0]

    def build() -> ir.Value:
        sizes = [size_of(one, 0) for one in tensors]
        shape = [type_of(one).shape[0] for one in tensors]
        columns = []
        for number, value in enumerate(tensors):
            for other in range(len(tensors)):
                if other != number:
                    value = inserted(value, other)
            columns.append(inserted(flat(spread(value, sizes, shape)), 1))
        return torch.concatenated(columns, 1)

    return build


def all_choices(op: ir.Operation) -> Plan | None:
    """`aten.combinations` of a number of elements that is known, by a table of their positions."""
    x = operand(op, 3)
    if x is None or rank_of(x) != 1:
        return None
    size, count, again = (
        type_of(x).shape[0],
        torch.integer_of(op.operands[1]),
        torch.boolean_of(op.operands[2]),
    )
    if size is None or count is None or again is None or count < 1:
        return None
    rows = comb(size + count - 1, count) if again else comb(size, count)
    if not 0 < rows * count <= _MOST_INDICES:
        return None
    chosen = combinations_with_replacement if again else combinations

    def build() -> ir.Value:
        table = np.array(list(chosen(range(size), count)), np.int64).reshape(-1)
        return reshaped(selected(x, 0, torch.table(table)), [rows, count])

    return build


def chunks_joined(op: ir.Operation) -> Plan | None:
    """`aten._chunk_cat`: each tensor, with zeros behind it, as so many chunks, and those side by side."""
    tensors = listed(op, 3)
    dim, count = torch.integer_of(op.operands[1]), torch.integer_of(op.operands[2])
    if tensors is None or dim is None or count is None or dim < 0 or count < 1:
        return None
    if type_of(tensors[0]).element not in PADDED:
        return None
    shapes = [known(type_of(one).shape) for one in tensors]
    if any(one is None or len(one) <= dim or 0 in one for one in shapes):
        return None
    if len({tuple(one[:dim]) for one in shapes if one is not None}) != 1:
        return None

    def build() -> ir.Value:
        rows = []
        for value, shape in zip(tensors, shapes, strict=True):
            assert shape is not None
            chunk = -(-shape[dim] // count)
            value = padded(value, dim, 0, chunk * count - shape[dim])
            rest = int(np.prod(shape[dim + 1 :], dtype=np.int64))
            rows.append(reshaped(value, [*shape[:dim], count, chunk * rest]))
        return torch.concatenated(rows, dim + 1)

    return build
