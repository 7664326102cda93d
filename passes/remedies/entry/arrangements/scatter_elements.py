"""Scatters along a dimension that is counted from the end, of a single element, or with a reduction by its old name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import INDICES, INTEGERS, axis_of, inserted, type_of
from ..torch_ops import FLOATS, TensorType, apply

_VALUE, _VALUE_REDUCE, _REDUCE, _TWO = (
    "aten.scatter.value",
    "aten.scatter.value_reduce",
    "aten.scatter.reduce",
    "aten.scatter_reduce.two",
)
_OPERANDS = {"aten.scatter.src": 4, "aten.scatter_add": 4, _VALUE: 4, _TWO: 6, _REDUCE: 5, _VALUE_REDUCE: 5}
"""Op -> how many operands it has: a tensor, a dimension, an index, what is written, and how it is reduced."""
_ELEMENTS = (*FLOATS, *INTEGERS, "si8", "ui8", "si16", "i1")
_KINDS = {"add": "sum", "multiply": "prod"}


@register_pass
@dataclass(frozen=True)
class ScatterElements(FrontEndRemedy):
    """Counts the dimension of an `aten.scatter` from the front, gives a tensor of no dimension one, and writes `scatter.reduce` as
    `scatter_reduce`.

    IREE 3.13 crashes on a dimension of -1, or asks for memory without an end; it rejects tensors of no dimension, and has no lowering for the old
    name. Sizes may be dynamic. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-scatter-elements"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "counts the dimension of `aten.scatter`, `scatter_add` and `scatter_reduce` from the front, and writes `scatter` with a reduction "
        "as `scatter_reduce` (in the input)"
    )
    repairs: ClassVar[str] = (
        "scatters along dimension -1, on which IREE crashes, scatters of one element, and `aten.scatter.reduce`, which it rejects (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as a scatter along a dimension that is counted from the front"
    advice: ClassVar[str] = "count the dimension from the front: `dim % x.dim()`"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        if len(op.operands) != _OPERANDS.get(name) or len(op.results) != 1:
            return False
        value, index = TensorType.of(op.operands[0]), TensorType.of(op.operands[2])
        if value is None or index is None or len(index.shape) != len(value.shape):
            return False
        if index.element not in INDICES or value.element not in _ELEMENTS:
            return False
        dim = torch.integer_of(op.operands[1])
        if dim is None or axis_of(op.operands[1], max(1, len(value.shape))) is None:
            return False
        if name in (_VALUE, _VALUE_REDUCE):
            if torch.number_of(op.operands[3]) is None:
                return False
        elif (source := TensorType.of(op.operands[3])) is None or len(source.shape) != len(value.shape):
            return False
        if name in (_REDUCE, _VALUE_REDUCE):
            return torch.string_of(op.operands[4]) in _KINDS and value.element != "i1"
        # `fissile-widen-unsigned` goes before: IREE compares unsigned bytes as signed ones.
        if name == _TWO and value.element == "ui8" and torch.string_of(op.operands[4]) in ("amax", "amin"):
            return False
        return dim < 0 or not value.shape

    def written(self, op: ir.Operation) -> list[ir.Value]:
        name, (value, _dim, index, source, *rest) = torch.front_end_name(op), list(op.operands)
        single = not type_of(value).shape
        if name == _VALUE_REDUCE:
            source = _filled(index, source, type_of(value).element)
        if name in (_REDUCE, _VALUE_REDUCE):
            kind = _KINDS[torch.string_of(rest[0]) or ""]
            name, rest = _TWO, [torch.string(kind), torch.boolean(True)]
        if single:
            value, index = inserted(value, 0), inserted(index, 0)
            source = source if name == _VALUE else inserted(source, 0)
        dim = torch.integer(axis_of(op.operands[1], len(type_of(value).shape)) or 0)
        found = apply(name, [value, dim, index, source, *rest], type_of(value))
        if single:
            found = apply("aten.squeeze.dim", [found, dim], type_of(op.results[0]))
        return [torch.cast(found, op.results[0].type)]


def _filled(like: ir.Value, number: ir.Value, element: str) -> ir.Value:
    """A tensor of the shape of ``like`` whose elements are all ``number``."""
    none = torch.none()
    options = [torch.integer(torch.NUMBERS[element]), none, none, none, none]
    return apply("aten.full_like", [like, number, *options], TensorType(type_of(like).shape, element))
