"""Ops that take elements by their positions."""

from __future__ import annotations

from iree.compiler import ir

from .. import torch_ops as torch
from ..tensors.values import axis_of, from_front, inserted, size_of, summed, type_of
from ..torch_ops import TensorType, apply
from .plans import Plan, flat, operand, part, rank_of, selected, spread

_STRICT = "torch.assume_strict_symbolic_shapes"
"""Of a function: a size that is not known is not 1, as PyTorch's exporter sees to."""


def narrowed(op: ir.Operation) -> Plan | None:
    """`aten.narrow_copy`: so many elements from a constant one on, which counts from the end where it is negative."""
    x = operand(op, 4)
    if x is None:
        return None
    dim, begin = axis_of(op.operands[1], rank_of(x)), torch.integer_of(op.operands[2])
    if dim is None or begin is None:
        return None
    size, length = type_of(x).shape[dim], torch.integer_of(op.operands[3])
    if begin < 0:
        if size is None:
            return None
        begin += size
    if length is not None:
        return lambda: part(x, dim, begin, begin + length, length)
    given = op.operands[3]

    def build() -> ir.Value:
        end = apply("aten.add.int", [torch.integer(begin), given], given.type)
        return part(x, dim, begin, end, None)

    return build


def taken(op: ir.Operation) -> Plan | None:
    """`aten.take`: elements by their positions among all."""
    x = operand(op, 2)
    index = None if x is None else TensorType.of(op.operands[1])
    if x is None or index is None or index.element != "si64":
        return None
    given, made = op.operands[1], TensorType(index.shape, type_of(x).element)

    def build() -> ir.Value:
        elements = flat(x)
        chosen = selected(elements, 0, from_front(flat(given), size_of(elements, 0)))
        sizes = torch.listed([size_of(given, dim) for dim in range(len(index.shape))])
        return chosen if len(index.shape) == 1 else apply("aten.reshape", [chosen, sizes], made)

    return build


def taken_along(op: ir.Operation) -> Plan | None:
    """`aten.take_along_dim`: a gather, of tensors that are broadcast in the other dimensions."""
    x = operand(op, 3)
    index = None if x is None else TensorType.of(op.operands[1])
    if x is None or index is None or index.element != "si64":
        return None
    given = op.operands[1]
    if torch.is_none(op.operands[2]):
        return lambda: _gathered(flat(x), flat(given), 0)
    dim = axis_of(op.operands[2], rank_of(x))
    if dim is None or len(index.shape) != rank_of(x):
        return None
    sizes = [_common(op, one, other) for one, other in zip(type_of(x).shape, index.shape, strict=True)]
    if any(which is None for at, which in enumerate(sizes) if at != dim):
        return None

    def build() -> ir.Value:
        from_ = [x if which == 0 else given for which in sizes]
        return _gathered(_spread(x, dim, from_), _spread(given, dim, from_), dim)

    return build


def _common(op: ir.Operation, one: int | None, other: int | None) -> int | None:
    """Which of two sizes a broadcast has, 0 or 1; None where that is not known."""
    if other == 1 or (one is not None and one != 1):
        return 0
    if one == 1 or other is not None:
        return 1
    parent = op.parent
    return 0 if parent is not None and _STRICT in parent.attributes else None


def _spread(value: ir.Value, dim: int, from_: list[ir.Value]) -> ir.Value:
    shape = [type_of(value if at == dim else one).shape[at] for at, one in enumerate(from_)]
    if shape == list(type_of(value).shape):
        return value
    sizes = [size_of(value if at == dim else one, at) for at, one in enumerate(from_)]
    return spread(value, sizes, shape)


def _gathered(value: ir.Value, index: ir.Value, dim: int) -> ir.Value:
    made = TensorType(type_of(index).shape, type_of(value).element)
    places = from_front(index, size_of(value, dim))
    return apply("aten.gather", [value, torch.integer(dim), places, torch.boolean(False)], made)


def repeated(op: ir.Operation) -> Plan | None:
    """`aten.repeat_interleave` by a tensor of counts, where the program has the size of the result.

    The element at a place is the first whose count, added to those of the elements before it, is above the place.
    """
    x, made = operand(op, 4), TensorType.of(op.results[0])
    counts = None if x is None else TensorType.of(op.operands[1])
    if x is None or made is None or counts is None or counts.element != "si64" or len(counts.shape) != 1:
        return None
    none = torch.is_none(op.operands[2])
    dim = 0 if none else axis_of(op.operands[2], rank_of(x))
    total = None if dim is None or dim >= len(made.shape) else made.shape[dim]
    given = op.operands[1]
    if dim is None or total is None or counts.shape[0] in (None, 1):
        return None

    def build() -> ir.Value:
        ends = apply("aten.cumsum", [given, torch.integer(0), torch.none()], counts)
        options = [*(torch.none() for _option in range(3)), torch.boolean(False)]
        places = apply("aten.arange", [torch.integer(total), *options], TensorType((total,), "si64"))
        passed = TensorType((total, counts.shape[0]), "i1")
        before = apply("aten.le.Tensor", [inserted(ends, 0), inserted(places, 1)], passed)
        return selected(flat(x) if none else x, dim, summed(before, 1))

    return build
