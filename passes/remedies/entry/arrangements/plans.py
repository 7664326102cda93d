"""What the ops of this folder share: the tensors they are given, and tensors in other shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iree.compiler import ir

from .. import torch_ops as torch
from ..tensors.values import inserted, size_of, type_of
from ..torch_ops import TensorType, apply

Plan = Callable[[], ir.Value]
"""Builds the value of a result at the insertion point, maybe of a type that has more or fewer of the sizes."""
LIST = "torch.prim.ListConstruct"
PADDED = (*torch.NUMBERS, "i1")
"""The elements that a constant fills."""
END = 2**63 - 1


def operand(op: ir.Operation, count: int) -> ir.Value | None:
    """The first of ``count`` operands, a tensor."""
    if len(op.operands) != count or TensorType.of(op.operands[0]) is None:
        return None
    return op.operands[0]


def listed(op: ir.Operation, count: int = 1) -> list[ir.Value] | None:
    """The tensors of the list that is the first of ``count`` operands, all of one type of elements."""
    if len(op.operands) != count:
        return None
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name != LIST or not len(owner.operands):
        return None
    types = [TensorType.of(one) for one in owner.operands]
    if any(one is None for one in types) or len({one.element for one in types if one is not None}) != 1:
        return None
    return list(owner.operands)


def rank_of(value: ir.Value) -> int:
    return len(type_of(value).shape)


def known(sizes: Sequence[int | None]) -> list[int] | None:
    """None where one of them is not known."""
    found = [one for one in sizes if one is not None]
    return found if len(found) == len(sizes) else None


def dims_of(value: ir.Value, rank: int) -> list[int] | None:
    """The dimensions that a constant list names, each once."""
    found = torch.integers_of(value)
    if found is None or any(not -rank <= one < rank for one in found):
        return None
    dims = [one % rank for one in found]
    return dims if len(set(dims)) == len(dims) else None


def flat(value: ir.Value) -> ir.Value:
    """All elements in one dimension."""
    rank = rank_of(value)
    return torch.merged(value, 0, rank - 1) if rank else inserted(value, 0)


def reshaped(value: ir.Value, sizes: Sequence[int]) -> ir.Value:
    made = TensorType(tuple(sizes), type_of(value).element)
    return value if type_of(value) == made else apply("aten.reshape", [value, torch.integers(sizes)], made)


def spread(value: ir.Value, sizes: Sequence[ir.Value], shape: Sequence[int | None]) -> ir.Value:
    """Broadcast to ``sizes``, of which ``shape`` has those that are known."""
    made = TensorType(tuple(shape), type_of(value).element)
    return apply("aten.broadcast_to", [value, torch.listed(sizes)], made)


def part(value: ir.Value, dim: int, begin: int | ir.Value, end: int | ir.Value, left: int | None) -> ir.Value:
    """``value[begin:end]`` along ``dim``, of ``left`` elements."""
    bounds = [torch.integer(one) if isinstance(one, int) else one for one in (begin, end)]
    made = type_of(value).with_size(dim, left)
    return apply("aten.slice.Tensor", [value, torch.integer(dim), *bounds, torch.integer(1)], made)


def turned(value: ir.Value, dim: int, behind: int | None, inverse: bool = False) -> ir.Value:
    """The elements from ``behind`` on in front of the others; None is the middle of a size that is not known.

    Of an odd size, the middle element is behind the middle where ``inverse`` is true, and before it elsewhere.
    """
    size = type_of(value).shape[dim]
    if behind is None or size is None:
        count = size_of(value, dim)
        if not inverse:
            count = apply("aten.add.int", [count, torch.integer(1)], count.type)
        at = apply("aten.floordiv.int", [count, torch.integer(2)], count.type)
        return _exchanged(value, dim, at, None, None)
    return value if not 0 < behind < size else _exchanged(value, dim, behind, behind, size - behind)


def _exchanged(
    value: ir.Value, dim: int, at: int | ir.Value, front: int | None, back: int | None
) -> ir.Value:
    parts = [part(value, dim, at, END, back), part(value, dim, 0, at, front)]
    return torch.cast(torch.concatenated(parts, dim), value.type)


def at_least(value: ir.Value, rank: int) -> ir.Value:
    """With dimensions of size 1 where PyTorch's `atleast_1d`, `atleast_2d` and `atleast_3d` insert them."""
    had = rank_of(value)
    for count in range(had, rank):
        value = inserted(value, 0 if count < 2 else 2)
    return value


def selected(value: ir.Value, dim: int, indices: ir.Value) -> ir.Value:
    """The slices that ``indices``, in one dimension, name."""
    made = type_of(value).with_size(dim, type_of(indices).shape[0])
    return apply("aten.index_select", [value, torch.integer(dim), indices], made)
