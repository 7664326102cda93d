"""Tensors from the tensor dialect: slices with strides and dropped dimensions, pads, concatenations, casts, elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from scene_integers import Draw, condition, integer, place
from scene_values import (
    KINDS,
    LARGEST,
    Env,
    Node,
    Text,
    Undefined,
    array,
    dim,
    filled,
    identity,
    parallel,
    require,
    sizes_of,
    tensor,
)

ARRAYS: dict[str, Callable[[Draw, int, str, int], Node]] = {}
"""By name, what makes a tensor: (draw, rank, element, depth)."""


def makes(function: Callable[[Draw, int, str, int], Node]) -> Callable[[Draw, int, str, int], Node]:
    ARRAYS[function.__name__] = function
    return function


def given(d: Draw, rank: int, element: str) -> Node:
    """An argument of the program, or a computed tensor of its shape, which is a dispatch."""
    have = [a for a in d.arguments if a.dims is not None and len(a.dims) == rank and a.element == element]
    have = [a for a in have if a not in d.index_arrays]
    if have and d.one_in(2):
        made = d.pick(have)
    else:
        made = d.array_argument([d.pick((None, None, d.number(1, 6))) for _ in range(rank)], element)
    return twice(made) if d.one_in(3) else made


def tree(d: Draw, rank: int, element: str, depth: int) -> Node:
    if depth <= 0:
        return given(d, rank, element)
    return ARRAYS[d.pick(sorted(ARRAYS))](d, rank, element, depth)


def twice(of: Node) -> Node:
    add = "addf" if of.element[0] == "f" else "addi"
    rank = len(of.dims)

    def write(text: Text) -> str:
        source, map_ = text(of), identity(rank)
        sizes = ", ".join(text(s) for s in sizes_of(of))
        empty = text.op("e", f"tensor.empty({sizes}) : {of.type}")
        return text.op(
            "y",
            f"linalg.generic {{indexing_maps = [{map_}, {map_}], iterator_types = [{parallel(rank)}]}} ins({source} : {of.type}) "
            f"outs({empty} : {of.type}) {{\n^bb0(%p: {of.element}, %q: {of.element}):\n"
            f"%r = arith.{add} %p, %p : {of.element}\nlinalg.yield %r : {of.element}\n}} -> {of.type}",
        )

    return array(of.dims, of.element, write, lambda env: (env(of) + env(of)).astype(KINDS[of.element]))


class Places:
    """Offsets, sizes and strides of a slice of ``whole``; some of them numbers of the op itself."""

    def __init__(self, d: Draw, whole: Node, rank_of_slice: int | None = None) -> None:
        rank = len(whole.dims)
        dropped = rank - (rank if rank_of_slice is None else rank_of_slice)
        self.whole, self.offsets, self.sizes, self.strides = whole, [], [], []
        self.dropped = sorted(d.draw(_some(rank, dropped)))
        for i in range(rank):
            capacity = dim(whole, i)
            self.offsets.append(d.number(0, 3) if d.one_in(3) else place(d, capacity, [whole], 1))
            if i in self.dropped:
                self.sizes.append(1)
            else:
                self.sizes.append(
                    d.number(0 if d.one_in(6) else 1, 3) if d.one_in(3) else integer(d, "index", 1, [whole])
                )
            self.strides.append(
                d.pick((1, 1, 1, 2, 3)) if d.number(0, 4) else integer(d, "index", 0, [whole])
            )

    @property
    def dims(self) -> tuple[int | None, ...]:
        return tuple(
            s if isinstance(s, int) else None for i, s in enumerate(self.sizes) if i not in self.dropped
        )

    @property
    def dynamic_sizes(self) -> list[Node]:
        return [s for i, s in enumerate(self.sizes) if isinstance(s, Node) and i not in self.dropped]

    def text(self, text: Text) -> str:
        rows = (self.offsets, self.sizes, self.strides)
        return " ".join(
            "[" + ", ".join(str(v) if isinstance(v, int) else text(v) for v in row) + "]" for row in rows
        )

    def slices(self, env: Env) -> tuple[slice, ...] | None:
        """What NumPy indexes with; None where nothing is read. The size is not negative, and the stride not 0."""
        rows = [
            [v if isinstance(v, int) else env(v) for v in row]
            for row in (self.offsets, self.sizes, self.strides)
        ]
        for size in rows[1]:
            require(size >= 0)
        if 0 in rows[1]:
            return None
        for offset, size, stride, capacity in zip(*rows, env(self.whole).shape, strict=True):
            if stride <= 0:
                raise Undefined
            require(offset >= 0 and offset + (size - 1) * stride < capacity)
        return tuple(slice(o, o + (s - 1) * k + 1, k) for o, s, k in zip(*rows, strict=True))

    def shape(self, env: Env) -> tuple[int, ...]:
        shape = [s if isinstance(s, int) else env(s) for s in self.sizes]
        if any(s > LARGEST for s in shape):
            raise Undefined
        return tuple(s for i, s in enumerate(shape) if i not in self.dropped)


def _some(rank: int, count: int):
    return st.lists(st.integers(0, rank - 1), min_size=count, max_size=count, unique=True)


@makes
def slice_of(d: Draw, rank: int, element: str, depth: int) -> Node:
    whole = tree(d, min(3, rank + d.pick((0, 0, 1))), element, depth - 1)
    at = Places(d, whole, rank)

    def value(env: Env) -> np.ndarray:
        env(whole)
        found = at.slices(env)
        if found is None:
            return np.zeros(at.shape(env), KINDS[element])
        return env(whole)[found].reshape(at.shape(env))

    def write(text: Text) -> str:
        return text.op(
            "r",
            f"tensor.extract_slice {text(whole)}{at.text(text)} : {whole.type} to {tensor(at.dims, element)}",
        )

    return array(at.dims, element, write, value)


@makes
def inserted(d: Draw, rank: int, element: str, depth: int) -> Node:
    whole = tree(d, rank, element, depth - 1)
    at = Places(d, whole, d.pick(range(max(rank - 1, 1), rank + 1)))
    fits = d.number(0, 3) > 0
    inner = len(at.dims)
    if fits:  # a source of the size that is written
        source = twice_of_size(d, at.dims, at.dynamic_sizes, element)
    else:
        source = tree(d, inner, element, 0)

    def value(env: Env) -> np.ndarray:
        into = env(whole).copy()
        found = at.slices(env)
        shape = at.shape(env)
        require(env(source).shape == shape)
        if found is not None:
            into[found] = env(source).reshape([s if isinstance(s, int) else env(s) for s in at.sizes])
        return into

    def write(text: Text) -> str:
        part, into = text(source), text(whole)
        return text.op(
            "r", f"tensor.insert_slice {part} into {into}{at.text(text)} : {source.type} into {whole.type}"
        )

    # MLIR compares sizes that are both written as numbers.
    if any(a is not None and b is not None and a != b for a, b in zip(source.dims, at.dims, strict=True)):
        source = twice_of_size(d, at.dims, at.dynamic_sizes, element)
    elif any((a is None) != (b is None) for a, b in zip(source.dims, at.dims, strict=True)):
        source = cast_to(source, at.dims)
    return array(whole.dims, element, write, value)


def cast_to(of: Node, dims: tuple[int | None, ...]) -> Node:
    if of.dims == tuple(dims):
        return of
    return array(
        dims,
        of.element,
        lambda text: text.op("r", f"tensor.cast {text(of)} : {of.type} to {tensor(dims, of.element)}"),
        lambda env: env(of),
    )


def twice_of_size(d: Draw, dims, sizes: list[Node], element: str) -> Node:
    """A new tensor of these sizes, filled with a number."""
    number = d.number(1, 9)

    def value(env: Env) -> np.ndarray:
        left = [env(s) for s in sizes]
        shape = [left.pop(0) if n is None else n for n in dims]
        for s in shape:
            require(s >= 0)
        if any(s > LARGEST for s in shape):
            raise Undefined
        return np.full(shape, number, KINDS[element])

    def write(text: Text) -> str:
        return filled(text, dims, element, sizes, number)

    return array(dims, element, write, value)


@makes
def padded(d: Draw, rank: int, element: str, depth: int) -> Node:
    of = tree(d, rank, element, depth - 1)
    ends = [
        [d.number(0, 2) if d.one_in(2) else integer(d, "index", 1, [of]) for _ in range(rank)]
        for _ in range(2)
    ]
    dims = [
        n + a + b if n is not None and isinstance(a, int) and isinstance(b, int) else None
        for n, a, b in zip(of.dims, *ends, strict=True)
    ]
    number = f"{7}.0" if element[0] == "f" else "7"
    if None in dims and d.one_in(4):  # the result is said to have a size that it may not have
        dims[dims.index(None)] = d.number(2, 7)

    def value(env: Env) -> np.ndarray:
        low, high = ([v if isinstance(v, int) else env(v) for v in row] for row in ends)
        for v in (*low, *high):
            require(v >= 0)
        if any(v > LARGEST for v in (*low, *high)):
            raise Undefined
        return np.pad(env(of), list(zip(low, high, strict=True)), constant_values=7)

    def write(text: Text) -> str:
        fill = text.op("z", f"arith.constant {number} : {element}")
        rows = [", ".join(str(v) if isinstance(v, int) else text(v) for v in row) for row in ends]
        places = ", ".join(f"%b{i}: index" for i in range(rank))
        return text.op(
            "r",
            f"tensor.pad {text(of)} low[{rows[0]}] high[{rows[1]}] {{\n^bb0({places}):\ntensor.yield {fill} : {element}\n}} "
            f": {of.type} to {tensor(dims, element)}",
        )

    return array(tuple(dims), element, write, value)


@makes
def joined(d: Draw, rank: int, element: str, depth: int) -> Node:
    parts = [tree(d, rank, element, depth - 1), tree(d, rank, element, 0)]
    along = d.number(0, rank - 1)
    for i in range(rank):
        a, b = parts[0].dims[i], parts[1].dims[i]
        if i != along and a is not None and b is not None and a != b:
            parts[1] = parts[0]
    dims = tuple(
        (None if None in (a, b) else a + b) if i == along else (a if a is not None else b)
        for i, (a, b) in enumerate(zip(parts[0].dims, parts[1].dims, strict=True))
    )

    def value(env: Env) -> np.ndarray:
        a, b = (env(p) for p in parts)
        for i in range(rank):
            require(i == along or a.shape[i] == b.shape[i])
        return np.concatenate([a, b], along)

    def write(text: Text) -> str:
        names, types = ", ".join(text(p) for p in parts), ", ".join(p.type for p in parts)
        return text.op("r", f"tensor.concat dim({along}) {names} : ({types}) -> {tensor(dims, element)}")

    return array(dims, element, write, value)


@makes
def fixed(d: Draw, rank: int, element: str, depth: int) -> Node:
    """tensor.cast to sizes that the program takes them to be, and back at times."""
    of = tree(d, rank, element, depth - 1)
    dims = tuple(n if n is not None else d.pick((None, d.number(1, 5))) for n in of.dims)
    made = cast_to(of, dims)
    return cast_to(made, tuple(None for _ in dims)) if d.one_in(2) else made


@makes
def one_written(d: Draw, rank: int, element: str, depth: int) -> Node:
    """tensor.insert at computed places; a scalar that is loaded from another tensor at times."""
    of = tree(d, rank, element, depth - 1)
    at = [place(d, dim(of, i), [of]) for i in range(rank)]
    source = given(d, 1, element) if d.one_in(2) else None
    from_ = integer(d, "index", 1, [of]) if source is not None else None

    def value(env: Env) -> np.ndarray:
        where = tuple(env(i) for i in at)
        into = env(of).copy()
        if source is not None:
            require(0 <= env(from_) < len(env(source)))
        require(all(0 <= i < n for i, n in zip(where, into.shape, strict=True)))
        into[where] = 5 if source is None else env(source)[env(from_)]
        return into

    def write(text: Text) -> str:
        if source is None:
            number = text.op("z", f"arith.constant {'5.0' if element[0] == 'f' else '5'} : {element}")
        else:
            number = text.op("v", f"tensor.extract {text(source)}[{text(from_)}] : {source.type}")
        return text.op(
            "r", f"tensor.insert {number} into {text(of)}[{', '.join(text(i) for i in at)}] : {of.type}"
        )

    return array(of.dims, element, write, value)


@makes
def chosen(d: Draw, rank: int, element: str, depth: int) -> Node:
    """One of two tensors of one shape, by a number."""
    of = tree(d, rank, element, depth - 1)
    other = twice(of)
    test = condition(d)

    def write(text: Text) -> str:
        return text.op("r", f"arith.select {text(test)}, {text(of)}, {text(other)} : {of.type}")

    def value(env: Env) -> np.ndarray:
        env(other), env(of)
        return env(of) if env(test) else env(other)

    return array(of.dims, element, write, value)
