"""Drawn programs that keep tensors in globals, move parts of tensors and call functions, with static or dynamic sizes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .program import STATIC, Program, Values

PART, DYNAMIC = "tensor<2xi32>", "tensor<?xi32>"


class Stateful(Program):
    ACCESSES: ClassVar[float] = 0.0
    """How many of the ops are loads and stores, beside those that are drawn among others."""

    def __init__(self, seed: int) -> None:
        self._functions: list[str] = []
        self._globals = [f"@g{n}" for n in range(seed % 3)]
        super().__init__(seed)
        self.globals = {name: np.full(4, n + 1, np.int32) for n, name in enumerate(self._globals)}
        held = [
            f"util.global private mutable {name} = dense<{n + 1}> : {STATIC}\n"
            for n, name in enumerate(self._globals)
        ]
        self.text = "".join((*held, *self._functions, self.text))

    def _elementwise(self, known: list[str], depth: int, indent: str):
        kind = self._draw.random()
        ways = (self._load, self._store) if self._globals else ()
        if ways and kind < self.ACCESSES:
            return self._draw.choice(ways)(known, indent)
        if kind < 0.4:
            return super()._elementwise(known, depth, indent)
        way = self._draw.choice((*ways, self._move, self._move_some, self._call))
        return way(known, indent)

    def _load(self, known: list[str], indent: str):
        held, new = self._draw.choice(self._globals), self._name("v")

        def step(values: Values) -> None:
            values[new] = values[held]

        return [*self._from_static(f"util.global.load {held}", new, indent)], step, [new]

    def _store(self, known: list[str], indent: str):
        held, source, new = self._draw.choice(self._globals), self._draw.choice(known), self._name("v")

        def step(values: Values) -> None:
            values[held], values[new] = values[source], values[source] + values[source]

        stored = self._as_static(source, f"{new}c", indent)
        name = f"{new}c" if stored else source
        lines = [*stored, f"{indent}util.global.store %{name}, {held} : {STATIC}"]
        return [*lines, f"{indent}%{new} = arith.addi %{source}, %{source} : {self.TYPE}"], step, [new]

    def _move(self, known: list[str], indent: str):
        """Two elements of a tensor, written to another place of it or of another one."""
        source, target, new = *self._draw.choices(known, k=2), self._name("v")
        start, end = self._draw.randrange(3), self._draw.randrange(3)

        def step(values: Values) -> None:
            values[new] = values[target].copy()
            values[new][end : end + 2] = values[source][start : start + 2]

        return (
            [
                f"{indent}%{new}s = tensor.extract_slice %{source}[%c{start}] [2] [1] : {self.TYPE} to {PART}",
                f"{indent}%{new} = tensor.insert_slice %{new}s into %{target}[%c{end}] [2] [1] : {PART} into {self.TYPE}",
            ],
            step,
            [new],
        )

    def _move_some(self, known: list[str], indent: str):
        """The same of as many elements as the argument `n` says, two at most."""
        source, target, new = *self._draw.choices(known, k=2), self._name("v")
        start, end = self._draw.randrange(3), self._draw.randrange(3)

        def step(values: Values) -> None:
            count = min(int(values["n"]), 2)
            values[new] = values[target].copy()
            values[new][end : end + count] = values[source][start : start + count]

        return (
            [
                f"{indent}%{new}m = arith.minui %n, %c2 : index",
                f"{indent}%{new}s = tensor.extract_slice %{source}[%c{start}] [%{new}m] [1] : {self.TYPE} to {DYNAMIC}",
                f"{indent}%{new} = tensor.insert_slice %{new}s into %{target}[%c{end}] [%{new}m] [1] : {DYNAMIC} into {self.TYPE}",
            ],
            step,
            [new],
        )

    def _call(self, known: list[str], indent: str):
        """A function of two tensors, inlined or kept apart, with one result or two."""
        a, b, new = *self._draw.choices(known, k=2), self._name("v")
        name, type_ = f"@f{len(self._functions)}", self.TYPE
        kept, two, kind = self._draw.random() < 0.5, self._draw.random() < 0.3, self._draw.randrange(3)
        body = (
            [f"%0 = arith.addi %a, %b : {type_}"],
            [f"%0 = arith.muli %a, %a : {type_}"],
            [
                "%c1 = arith.constant 1 : index",
                f"%e = tensor.extract %a[%c1] : {type_}",
                f"%0 = tensor.insert %e into %b[%c1] : {type_}",
            ],
        )[kind]
        results, types = ("%a, %0", f"{type_}, {type_}") if two else ("%0", type_)
        self._functions.append(
            "\n".join(
                (
                    f"func.func private {name}(%a: {type_}, %b: {type_}) -> ({types}){' attributes {noinline}' if kept else ''} {{",
                    *(f"  {line}" for line in body),
                    f"  return {results} : {types}",
                    "}\n",
                )
            )
        )
        made = [f"{new}#0", f"{new}#1"] if two else [new]

        def step(values: Values) -> None:
            x, y = values[a], values[b]
            result = x + y if kind == 0 else x * x
            if kind == 2:
                result = y.copy()
                result[1] = x[1]
            values.update(zip(made, (x, result) if two else (result,), strict=True))

        call = f"func.call {name}(%{a}, %{b}) : ({type_}, {type_}) -> ({types})"
        return [f"{indent}%{new}{':2' if two else ''} = {call}"], step, made

    def _from_static(self, op: str, name: str, indent: str) -> list[str]:
        """Lines that name the result of ``op``, of four elements."""
        return [f"{indent}%{name} = {op} : {STATIC}"]

    def _as_static(self, name: str, new: str, indent: str) -> list[str]:
        """Lines that give a tensor four elements, under the name ``new``; none where it has them."""
        return []


class Dynamic(Stateful):
    """With tensors of dynamic size, which have four elements in every call."""

    TYPE: ClassVar[str] = DYNAMIC

    def _constant(self, name: str, values: list[int]) -> list[str]:
        return self._from_static(f"arith.constant dense<{values}>", name, "  ")

    def _from_static(self, op: str, name: str, indent: str) -> list[str]:
        return [
            f"{indent}%{name}k = {op} : {STATIC}",
            f"{indent}%{name} = tensor.cast %{name}k : {STATIC} to {DYNAMIC}",
        ]

    def _as_static(self, name: str, new: str, indent: str) -> list[str]:
        return [f"{indent}%{new} = tensor.cast %{name} : {DYNAMIC} to {STATIC}"]


class Remembering(Stateful):
    """With more loads and stores, inside of loops and branches and beside them."""

    ACCESSES: ClassVar[float] = 0.6
