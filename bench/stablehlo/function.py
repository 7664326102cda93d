"""A function as it grows, op by op, each with NumPy's result."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from .value import (
    APPROXIMATION,
    DTYPES,
    ELEMENTS,
    FLOATS,
    LARGEST,
    SIGNED,
    Value,
    is_representable,
    largest,
    rounding,
    tensor,
)

SIZES = (1, 2, 3, 4, 5, 7, 8, 16, 17, 33)
EQUAL_SIZES = (2, 3, 4, 5)
EQUAL_SHAPES = 0.45
"""How many shapes have equal dimensions: an order of dimensions that is wrong does not change such a type."""
MOST_ELEMENTS = 40000
RECENT = 4
"""Most ops take one of the last values, so that functions become deep."""


class Rejected(Exception):
    """The op that was drawn does not apply to the values that are there, or its result is not defined."""


class Function:
    """`func.func @name`. Every op returns a new value; an op that is `Rejected` leaves nothing behind."""

    def __init__(self, name: str, draw: random.Random, elements: tuple[str, ...] = ELEMENTS) -> None:
        self.name = name
        self.draw = draw
        self.elements = elements
        self.lines: list[str] = []
        self.arguments: list[Value] = []
        self.body: list[Value] = []
        self.known: list[Value] = []
        """What an op may take: arguments and results of ops."""
        self.computed: list[Value] = []
        """Results of ops that are no constants."""
        self.ops: list[str] = []
        self.results: list[Value] = []
        self.constants: set[str] = set()
        """Arguments that are constants of the program instead."""

    def text(self) -> str:
        types = ", ".join(v.type for v in self.results)
        signature = ", ".join(f"{v.name}: {v.type}" for v in self.passed)
        head = f"func.func @{self.name}({signature}) -> ({types}) {{"
        constants = [_constant(v) for v in self.arguments if v.name in self.constants]
        end = f"  return {', '.join(v.name for v in self.results)} : {types}"
        return "\n".join([head, *constants, *self.lines, end, "}", ""])

    @property
    def passed(self) -> list[Value]:
        """The arguments that a caller passes."""
        return [v for v in self.arguments if v.name not in self.constants]

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Takes back what the block has added if it raises."""
        grown: tuple[list, ...] = (self.lines, self.arguments, self.body, self.known, self.computed, self.ops)
        before = [len(part) for part in grown]
        try:
            yield
        except Rejected:
            for part, length in zip(grown, before, strict=True):
                del part[length:]
            raise

    def shape(self) -> tuple[int, ...]:
        if self.draw.random() < EQUAL_SHAPES:
            return (self.draw.choice(EQUAL_SIZES),) * self.draw.choice((2, 3, 3, 4))
        return tuple(self.draw.choice(SIZES) for _ in range(self.draw.choice((1, 2, 2, 3, 3, 4))))

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self.draw.randrange(1 << 30))

    def argument(self, shape: tuple[int, ...], element: str) -> Value:
        """A new argument: small integers, or floats that are multiples of 1/8."""
        low, high = (-32, 33) if element in FLOATS else (-20, 21) if element in SIGNED else (0, 41)
        data = np.asarray(self.generator().integers(low, 2 if element == "i1" else high, shape))
        value = self.indices(data / 8 if element in FLOATS else data, element)
        self.known.append(value)
        return value

    def indices(self, data: np.ndarray, element: str) -> Value:
        """A new argument with these elements, which no later op takes by chance."""
        value = Value(f"%a{len(self.arguments)}", data.astype(DTYPES[element]), element)
        self.arguments.append(value)
        return value

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> Value:
        """A known value, most often a recent one."""
        fitting = [value for value in self.known if fits(value)]
        if not fitting:
            raise Rejected
        return self.draw.choice(fitting[-RECENT:] if self.draw.random() < 0.8 else fitting)

    def like(self, value: Value) -> Value:
        """Another value of the same type: a known one, or a new argument."""
        same = [v for v in self.known if v.type == value.type and v.name != value.name]
        if same and self.draw.random() < 0.6:
            return self.draw.choice(same)
        return self.argument(value.shape, value.element)

    def op(
        self,
        text: str,
        data: np.ndarray,
        element: str,
        name: str,
        error: float = 0.0,
        approximated: bool = False,
    ) -> Value:
        """Adds ``%v = text`` with the result ``data`` (float64, int64, bool), rounded to ``element``.

        ``error`` is what the operands' errors and the op's own sums come to. Devices differ in the last bits
        of an op that is ``approximated``.
        """
        data = np.asarray(data)
        if data.size > MOST_ELEMENTS or not data.size:
            raise Rejected
        if element in FLOATS:
            data = data.astype(np.float64)
            if not np.all(np.isfinite(data)) or not largest(data) + error < LARGEST[element]:
                raise Rejected
            if approximated:
                error += APPROXIMATION[element] * rounding(element) * max(1.0, largest(data))
            elif error or not is_representable(data, element):
                error += rounding(element) * max(largest(data), 2.0**-12)
        value = Value(f"%v{len(self.body)}", data.astype(DTYPES[element]), element, error)
        self.lines.append(f"  {value.name} = {text}")
        self.body.append(value)
        self.known.append(value)
        self.computed.append(value)
        self.ops.append(name)
        return value

    def constant(self, number: float, element: str, shape: tuple[int, ...] = ()) -> Value:
        """A tensor whose elements are all ``number``."""
        if element == "i1":
            spelled = "true" if number else "false"
        elif element in FLOATS:
            bits = np.asarray(number).astype(DTYPES[element]).tobytes()[::-1].hex()
            spelled = f"{number:e}" if np.isfinite(number) else f"0x{bits.upper()}"
        else:
            spelled = str(int(number))
        data = np.full(shape, number).astype(DTYPES[element])
        value = Value(f"%v{len(self.body)}", data, element)
        self.lines.append(f"  {value.name} = stablehlo.constant dense<{spelled}> : {value.type}")
        self.body.append(value)
        if np.all(np.isfinite(data.astype(np.float64))):
            self.known.append(value)
        return value


def region(element: str, *lines: str) -> str:
    """The region of an op that combines two scalars ``%l`` and ``%r``."""
    scalar = tensor((), element)
    body = "".join(f"    {line}\n" for line in lines)
    return f"({{\n  ^bb0(%l: {scalar}, %r: {scalar}):\n{body}  }})"


def combining(element: str, op: str) -> str:
    """The region that returns ``op`` of its two scalars."""
    scalar = tensor((), element)
    return region(element, f"%m = stablehlo.{op} %l, %r : {scalar}", f"stablehlo.return %m : {scalar}")


def _constant(value: Value) -> str:
    """The line that gives a constant the name of ``value``."""
    if value.element == "i1":
        spelled = str(value.data.tolist()).lower()
    else:
        spelled = f'"0x{np.ascontiguousarray(value.data).tobytes().hex().upper()}"'
    return f"  {value.name} = stablehlo.constant dense<{spelled}> : {value.type}"
