"""Bounds of the numbers that a value of PyTorch's dialect has whatever the program is given."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.bounds.constant_elements import array_of, elements_of

from .. import torch_ops as torch
from ..torch_ops import TensorType
from .bounds import COMPARISONS, LARGEST, Bounds, compared, stacked

_MOST = 120
"""Ops that are read for one value: no mask met had more than 30."""
_LITERAL, _FROM_BUILTIN = "torch.vtensor.literal", "torch_c.from_builtin_tensor"
_SAME = (
    "aten.clone",
    "aten.contiguous",
    "aten.detach",
    "aten.alias",
    "aten.lift_fresh_copy",
    "aten.to.dtype",
    "aten.to.dtype_layout",
    "aten.to.device",
    "aten.to.other",
    "aten._to_copy",
    "aten.type_as",
    "prims.convert_element_type",
    "tensor_static_info_cast",
)
_RESHAPES = (
    "aten.view",
    "aten.reshape",
    "aten._unsafe_view",
    "aten.unsqueeze",
    "aten.squeeze",
    "aten.squeeze.dim",
    "aten.flatten.using_ints",
    "aten.unflatten.int",
)
_SOME = (
    "aten.index_select",
    "aten.index.Tensor",
    "aten.gather",
    "aten.roll",
    "aten.flip",
    "aten.repeat",
    "aten.amax",
    "aten.amin",
)
"""Each element of the result is one of the first operand's."""
_EXPANDS = ("aten.expand", "aten.broadcast_to")
_WITHIN = {
    "aten.sigmoid": (0, 1),
    "aten.softmax.int": (0, 1),
    "aten._softmax": (0, 1),
    "aten.tanh": (-1, 1),
    "aten.sin": (-1, 1),
    "aten.cos": (-1, 1),
}
_UNARY: dict[str, Callable[[Bounds], Bounds]] = {
    "aten.neg": lambda one: -one,
    "aten.relu": lambda one: one.mapped(lambda end: np.maximum(end, 0)),
    "aten.logical_not": lambda one: Bounds.of(1, 1) + -one.as_boolean,
}
_BINARY: dict[str, Callable[[Bounds, Bounds], Bounds]] = {
    "aten.mul.Tensor": lambda left, right: left * right,
    "aten.mul.Scalar": lambda left, right: left * right,
    "aten.minimum": lambda left, right: left.least(right),
    "aten.maximum": lambda left, right: left.largest(right),
    "aten.logical_and": lambda left, right: left.as_boolean.least(right.as_boolean),
    "aten.logical_or": lambda left, right: left.as_boolean.largest(right.as_boolean),
}
"""Of tensors, or a tensor and a scalar."""
_BOOLEAN = {
    "aten.bitwise_not": "aten.logical_not",
    "aten.bitwise_and.Tensor": "aten.logical_and",
    "aten.__and__.Tensor": "aten.logical_and",
    "aten.bitwise_or.Tensor": "aten.logical_or",
    "aten.__or__.Tensor": "aten.logical_or",
}
"""What they are of booleans."""
_SUMS = {"aten.add.Tensor": 1, "aten.add.Scalar": 1, "aten.sub.Tensor": -1, "aten.sub.Scalar": -1}
_FILLS = {
    "aten.zeros": 0,
    "aten.zeros_like": 0,
    "aten.new_zeros": 0,
    "aten.ones": 1,
    "aten.ones_like": 1,
    "aten.new_ones": 1,
}
_FULL = {"aten.full": 1, "aten.full_like": 1, "aten.new_full": 2}
"""Op -> the operand that is the number."""
_CHOICES = ("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
_FILLED = ("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
_RANGES = {"aten.arange": 1, "aten.arange.start": 2, "aten.arange.start_step": 3}
"""Op -> how many of its operands are its start, end and step."""


_COMPARED = {f"aten.{name}.{kind}": name for name in COMPARISONS for kind in ("Tensor", "Scalar")}


@dataclass
class TorchBounds:
    """Reads values of one program; each once."""

    _known: dict[ir.Value, Bounds] = field(default_factory=dict)

    def of(self, value: ir.Value) -> Bounds:
        """Those of a tensor or a number; of what is not understood, those of its type."""
        if value not in self._known:
            number = torch.number_of(value)
            if number is not None:
                self._known[value] = Bounds.of(number, number)
            else:
                self._known[value] = self._tensor(value)
        return self._known[value]

    def _tensor(self, value: ir.Value) -> Bounds:
        type_, found = TensorType.of(value), None
        if type_ is not None and not isinstance(value.owner, ir.Block) and len(self._known) < _MOST:
            self._known[value] = _unknown(type_)
            found = self._made(value.owner.operation, type_)
        if found is None:
            return _unknown(type_)
        if found.low.size > LARGEST:
            found = found.uniform
        assert type_ is not None
        return found.of_type(type_.element)

    def _made(self, op: ir.Operation, type_: TensorType) -> Bounds | None:
        """Of the result of ``op``, before its type rounds it; None where the op is none of those that are read."""
        name = torch.front_end_name(op)
        if type_.element == "i1":
            name = _BOOLEAN.get(name, name)
        operands = list(op.operands)
        if name in (_LITERAL.removeprefix("torch."), _FROM_BUILTIN):
            return _constant(op)
        if name in _WITHIN:
            return Bounds.of(*_WITHIN[name])
        if name in _FILLS:
            return Bounds.of(_FILLS[name], _FILLS[name])
        if name in _FULL:
            return self.of(operands[_FULL[name]])
        if name in ("aten.scalar_tensor", "prim.NumToTensor.Scalar"):
            return self.of(operands[0])
        if name in _RANGES:
            return self._range(operands[: _RANGES[name]], type_)
        if name in _SAME:
            return self._converted(operands[0], type_)
        if name in _UNARY:
            return _UNARY[name](self.of(operands[0]))
        if name in _BINARY:
            return _BINARY[name](self.of(operands[0]), self.of(operands[1]))
        if name in _SUMS:
            return self.of(operands[0]) + self.of(operands[1]) * self.of(operands[2]) * Bounds.of(
                _SUMS[name], _SUMS[name]
            )
        if name == "aten.rsub.Scalar":
            return self.of(operands[1]) + -(self.of(operands[0]) * self.of(operands[2]))
        if name == "aten.clamp":
            return self._clamped(*operands)
        if name in _CHOICES:
            condition, yes, no = operands
            return self.of(condition).where(self.of(yes), self.of(no))
        if name in _FILLED:
            whole, mask, number = operands
            return self.of(mask).where(self.of(number), self.of(whole))
        if name in _COMPARED:
            return self._compared(_COMPARED[name], operands)
        return self._moved(name, operands, type_)

    def _converted(self, value: ir.Value, type_: TensorType) -> Bounds:
        found = self.of(value)
        if type_.element == "i1":
            return found.as_boolean
        return found if type_.element in torch.FLOATS else found.mapped(np.trunc)

    def _clamped(self, value: ir.Value, least: ir.Value, most: ir.Value) -> Bounds:
        found = self.of(value)
        if not torch.is_none(least):
            found = found.largest(self.of(least))
        return found if torch.is_none(most) else found.least(self.of(most))

    def _compared(self, name: str, operands: list[ir.Value]) -> Bounds | None:
        left, right = (self.of(operand) for operand in operands)
        floats = any(
            type_ is not None and type_.element not in ("si64", "si32", "si16", "si8", "ui8", "i1")
            for type_ in map(TensorType.of, operands)
        )
        if floats and not (left.is_sure and right.is_sure):
            return None  # a rounded number may be the other
        return compared(name, left, right)

    def _range(self, ends: list[ir.Value], type_: TensorType) -> Bounds | None:
        numbers = [number for end in ends if (number := torch.integer_of(end)) is not None]
        if len(type_.shape) != 1 or type_.shape[0] is None or len(numbers) < len(ends):
            return None
        start, step = numbers[0] if len(ends) > 1 else 0, numbers[2] if len(ends) == 3 else 1
        return Bounds.exactly(start + step * np.arange(type_.shape[0]))

    def _moved(self, name: str, operands: list[ir.Value], type_: TensorType) -> Bounds | None:
        """The same of an op that moves elements."""
        if name in ("aten.cat", "aten.stack"):
            return self._joined(name, operands)
        if name == "aten.embedding":
            return self.of(operands[0]).uniform
        given = TensorType.of(operands[0]) if operands else None
        if given is None:
            return None
        if name in _SOME:
            return self.of(operands[0]).uniform
        if name in ("aten.tril", "aten.triu"):
            return self._triangle(name, operands, given)
        if name in _EXPANDS:
            return self.of(operands[0])  # NumPy broadcasts the bounds as well
        move = _move(name, operands, given, type_)
        if move is None:
            return None
        found = self.of(operands[0])
        if found.low.size == 1 or _is_large(given) or _is_large(type_):
            return found.uniform
        sizes = [size or 0 for size in given.shape]
        return found.mapped(lambda end: move(np.broadcast_to(end, sizes)))

    def _triangle(self, name: str, operands: list[ir.Value], given: TensorType) -> Bounds:
        found, diagonal = self.of(operands[0]), torch.integer_of(operands[1])
        if diagonal is None or _is_large(given):
            return found.uniform.joined(Bounds.of(0, 0))
        cut = np.tril if name == "aten.tril" else np.triu
        rows, columns = (size or 0 for size in given.shape[-2:])
        kept = Bounds.exactly(cut(np.ones((rows, columns)), diagonal))
        return kept.where(found, Bounds.of(0, 0))

    def _joined(self, name: str, operands: list[ir.Value]) -> Bounds | None:
        owner = operands[0].owner
        parts = [] if isinstance(owner, ir.Block) else list(owner.operation.operands)
        types = [type_ for part in parts if (type_ := TensorType.of(part)) is not None]
        dim = torch.integer_of(operands[1])
        if not parts or len(types) < len(parts):
            return None
        found = [self.of(part) for part in parts]
        if name == "aten.stack" or dim is None:
            return stacked([one.uniform for one in found], 0, [(None,)])
        return stacked(found, dim, [type_.shape for type_ in types])


def _unknown(type_: TensorType | None) -> Bounds:
    return Bounds.of(0, 1) if type_ is not None and type_.element == "i1" else Bounds.of(-math.inf, math.inf)


def _is_large(type_: TensorType) -> bool:
    """Whether its elements are too many to be bounded one by one, or may be."""
    return None in type_.shape or math.prod(size or 0 for size in type_.shape) > LARGEST


def _constant(op: ir.Operation) -> Bounds | None:
    if op.name == _FROM_BUILTIN:
        owner = op.operands[0].owner
        held = None if isinstance(owner, ir.Block) else array_of(owner.operation)
    else:
        held = elements_of(op.attributes["value"])
    return None if held is None or not held.size else Bounds.exactly(held)


def _move(
    name: str, operands: list[ir.Value], given: TensorType, made: TensorType
) -> Callable[[np.ndarray], np.ndarray] | None:
    """How ``name`` moves the elements of an array of all sizes of ``given``; None for another op."""
    sizes = [size or 0 for size in made.shape]
    if name in _RESHAPES:
        return lambda array: np.reshape(array, sizes)
    if name == "aten.t":
        return np.transpose
    if name == "aten.permute" and (order := torch.integers_of(operands[1])) is not None:
        return lambda array: np.transpose(array, order)
    numbers = [number for operand in operands[1:] if (number := torch.integer_of(operand)) is not None]
    if len(numbers) < len(operands) - 1:
        return None
    if name == "aten.transpose.int":
        first, second = numbers
        return lambda array: np.swapaxes(array, first, second)
    if name == "aten.select.int":
        dim, at = numbers
        return lambda array: np.take(array, at, axis=dim)
    if name == "aten.slice.Tensor":
        dim, *ends = numbers
        part = (slice(None),) * (dim % len(given.shape)) + (slice(*ends),)
        return lambda array: array[part]
    return None
