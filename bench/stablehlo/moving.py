"""Ops that move elements and compute nothing: orders, shapes, parts, borders."""

from __future__ import annotations

import math

import numpy as np

from .function import MOST_ELEMENTS, Function, Rejected
from .value import Value, tensor

MOST_DIMENSIONS = 5
FACTORS = (1, 2, 3, 4, 5, 7, 8)


def _has_dimensions(v: Value) -> bool:
    return v.rank >= 1


def _moved(f: Function, v: Value, text: str, data: np.ndarray, op: str) -> Value:
    """``text`` without its types: one operand, and a result that has the operand's elements."""
    typed = f"{text} : ({v.type}) -> {tensor(data.shape, v.element)}"
    return f.op(typed, data, v.element, op, v.error)


def broadcast(f: Function) -> Value:
    """Repeated elements, in dimensions that need not be in order."""
    v = f.pick(lambda v: v.rank <= 3 and v.data.size < 3000)
    rank = v.rank + f.draw.choice((0, 1, 1))
    dims = f.draw.sample(range(rank), v.rank)
    if f.draw.random() < 0.8:
        dims.sort()
    shape = [f.draw.choice((1, 2, 3, 4, 5, 8)) for _ in range(rank)]
    placed = [1] * rank
    for size, dim in zip(v.shape, dims, strict=True):
        placed[dim] = size
        if size != 1:
            shape[dim] = size
    if math.prod(shape) > MOST_ELEMENTS:
        raise Rejected
    data = np.broadcast_to(np.transpose(v.wide, np.argsort(dims)).reshape(placed), shape)
    return _moved(f, v, f"stablehlo.broadcast_in_dim {v.name}, dims = {dims}", data, "broadcast")


def transpose(f: Function) -> Value:
    v = f.pick(lambda v: v.rank >= 2)
    order = f.draw.sample(range(v.rank), v.rank)
    data = np.transpose(v.wide, order)
    return _moved(f, v, f"stablehlo.transpose {v.name}, dims = {order}", data, "transpose")


def reshape(f: Function) -> Value:
    """Two dimensions as one, or one as two."""
    v = f.pick(_has_dimensions)
    sizes = list(v.shape)
    if f.draw.random() < 0.5 and v.rank >= 2:
        at = f.draw.randrange(v.rank - 1)
        sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
    else:
        at = f.draw.randrange(v.rank)
        factor = f.draw.choice([n for n in FACTORS if sizes[at] % n == 0])
        sizes[at : at + 1] = [factor, sizes[at] // factor]
    if len(sizes) > MOST_DIMENSIONS:
        raise Rejected
    return _moved(f, v, f"stablehlo.reshape {v.name}", v.wide.reshape(sizes), "reshape")


def slice_(f: Function) -> Value:
    """A part, with strides."""
    v = f.pick(_has_dimensions)
    parts = []
    for size in v.shape:
        begin = f.draw.randrange(size)
        parts.append(slice(begin, f.draw.randrange(begin + 1, size + 1), f.draw.choice((1, 1, 1, 2, 3))))
    spelled = ", ".join(f"{part.start}:{part.stop}:{part.step}" for part in parts)
    return _moved(f, v, f"stablehlo.slice {v.name} [{spelled}]", v.wide[tuple(parts)], "slice")


def pad(f: Function) -> Value:
    """A border, also negative, and elements between the elements."""
    v = f.pick(lambda v: v.rank >= 1 and v.data.size < 4000)
    number = f.constant(f.draw.choice((0, 1, 3)) if v.element != "i1" else 0, v.element)
    low = [f.draw.choice((0, 0, 1, 2, -1)) for _ in v.shape]
    high = [f.draw.choice((0, 0, 1, 3, -1)) for _ in v.shape]
    interior = [f.draw.choice((0, 0, 0, 1, 2)) for _ in v.shape]
    spread = [size + (size - 1) * gap for size, gap in zip(v.shape, interior, strict=True)]
    if any(n + a + b < 1 for n, a, b in zip(spread, low, high, strict=True)):
        raise Rejected
    data = np.full(spread, number.wide)
    data[tuple(slice(None, None, gap + 1) for gap in interior)] = v.wide
    borders = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    data = np.pad(data, borders, constant_values=number.wide)
    cut = tuple(slice(max(-a, 0), min(b, 0) or None) for a, b in zip(low, high, strict=True))
    data = data[cut]
    text = f"stablehlo.pad {v.name}, {number.name}, low = {low}, high = {high}, interior = {interior}"
    types = f"({v.type}, {number.type}) -> {tensor(data.shape, v.element)}"
    return f.op(f"{text} : {types}", data, v.element, "pad", v.error)


def concatenate(f: Function) -> Value:
    """Two or three values, a value twice among them."""
    v = f.pick(lambda v: v.rank >= 1 and v.data.size < 8000)
    axis = f.draw.randrange(v.rank)
    parts = [v]
    for _ in range(f.draw.choice((1, 1, 2))):
        shape = (*v.shape[:axis], f.draw.choice((1, 2, 3, 5)), *v.shape[axis + 1 :])
        fitting = [w for w in f.known if w.type == tensor(shape, v.element)]
        if fitting:
            parts.append(f.draw.choice(fitting))
        else:
            parts.append(v if f.draw.random() < 0.4 else f.argument(shape, v.element))
    f.draw.shuffle(parts)
    data = np.concatenate([part.wide for part in parts], axis)
    names, types = ", ".join(part.name for part in parts), ", ".join(part.type for part in parts)
    text = f"stablehlo.concatenate {names}, dim = {axis} : ({types}) -> {tensor(data.shape, v.element)}"
    return f.op(text, data, v.element, "concatenate", max(part.error for part in parts))


def reverse(f: Function) -> Value:
    v = f.pick(_has_dimensions)
    dims = sorted(f.draw.sample(range(v.rank), f.draw.randrange(1, v.rank + 1)))
    text = f"stablehlo.reverse {v.name}, dims = {dims} : {v.type}"
    return f.op(text, np.flip(v.wide, tuple(dims)), v.element, "reverse", v.error)


def iota(f: Function) -> Value:
    """Positions along a dimension."""
    shape, element = f.shape(), f.draw.choice([e for e in f.elements if e != "i1"])
    axis = f.draw.randrange(len(shape))
    column = [-1 if n == axis else 1 for n in range(len(shape))]
    if math.prod(shape) > MOST_ELEMENTS:
        raise Rejected
    data = np.broadcast_to(np.arange(shape[axis]).reshape(column), shape)
    return f.op(f"stablehlo.iota dim = {axis} : {tensor(shape, element)}", data, element, "iota")
