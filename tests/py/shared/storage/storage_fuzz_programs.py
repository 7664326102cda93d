"""Random programs about places and sizes, text and oracle side by side: slices, pads, gathers and scatters with and without masks,
reads under branches and loops of a body, choices, calls, flow ops, sizes of zero, iota and constant indices, unsigned arithmetic.

A program is a function of integers and tensors. Each step appends MLIR text and a Python closure on the values so far; a closure
raises Violation where a place does not exist. NumPy computes the numbers. It shares nothing with the code under test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st
from storage_oracle import LARGEST, TooLarge, Violation, require, wrap

KINDS = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "i8": np.int8, "i16": np.int16}
EDGES = (-1, -2, 2**32, 2**32 + 1, 2**63 - 1, -(2**63))
Values = dict[str, object]


@dataclass(frozen=True)
class Number:
    name: str


@dataclass(frozen=True)
class Array:
    name: str
    dims: tuple[int | None, ...]
    kind: str = "f32"

    @property
    def type(self) -> str:
        return f"tensor<{''.join(('?' if d is None else str(d)) + 'x' for d in self.dims)}{self.kind}>"


@dataclass
class FuzzProgram:
    name: str = "program"
    arguments: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    steps: list[Callable[[Values], None]] = field(default_factory=list)
    result: Array | None = None
    calls: list[Values] = field(default_factory=list)

    def __repr__(self) -> str:
        return self.name

    @property
    def text(self) -> str:
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.arguments)
        body = "\n".join(f"  {line}" for line in self.lines)
        text = "\n".join(
            [
                *self.others,
                f"func.func @{self.name}({arguments}) -> {self.result.type} {{\n{body}\n"
                f"  return {self.result.name} : {self.result.type}\n}}",
            ]
        )
        return text.replace("@PROGRAM_", f"@{self.name}_")

    def run(self, call: Values) -> np.ndarray:
        """The result, or Violation, or TooLarge. A static size in an argument's type is the caller's duty."""
        values = dict(call)
        for name, kind in self.arguments:
            if kind.startswith("tensor"):
                for have, want in zip(np.shape(call[name]), kind[7:].split("x")[:-1], strict=True):
                    require(want == "?" or have == int(want))
        for step in self.steps:
            step(values)
        return values[self.result.name]


class Writer:
    """Draws one program."""

    def __init__(self, draw: Callable) -> None:
        self.draw, self.p, self.count = draw, FuzzProgram(), 0
        self.numbers: list[Number] = []
        self.arrays: list[Array] = []

    def pick(self, choices):
        return self.draw(st.sampled_from(list(choices)))

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def chance(self, one_in: int) -> bool:
        return self.integer(1, one_in) == 1

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def line(self, text: str) -> None:
        self.p.lines.append(text)

    # -- values ---------------------------------------------------------------------------------------------

    def computed(self, stem: str, text: str, compute: Callable[[Values], int]) -> Number:
        """An index: ``text`` after the name and ``=``, and its oracle."""
        made = Number(self.fresh(stem))
        self.line(f"{made.name} = {text}")
        self.p.steps.append(lambda v: v.__setitem__(made.name, compute(v)))
        return made

    def constant(self, value: int) -> Number:
        return self.computed("c", f"arith.constant {value} : index", lambda v: value)

    def number_argument(self) -> Number:
        kind, name = self.pick(("index", "index", "i64", "i32")), self.fresh("n")
        self.p.arguments.append((name, kind))
        if kind == "index":
            made = Number(name)
        else:
            made = self.computed("i", f"arith.index_cast {name} : {kind} to index", lambda v: v[name])
        self.numbers.append(made)
        return made

    def dim(self, array: Array, i: int) -> Number:
        at = self.constant(i)
        return self.computed(
            "d", f"tensor.dim {array.name}, {at.name} : {array.type}", lambda v: v[array.name].shape[i]
        )

    def number(self) -> Number:
        choice = self.pick(
            ("argument", "argument", "constant", "dim", "signed", "unsigned", "unsigned", "choice")
        )
        if choice == "argument" or not (self.numbers or self.arrays):
            return self.number_argument() if len(self.numbers) < 3 else self.pick(self.numbers)
        if choice == "constant":
            return self.constant(self.integer(0, 6))
        if choice == "dim" and self.arrays:
            array = self.pick(self.arrays)
            return self.dim(array, self.integer(0, len(array.dims) - 1))
        base = self.pick(self.numbers) if self.numbers else self.number_argument()
        k = self.integer(1, 7)
        other = self.constant(k)
        if choice == "choice":
            predicate = self.pick(("slt", "sge", "ult", "uge"))
            compare = self.fresh("b")
            self.line(f"{compare} = arith.cmpi {predicate}, {base.name}, {other.name} : index")
            return self.computed(
                "s",
                f"arith.select {compare}, {base.name}, {other.name} : index",
                lambda v: v[base.name] if _compare(predicate, v[base.name], k) else k,
            )
        ops = _UNSIGNED if choice == "unsigned" else _SIGNED
        op = self.pick(ops)
        made = self.computed(
            "e", f"arith.{op} {base.name}, {other.name} : index", lambda v: wrap(ops[op](v[base.name], k))
        )
        self.numbers.append(made)
        return made

    def array_argument(self, rank: int, kind: str = "f32", static_in: int = 3) -> Array:
        dims = tuple(
            self.integer(0 if self.chance(8) else 1, 6) if static_in and self.chance(static_in) else None
            for _ in range(rank)
        )
        made = Array(self.fresh("x"), dims, kind)
        self.p.arguments.append((made.name, made.type))
        if kind not in ("i1",):
            self.arrays.append(made)
        return made

    def array(self, rank: int, kind: str | None = None) -> Array:
        have = [a for a in self.arrays if len(a.dims) == rank and kind in (None, a.kind)]
        if have and self.chance(2):
            return self.pick(have)
        return self.array_argument(rank, kind or self.pick(("f32", "f32", "i32", "i8", "i16", "i64")))

    def made(
        self, stem: str, dims: tuple[int | None, ...], kind: str, compute: Callable[[Values], np.ndarray]
    ) -> Array:
        made = Array(self.fresh(stem), dims, kind)

        def run(v: Values) -> None:
            v[made.name] = compute(v)
            if v[made.name].size > LARGEST or max(v[made.name].shape, default=0) > LARGEST:
                raise TooLarge

        self.p.steps.append(run)
        self.arrays.append(made)
        return made

    def sized(self, array: Array) -> str:
        """`tensor.empty` of the shape of ``array``."""
        sizes = ", ".join(self.dim(array, i).name for i, d in enumerate(array.dims) if d is None)
        name = self.fresh("e")
        self.line(f"{name} = tensor.empty({sizes}) : {array.type}")
        return name

    def twice(self, array: Array) -> Array:
        empty = self.sized(array)
        map_ = _identity(len(array.dims))
        made = self.made(
            "y",
            array.dims,
            array.kind,
            lambda v: (v[array.name] * KINDS[array.kind](2)).astype(KINDS[array.kind]),
        )
        add = "addf" if array.kind[0] == "f" else "addi"
        self.line(
            f"{made.name} = linalg.generic {{indexing_maps = [{map_}, {map_}], iterator_types = [{_loops(len(array.dims))}]}} "
            f"ins({array.name} : {array.type}) outs({empty} : {array.type}) {{\n  ^bb0(%p: {array.kind}, %q: {array.kind}):\n"
            f"    %r = arith.{add} %p, %p : {array.kind}\n    linalg.yield %r : {array.kind}\n  }} -> {array.type}"
        )
        return made


def _compare(predicate: str, a: int, b: int) -> bool:
    if predicate[0] == "u":
        a, b = a % 2**64, b % 2**64
    return {"lt": a < b, "ge": a >= b}[predicate[1:]]


def _u(compute: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: compute(a % 2**64, b % 2**64)


_SIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "minsi": min,
    "maxsi": max,
    "floordivsi": lambda a, b: a // b,
    "remsi": lambda a, b: a - b * (abs(a) // b * (1 if a >= 0 else -1)),
}
_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "divui": _u(lambda a, b: a // b),
    "remui": _u(lambda a, b: a % b),
    "minui": _u(min),
    "maxui": _u(max),
    "shrui": _u(lambda a, b: a >> b),
    "andi": _u(lambda a, b: a & b),
}


def _identity(rank: int) -> str:
    names = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({names}) -> ({names})>"


def _loops(rank: int) -> str:
    return ", ".join(['"parallel"'] * rank)


def part(offset: int, size: int, stride: int, capacity: int, empty: bool) -> None:
    """``size`` places from ``offset`` on lie inside, unless the slice has no element."""
    require(size >= 0)
    if size and not empty:
        require(offset >= 0 and offset + (size - 1) * stride < capacity)


def taken(array: np.ndarray, places: list[tuple[int, int, int]]) -> np.ndarray:
    """The slice, after the check that it is one."""
    empty = any(size == 0 for _, size, _ in places)
    for (offset, size, stride), capacity in zip(places, array.shape, strict=True):
        part(offset, size, stride, capacity, empty)
    if any(size > LARGEST for _, size, _ in places):
        raise TooLarge
    if empty:
        return np.zeros([size for _, size, _ in places], array.dtype)
    return array[tuple(slice(o, o + (s - 1) * k + 1, k) for o, s, k in places)].copy()


def violated(call: Callable[[], object]) -> bool:
    try:
        call()
    except Violation:
        return True
    return False
