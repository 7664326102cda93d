"""A drawn program with loops and branches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

STATIC = "tensor<4xi32>"
COUNT, LIMIT = 2, 50
"""What the argument `n` is compared with, and an element."""

Values = dict[str, np.ndarray]
Step = Callable[[Values], None]


@dataclass(frozen=True)
class Call:
    """The arguments of one."""

    x0: np.ndarray
    x1: np.ndarray
    n: int


class Program:
    """A function `main` of two tensors of 4 elements and a number: ``text`` in MLIR, and what NumPy computes for it.

    ``globals`` is what the program keeps from call to call.
    """

    TYPE: ClassVar[str] = STATIC
    SHAPE: ClassVar[tuple[int, ...]] = (4,)

    def __init__(self, seed: int) -> None:
        self._draw, self._names = random.Random(seed), 0
        self.globals: dict[str, np.ndarray] = {}
        self.before = ""
        constants = {
            f"k{n}": [self._draw.randrange(9) for _ in range(4)] for n in range(self._draw.randint(0, 2))
        }
        lines, steps, _known, made = self._block(["x0", "x1", *constants], 2, self._draw.randint(2, 4), "  ")
        kept = [name for name in made if self._draw.random() < 0.6][-4:] or made[-1:]
        types = ", ".join([self.TYPE] * len(kept))
        self.text = self.before + "\n".join(
            (
                f"func.func @main(%x0: {self.TYPE}, %x1: {self.TYPE}, %n: index) -> ({types}) {{",
                *(f"  %c{n} = arith.constant {n} : index" for n in range(4)),
                f"  %limit = arith.constant {LIMIT} : i32",
                *(line for name, values in constants.items() for line in self._constant(name, values)),
                *lines,
                f"  return {', '.join(f'%{name}' for name in kept)} : {types}",
                "}\n",
            )
        )
        self._constants, self._steps, self._kept = constants, steps, kept

    def results(self, calls: Iterable[Call]) -> list[list[np.ndarray]]:
        """Those of ``calls``, one after another in one session."""
        state = {name: value.copy() for name, value in self.globals.items()}
        return [self._called(call, state) for call in calls]

    def _called(self, call: Call, state: Values) -> list[np.ndarray]:
        values = {"x0": call.x0, "x1": call.x1, "n": np.array(call.n), **state}
        values |= {name: np.array(numbers, np.int32) for name, numbers in self._constants.items()}
        with np.errstate(over="ignore"):
            for step in self._steps:
                step(values)
        state.update({name: values[name] for name in state})
        return [values[name] for name in self._kept]

    def _constant(self, name: str, values: list[int]) -> list[str]:
        return [f"  %{name} = arith.constant dense<{values}> : {STATIC}"]

    def _at(self, element: int) -> str:
        """The position of that element, as constants."""
        return f"%c{element}"

    def _name(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    def _block(self, known: list[str], depth: int, length: int, indent: str):
        """Lines, steps, all names that are known behind it, and those that it makes."""
        lines, steps, known, made = [], [], list(known), []
        for _ in range(length):
            kind = self._draw.random()
            draw = self._elementwise
            if depth and kind < 0.65:
                draw = self._for if kind < 0.28 else self._while if kind < 0.45 else self._if
            elif kind < 0.7:
                draw = self._insert
            more, step, new = draw(known, depth, indent)
            lines, known, made = lines + more, known + new, made + new
            steps.append(step)
        return lines, steps, known, made

    def _elementwise(self, known: list[str], _depth: int, indent: str):
        name = self._draw.choice(("addi", "subi", "muli", "maxsi"))
        a, b, new = self._draw.choice(known), self._draw.choice(known), self._name("v")
        compute = {"addi": np.add, "subi": np.subtract, "muli": np.multiply, "maxsi": np.maximum}[name]

        def step(values: Values) -> None:
            values[new] = compute(values[a], values[b])

        return [f"{indent}%{new} = arith.{name} %{a}, %{b} : {self.TYPE}"], step, [new]

    def _insert(self, known: list[str], _depth: int, indent: str):
        source, target, new, element = *self._draw.choices(known, k=2), self._name("v"), self._name("q")
        start, end = self._draw.randrange(4), self._draw.randrange(4)

        def step(values: Values) -> None:
            values[new] = values[target].copy()
            values[new][end] = values[source][start]

        lines = [
            f"{indent}%{element} = tensor.extract %{source}[{self._at(start)}] : {self.TYPE}",
            f"{indent}%{new} = tensor.insert %{element} into %{target}[{self._at(end)}] : {self.TYPE}",
        ]
        return lines, step, [new]

    def _carried(self, known: list[str]) -> tuple[list[str], list[str]]:
        """What a loop starts with, and its names in the body."""
        count = self._draw.randint(1, 4)
        return self._draw.choices(known, k=count), [self._name("a") for _ in range(count)]

    def _ends(self, known: list[str], own: list[str], count: int) -> list[str]:
        return [self._draw.choice(own if own and self._draw.random() < 0.75 else known) for _ in range(count)]

    def _for(self, known: list[str], depth: int, indent: str):
        starts, names = self._carried(known)
        loop, count = self._name("r"), len(names)
        body, steps, inside, made = self._block(
            known + names, depth - 1, self._draw.randint(0, 2), indent + "  "
        )
        ends = self._ends(inside, made + names, count)
        times, end = self._draw.choice(((3, "%c3"), (None, "%n"), (2, "%c2"), (0, "%c0")))
        types = ", ".join([self.TYPE] * count)
        carried = ", ".join(f"%{name} = %{start}" for name, start in zip(names, starts, strict=True))
        lines = [
            f"{indent}%{loop}:{count} = scf.for %i{loop} = %c0 to {end} step %c1 iter_args({carried}) -> ({types}) {{",
            *body,
            f"{indent}  scf.yield {', '.join(f'%{name}' for name in ends)} : {types}",
            indent + "}",
        ]
        new = [f"{loop}#{n}" for n in range(count)]

        def step(values: Values) -> None:
            state = [values[start] for start in starts]
            for _ in range(int(values["n"]) if times is None else times):
                state = _after(values, names, state, steps, ends)
            values.update(zip(new, state, strict=True))

        return lines, step, new

    def _while(self, known: list[str], depth: int, indent: str):
        starts, names = self._carried(known)
        loop, count = self._name("w"), len(names)
        body, steps, inside, made = self._block(
            known + names, depth - 1, self._draw.randint(0, 2), indent + "  "
        )
        ends = self._ends(inside, made + names, count)
        most, tested = self._draw.randint(1, 3), self._draw.choice([*range(count), None, None])
        types = ", ".join([self.TYPE] * count)
        carried = ", ".join(f"%{name}c = %{start}" for name, start in zip(names, starts, strict=True))
        test = [f"{indent}  %more{loop} = arith.cmpi ult, %i{loop}, %c{most} : index"]
        go = f"more{loop}"
        if tested is not None:
            go = f"go{loop}"
            test += [
                f"{indent}  %e{loop} = tensor.extract %{names[tested]}c[{self._at(0)}] : {self.TYPE}",
                f"{indent}  %less{loop} = arith.cmpi slt, %e{loop}, %limit : i32",
                f"{indent}  %go{loop} = arith.andi %less{loop}, %more{loop} : i1",
            ]
        lines = [
            f"{indent}%{loop}:{count + 1} = scf.while (%i{loop} = %c0, {carried}) : (index, {types}) -> (index, {types}) {{",
            *test,
            f"{indent}  scf.condition(%{go}) %i{loop}, {', '.join(f'%{name}c' for name in names)} : index, {types}",
            indent + "} do {",
            f"{indent}^bb0(%i{loop}: index, {', '.join(f'%{name}: {self.TYPE}' for name in names)}):",
            *body,
            f"{indent}  %next{loop} = arith.addi %i{loop}, %c1 : index",
            f"{indent}  scf.yield %next{loop}, {', '.join(f'%{name}' for name in ends)} : index, {types}",
            indent + "}",
        ]
        new = [f"{loop}#{n + 1}" for n in range(count)]

        def step(values: Values) -> None:
            state = [values[start] for start in starts]
            for _ in range(most):
                if tested is not None and state[tested][0] >= LIMIT:
                    break
                state = _after(values, names, state, steps, ends)
            values.update(zip(new, state, strict=True))

        return lines, step, new

    def _if(self, known: list[str], depth: int, indent: str):
        branch, count = self._name("f"), self._draw.randint(1, 3)
        tested = self._draw.choice(known) if self._draw.random() < 0.6 else None
        types = ", ".join([self.TYPE] * count)
        lines = [f"{indent}%p{branch} = arith.cmpi eq, %n, %c{COUNT} : index"]
        if tested is not None:
            lines = [
                f"{indent}%e{branch} = tensor.extract %{tested}[{self._at(1)}] : {self.TYPE}",
                f"{indent}%p{branch} = arith.cmpi slt, %e{branch}, %limit : i32",
            ]
        lines.append(f"{indent}%{branch}:{count} = scf.if %p{branch} -> ({types}) {{")
        ways = []
        for number in range(2):
            body, steps, inside, made = self._block(known, depth - 1, self._draw.randint(0, 2), indent + "  ")
            ends = self._ends(inside, made, count)
            lines += [*body, f"{indent}  scf.yield {', '.join(f'%{name}' for name in ends)} : {types}"]
            lines.append(indent + ("} else {" if number == 0 else "}"))
            ways.append((steps, ends))
        new = [f"{branch}#{n}" for n in range(count)]

        def step(values: Values) -> None:
            taken = values["n"] == COUNT if tested is None else values[tested][1] < LIMIT
            steps, ends = ways[0 if taken else 1]
            values.update(zip(new, _after(values, [], [], steps, ends), strict=True))

        return lines, step, new


def _after(
    values: Values, names: list[str], state: list[np.ndarray], steps: list[Step], ends: list[str]
) -> list[np.ndarray]:
    """``ends`` behind ``steps``, in which ``names`` stand for ``state``; globals are those of ``values``, too."""
    inside = {**values, **dict(zip(names, state, strict=True))}
    for step in steps:
        step(inside)
    values.update({name: value for name, value in inside.items() if name.startswith("@")})
    return [inside[end] for end in ends]
