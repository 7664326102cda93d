"""A drawn program is a tree of nodes: each writes itself as MLIR, and computes itself in Python.

Nothing here is shared with the code under test, or with `storage_fuzz_programs.py`: that one appends steps to a list, this one
draws a result and what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

WIDTH = {"index": 64, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1}
KINDS = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_}
LARGEST = 2048
"""A call that makes more elements than this is left out: it is about memory, not about places."""


class Illegal(Exception):
    """The call asks for a place or a size that does not exist."""


class Undefined(Exception):
    """The call is legal, and nobody says what it gives: too large, a division by zero, two writes to one place."""


def require(holds: object) -> None:
    if not holds:
        raise Illegal


def signed(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) if bits > 1 else value & 1


def regrouped(of: np.ndarray, shape: list[int]) -> np.ndarray:
    """``of`` in another shape, which has as many elements."""
    count = 1
    for size in shape:
        require(size >= 0)
        count *= size
    require(count == of.size)
    if any(size > LARGEST for size in shape):
        raise Undefined
    if not count and of.shape != tuple(shape):
        # IREE (3.13) divides: of 0 x n elements as 0 x 5, n is 5 to it, and the result is 0 x n.
        raise Undefined
    return of.reshape(shape)


@dataclass(eq=False)
class Node:
    """``dims`` are there for a tensor: numbers, and None where the size is dynamic."""

    type: str
    write: Callable[[Text], str]
    value: Callable[[Env], object]
    dims: tuple[int | None, ...] | None = None
    element: str = ""


def tensor(dims: tuple[int | None, ...], element: str) -> str:
    return f"tensor<{''.join(('?' if d is None else str(d)) + 'x' for d in dims)}{element}>"


def array(dims, element: str, write: Callable[[Text], str], value: Callable[[Env], np.ndarray]) -> Node:
    def checked(env: Env) -> np.ndarray:
        made = np.asarray(value(env))
        assert made.ndim == len(dims), (made.shape, dims)
        for have, static in zip(made.shape, dims, strict=True):
            require(static is None or have == static)
        if made.size > LARGEST or max(made.shape, default=0) > LARGEST:
            raise Undefined
        return made.astype(KINDS[element])

    return Node(tensor(tuple(dims), element), write, checked, tuple(dims), element)


class Text:
    """The ops written so far. What a region needs is written in the region, and forgotten behind it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.others: list[str] = []
        self._names: dict[Node, str] = {}
        self._count = 0

    def __call__(self, node: Node) -> str:
        if node not in self._names:
            self._names[node] = node.write(self)
        return self._names[node]

    def knows(self, node: Node) -> bool:
        return node in self._names

    def name(self, node: Node, name: str) -> None:
        self._names[node] = name

    def fresh(self, stem: str) -> str:
        self._count += 1
        return f"%{stem}{self._count}"

    def op(self, stem: str, text: str) -> str:
        made = self.fresh(stem)
        self.lines.append(f"{made} = {text}")
        return made

    def constant(self, value: int, kind: str = "index") -> str:
        return self.op("c", f"arith.constant {value} : {kind}")

    @contextmanager
    def region(self) -> Iterator[list[str]]:
        lines, names, self.lines = self.lines, dict(self._names), []
        made = self.lines
        yield made
        self.lines, self._names = lines, names


class Env:
    """One call: values of arguments, and of nodes once they are computed. A round of a loop has an environment of its own."""

    def __init__(self, known: dict[Node, object]) -> None:
        self._known = known

    def __call__(self, node: Node):
        if node not in self._known:
            self._known[node] = node.value(self)
        return self._known[node]

    def inner(self, known: dict[Node, object]) -> Env:
        return Env({**self._known, **known})


def argument(name: str, kind: str, dims=None, element: str = "") -> Node:
    def missing(_env: Env) -> object:
        raise AssertionError(name)

    return Node(kind, lambda _text: name, missing, dims, element)


def constant(value: int, kind: str = "index") -> Node:
    return Node(kind, lambda text: text.constant(value, kind), lambda _env: value)


def dim(of: Node, i: int) -> Node:
    if of.dims[i] is not None:
        return constant(of.dims[i])

    def write(text: Text) -> str:
        return text.op("d", f"tensor.dim {text(of)}, {text.constant(i)} : {of.type}")

    return Node("index", write, lambda env: env(of).shape[i])


def empty_like(text: Text, dims, element: str, sizes: list[Node]) -> str:
    """`tensor.empty`; ``sizes`` are the nodes of its dynamic dimensions."""
    return text.op("e", f"tensor.empty({', '.join(text(s) for s in sizes)}) : {tensor(dims, element)}")


def filled(text: Text, dims, element: str, sizes: list[Node], value: int) -> str:
    number = f"{value}.0" if element[0] == "f" else f"{value}"
    given = text.op("z", f"arith.constant {number} : {element}")
    return text.op(
        "f",
        f"linalg.fill ins({given} : {element}) outs({empty_like(text, dims, element, sizes)} : {tensor(dims, element)}) "
        f"-> {tensor(dims, element)}",
    )


def sizes_of(node: Node) -> list[Node]:
    return [dim(node, i) for i, d in enumerate(node.dims) if d is None]


def identity(rank: int) -> str:
    names = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({names}) -> ({names})>"


def parallel(rank: int) -> str:
    return ", ".join(['"parallel"'] * rank)
