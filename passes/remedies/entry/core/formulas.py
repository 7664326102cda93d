"""Tensors with the signs of arithmetic: a gradient reads as its formula. Each operation builds an op of torch at the insertion point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..tensors.values import broadcast_shape, inserted, permuted, size_of, type_of, without
from ..torch_ops import TensorType, apply

NONE, MEAN, SUM = 0, 1, 2
"""at::Reduction of PyTorch."""


@dataclass(frozen=True)
class Tensor:
    """``a + b`` of two tensors broadcasts as torch does; a number stands for itself."""

    value: ir.Value

    @staticmethod
    def wide(value: ir.Value) -> Tensor:
        """``value`` as f32: PyTorch computes gradients of 16-bit floats so, and rounds once."""
        return Tensor(torch.converted(value, "f32"))

    @property
    def type_(self) -> TensorType:
        return type_of(self.value)

    @property
    def rank(self) -> int:
        return len(self.type_.shape)

    def as_result(self, result: ir.Value) -> ir.Value:
        """With the type of an op's result."""
        made = type_of(result)
        return torch.cast(torch.converted(self.value, made.element), result.type)

    def __add__(self, other: Tensor | float) -> Tensor:
        if isinstance(other, Tensor):
            return self._with("aten.add.Tensor", other, torch.integer(1))
        return self._like("aten.add.Scalar", torch.real(other), torch.integer(1))

    def __sub__(self, other: Tensor | float) -> Tensor:
        return (
            self._with("aten.sub.Tensor", other, torch.integer(1))
            if isinstance(other, Tensor)
            else self + -other
        )

    def __mul__(self, other: Tensor | float) -> Tensor:
        if isinstance(other, Tensor):
            return self._with("aten.mul.Tensor", other)
        return self._like("aten.mul.Scalar", torch.real(other))

    def __truediv__(self, other: Tensor | float) -> Tensor:
        if isinstance(other, Tensor):
            return self._with("aten.div.Tensor", other)
        return self._like("aten.div.Scalar", torch.real(other))

    def __neg__(self) -> Tensor:
        return self.of("neg")

    def __rsub__(self, number: float) -> Tensor:
        return -self + number

    def __rtruediv__(self, number: float) -> Tensor:
        inverse = self.of("reciprocal")
        return inverse if number == 1 else inverse * number

    def __matmul__(self, other: Tensor) -> Tensor:
        shape, right = self.type_.shape, other.type_.shape
        batch = broadcast_shape([shape[:-2], right[:-2]]) if len(right) > 2 else shape[:-2]
        made = TensorType((*batch, shape[-2], right[-1]), self.type_.element)
        return Tensor(apply("aten.matmul", [self.value, other.value], made))

    def of(self, name: str) -> Tensor:
        """The op aten.``name`` of each element."""
        return self._like(f"aten.{name}")

    def softplus(self) -> Tensor:
        """log(1 + exp x), without an infinite power."""
        return self._like("aten.softplus", torch.integer(1), torch.integer(20))

    def at_least(self, bound: float) -> Tensor:
        return self._like("aten.clamp", torch.real(bound), torch.none())

    def is_(self, name: str, number: float) -> Tensor:
        """Compared with ``number``: lt, le, gt, ge, eq, ne."""
        made = TensorType(self.type_.shape, "i1")
        return Tensor(apply(f"aten.{name}.Scalar", [self.value, torch.real(number)], made))

    def chosen(self, value: Tensor | float, other: Tensor | float) -> Tensor:
        """``value`` where this tensor of booleans is true, and ``other`` elsewhere; one of them is a tensor."""
        if isinstance(value, Tensor) and isinstance(other, Tensor):
            shape = broadcast_shape([self.type_.shape, value.type_.shape, other.type_.shape])
            made = TensorType(shape, value.type_.element)
            return Tensor(apply("aten.where.self", [self.value, value.value, other.value], made))
        given = [one.value if isinstance(one, Tensor) else torch.real(one) for one in (value, other)]
        name = "aten.where.ScalarOther" if isinstance(value, Tensor) else "aten.where.ScalarSelf"
        like = value if isinstance(value, Tensor) else other
        assert isinstance(like, Tensor)
        shape = broadcast_shape([self.type_.shape, like.type_.shape])
        return Tensor(apply(name, [self.value, *given], TensorType(shape, like.type_.element)))

    def summed(self, dims: Sequence[int], keep: bool = True) -> Tensor:
        return self._reduced("aten.sum.dim_IntList", dims, keep)

    def averaged(self, dims: Sequence[int]) -> Tensor:
        return self._reduced("aten.mean.dim", dims, True)

    def reduced(self, reduction: int) -> Tensor:
        """By one of at::Reduction: each element, or the mean or the sum of all."""
        if reduction == NONE or not self.rank:
            return self
        made = TensorType((), self.type_.element)
        name = "aten.mean" if reduction == MEAN else "aten.sum"
        return Tensor(apply(name, [self.value, torch.none()], made))

    def smaller(self, other: Tensor) -> Tensor:
        return self._with("aten.minimum", other)

    def largest(self, dim: int) -> Tensor:
        made = self.type_.with_size(dim, 1)
        return Tensor(apply("aten.amax", [self.value, torch.integers([dim]), torch.boolean(True)], made))

    def spread(self, behind: int) -> Tensor:
        """With ``behind`` more dimensions of size 1 at the end."""
        value = self.value
        for _ in range(behind):
            value = inserted(value, len(type_of(value).shape))
        return Tensor(value)

    def turned(self) -> Tensor:
        """The last two dimensions exchanged."""
        shape, last = self.type_.shape, self.rank - 1
        made = TensorType((*shape[:-2], shape[-1], shape[-2]), self.type_.element)
        return Tensor(
            apply("aten.transpose.int", [self.value, torch.integer(last - 1), torch.integer(last)], made)
        )

    def along_last(self, tables: Sequence[np.ndarray]) -> Tensor:
        """Multiplied with a table along each of the last dimensions: each is exchanged with the last one for it."""
        value = self
        for number, table in enumerate(reversed(tables)):
            order = list(range(value.rank))
            dim = value.rank - 1 - number
            order[dim], order[-1] = order[-1], order[dim]
            product = Tensor(permuted(value.value, order)) @ Tensor(torch.table(table))
            value = Tensor(permuted(product.value, order))
        return value

    def halves(self, dim: int) -> tuple[Tensor, Tensor]:
        """Of a dimension whose size is known."""
        size = self.type_.shape[dim] or 0
        return Tensor(torch.sliced(self.value, dim, 0, -(size // 2))), Tensor(
            torch.sliced(self.value, dim, size // 2, None)
        )

    def dropped(self, dim: int) -> Tensor:
        """Without a dimension of size 1."""
        made = without(self.type_, dim)
        return Tensor(apply("aten.squeeze.dim", [self.value, torch.integer(dim)], made))

    def over(self, like: ir.Value, dims: int) -> Tensor:
        """A number for each element of the first ``dims`` dimensions of ``like``."""
        sizes = torch.listed([size_of(like, dim) for dim in range(dims)])
        made = TensorType(type_of(like).shape[:dims], self.type_.element)
        return Tensor(apply("aten.broadcast_to", [self.value, sizes], made))

    def zeros(self) -> Tensor:
        """As many zeros, also where this tensor is infinite."""
        options = [torch.none() for _option in range(5)]
        return Tensor(apply("aten.zeros_like", [self.value, *options], self.type_))

    def per_element(self) -> Tensor:
        """Divided by the number of its elements."""
        return self.per(self)

    def per(self, other: Tensor) -> Tensor:
        """Divided by the number of elements of ``other``."""
        known, unknown = 1, None
        for dim, one in enumerate(other.type_.shape):
            if one is not None:
                known *= one
                continue
            size = size_of(other.value, dim)
            unknown = size if unknown is None else apply("aten.mul.int", [unknown, size], size.type)
        divided = self / float(max(known, 1))
        return divided if unknown is None else divided._like("aten.div.Scalar", unknown)

    def _like(self, name: str, *more: ir.Value) -> Tensor:
        return Tensor(apply(name, [self.value, *more], self.type_))

    def _with(self, name: str, other: Tensor, *more: ir.Value) -> Tensor:
        shape = broadcast_shape([self.type_.shape, other.type_.shape])
        return Tensor(apply(name, [self.value, other.value, *more], TensorType(shape, self.type_.element)))

    def _reduced(self, name: str, dims: Sequence[int], keep: bool) -> Tensor:
        if not dims:
            return self
        shape = self.type_.shape
        left = tuple(1 if at in dims else one for at, one in enumerate(shape) if keep or at not in dims)
        over = [torch.integers(dims), torch.boolean(keep), torch.none()]
        return Tensor(apply(name, [self.value, *over], TensorType(left, self.type_.element)))


def filled(sizes: Sequence[ir.Value], like: TensorType, number: float) -> ir.Value:
    """A tensor of ``sizes``, all ``number``; ``like`` has its type."""
    options = [torch.integer(torch.NUMBERS[like.element]), *(torch.none() for _option in range(3))]
    return apply("aten.full", [torch.listed(sizes), torch.real(number), *options], like)


def all_floats(values: Sequence[ir.Value]) -> list[TensorType] | None:
    """The types of ``values`` where all are tensors of one type of float."""
    types = [found for one in values if (found := TensorType.of(one)) is not None]
    if (
        len(types) != len(values)
        or len({one.element for one in types}) != 1
        or types[0].element not in torch.FLOATS
    ):
        return None
    return types
