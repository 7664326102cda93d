"""What a program of sizes and capacities must do with each call: computed in Python, sharing nothing with the code under test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LARGEST = 4096
"""Calls that would legally make a tensor of more elements are left out: they are about memory, not
about bounds."""


class Violation(Exception):
    """A size does not fit."""


class TooLarge(Exception):
    """The call is legal and large."""


def wrap(value: int, bits: int = 64) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def require(condition: bool) -> None:
    if not condition:
        raise Violation


def fits(offset: int, size: int, stride: int, capacity: int) -> None:
    require(size >= 0)
    if size > 0:
        require(offset >= 0 and offset + (size - 1) * stride < capacity)


@dataclass
class Number:
    """An index value: its SSA name and how the oracle computes it from the arguments."""

    name: str
    value: Callable[[dict], int]


@dataclass
class Tensor:
    name: str
    dims: tuple[int | None, ...]

    @property
    def type(self) -> str:
        return f"tensor<{''.join(('?' if d is None else str(d)) + 'x' for d in self.dims)}f32>"


class Program:
    """``arguments`` are (name, MLIR type); ``calls`` are argument values; ``run`` is the oracle."""

    def __init__(self) -> None:
        self.arguments: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.steps: list[Callable[[dict], None]] = []
        self.result: Tensor | None = None
        self.calls: list[dict[str, object]] = []
        self.count = 0

    def __repr__(self) -> str:
        return "Program"  # its text is in every message

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    @property
    def text(self) -> str:
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.arguments)
        body = "\n".join(f"  {line}" for line in self.lines)
        return (
            f"func.func @main({arguments}) -> {self.result.type} {{\n{body}\n"
            f"  return {self.result.name} : {self.result.type}\n}}\n"
        )

    def run(self, call: dict[str, object]) -> np.ndarray:
        """The result, or Violation, or TooLarge. A static size in an argument's type is the caller's
        duty too."""
        values = dict(call)
        for name, kind in self.arguments:
            if kind.startswith("tensor"):
                for have, want in zip(np.shape(call[name]), kind[7:].split("x")[:-1], strict=True):
                    require(want == "?" or have == int(want))
        for step in self.steps:
            step(values)
        return values[self.result.name]
