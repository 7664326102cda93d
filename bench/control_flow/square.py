"""Drawn programs of tensors with two dynamic sizes, which multiply and transpose them as well."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .program import Program, Values

_DYNAMIC, _STATIC = "tensor<?x?xi32>", "tensor<2x2xi32>"
_SIDE = 2


class Square(Program):
    """The four elements of a tensor are two rows of two, in every call."""

    TYPE: ClassVar[str] = _DYNAMIC
    SHAPE: ClassVar[tuple[int, ...]] = (_SIDE, _SIDE)

    def _constant(self, name: str, values: list[int]) -> list[str]:
        rows = [values[:_SIDE], values[_SIDE:]]
        return [
            f"  %{name}k = arith.constant dense<{rows}> : {_STATIC}",
            f"  %{name} = tensor.cast %{name}k : {_STATIC} to {_DYNAMIC}",
        ]

    def _at(self, element: int) -> str:
        return f"%c{element // _SIDE}, %c{element % _SIDE}"

    def _elementwise(self, known: list[str], depth: int, indent: str):
        kind = self._draw.random()
        if kind < 0.7:
            return super()._elementwise(known, depth, indent)
        return self._product(known, indent) if kind < 0.85 else self._transposed(known, indent)

    def _product(self, known: list[str], indent: str):
        a, b, new = *self._draw.choices(known, k=2), self._name("v")

        def step(values: Values) -> None:
            left, right = (values[one].reshape(self.SHAPE) for one in (a, b))
            values[new] = (left @ right).ravel()

        lines = [
            *self._empty(a, b, new, indent),
            f"{indent}%{new}z = arith.constant 0 : i32",
            f"{indent}%{new}f = linalg.fill ins(%{new}z : i32) outs(%{new}e : {_DYNAMIC}) -> {_DYNAMIC}",
            f"{indent}%{new} = linalg.matmul ins(%{a}, %{b} : {_DYNAMIC}, {_DYNAMIC}) outs(%{new}f : {_DYNAMIC}) -> {_DYNAMIC}",
        ]
        return lines, step, [new]

    def _transposed(self, known: list[str], indent: str):
        a, new = self._draw.choice(known), self._name("v")

        def step(values: Values) -> None:
            values[new] = np.ascontiguousarray(values[a].reshape(self.SHAPE).T).ravel()

        lines = [
            *self._empty(a, a, new, indent),
            f"{indent}%{new} = linalg.transpose ins(%{a} : {_DYNAMIC}) outs(%{new}e : {_DYNAMIC}) permutation = [1, 0]",
        ]
        return lines, step, [new]

    def _empty(self, a: str, b: str, new: str, indent: str) -> list[str]:
        """A tensor with as many rows as ``a`` has and as many columns as ``b``; both are square."""
        return [
            f"{indent}%{new}r = tensor.dim %{a}, %c0 : {_DYNAMIC}",
            f"{indent}%{new}c = tensor.dim %{b}, %c1 : {_DYNAMIC}",
            f"{indent}%{new}e = tensor.empty(%{new}r, %{new}c) : {_DYNAMIC}",
        ]
