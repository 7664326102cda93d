"""Ops that combine many elements: reductions, windows, sorts; and the error of a sum."""

from __future__ import annotations

import numpy as np

from .binary import BIT_OPS, COMBINATIONS
from .function import Function, Rejected, combining, region
from .value import DTYPES, FLOATS, PRECISION, SIGNED, Value, largest, rounding, tensor


def sum_error(element: str, terms: int, absolute: float, step: float) -> float:
    """The rounding errors of a sum of ``terms`` in the float type ``element``, in any order.

    ``absolute`` is the sum of the absolute terms. Every term is a multiple of ``step``, if it is not 0: a
    sum that fits into the significand in such steps has no error. n roundings are taken to add up to sqrt(n).
    """
    if step and absolute / step < 2 ** PRECISION[element]:
        return 0.0
    return rounding(element) * absolute * terms**0.5


def step_of(v: Value) -> float:
    """1/8 if all elements are multiples of it and exact, else 0."""
    return 1 / 8 if v.is_exact and np.array_equal(np.rint(v.wide * 8), v.wide * 8) else 0.0


def _drawn_op(f: Function, element: str) -> str:
    if element in FLOATS:
        return f.draw.choice(("add", "maximum", "minimum"))
    return f.draw.choice(BIT_OPS if element == "i1" else tuple(COMBINATIONS))


def _identity(f: Function, element: str, op: str) -> Value:
    """The constant that a reduction by ``op`` begins with."""
    if element in FLOATS:
        low, high = -np.inf, np.inf
    elif element == "i1":
        low, high = 0, 1
    else:
        low, high = np.iinfo(DTYPES[element]).min, np.iinfo(DTYPES[element]).max
    numbers = {"maximum": low, "minimum": high, "multiply": 1, "and": -1 if element in SIGNED else high}
    return f.constant(numbers.get(op, 0), element)


def reduce(f: Function) -> Value:
    """A reduction over one or more dimensions."""
    v = f.pick(lambda v: v.rank >= 1)
    op = _drawn_op(f, v.element)
    dims = sorted(f.draw.sample(range(v.rank), f.draw.randrange(1, v.rank + 1)))
    begin = _identity(f, v.element, op)
    data = np.asarray(COMBINATIONS[op].reduce(v.wide, axis=tuple(dims)))
    error = v.error
    if v.is_float and op == "add":
        terms = v.data.size // data.size
        absolute = largest(np.abs(v.wide).sum(axis=tuple(dims)))
        error = v.error * terms + sum_error(v.element, terms, absolute, step_of(v))
    text = f"stablehlo.reduce({v.name} init: {begin.name}) applies stablehlo.{op} across dimensions = {dims}"
    types = f"({v.type}, {begin.type}) -> {tensor(data.shape, v.element)}"
    return f.op(f"{text} : {types}", data, v.element, f"reduce {op}", error)


def reduce_window(f: Function) -> Value:
    """A pooling with strides, dilated windows and a border."""
    v = f.pick(lambda v: v.rank >= 1 and v.data.size < 5000)
    op = _drawn_op(f, v.element)
    window = [f.draw.choice((1, 1, 2, 3)) for _ in v.shape]
    strides = [f.draw.choice((1, 1, 2)) for _ in v.shape]
    padding = [[f.draw.choice((0, 0, 1)), f.draw.choice((0, 0, 1))] for _ in v.shape]
    dilations = [f.draw.choice((1, 1, 1, 2)) for _ in v.shape]
    begin = _identity(f, v.element, op)
    padded = np.pad(v.wide, padding, constant_values=begin.wide)
    shape = [
        (size - (width - 1) * gap - 1) // stride + 1
        for size, width, gap, stride in zip(padded.shape, window, dilations, strides, strict=True)
    ]
    if min(shape) < 1:
        raise Rejected
    parts = [
        padded[
            tuple(
                slice(n * gap, n * gap + (size - 1) * stride + 1, stride)
                for n, gap, size, stride in zip(at, dilations, shape, strides, strict=True)
            )
        ]
        for at in np.ndindex(*window)
    ]
    data, error = COMBINATIONS[op].reduce(np.stack(parts), axis=0), v.error
    if v.is_float and op == "add":
        absolute = largest(np.abs(np.stack(parts)).sum(axis=0))
        error = v.error * len(parts) + sum_error(v.element, len(parts), absolute, step_of(v))
    elif v.is_float and not np.all(np.isfinite(data)):  # a window of the border alone
        raise Rejected
    borders = f"dense<{padding}> : tensor<{v.rank}x2xi64>"
    text = (
        f'"stablehlo.reduce_window"({v.name}, {begin.name}) <{{'
        f"window_dimensions = {array(window)}, window_strides = {array(strides)}, "
        f"window_dilations = {array(dilations)}, padding = {borders}}}> {combining(v.element, op)}"
    )
    types = f"({v.type}, {begin.type}) -> {tensor(tuple(shape), v.element)}"
    return f.op(f"{text} : {types}", data, v.element, f"reduce_window {op}", error)


def array(numbers: list[int]) -> str:
    """MLIR's spelling of an array of i64."""
    return f"array<i64: {', '.join(map(str, numbers))}>"


def sort(f: Function) -> Value:
    """The elements in order along a dimension, upwards or downwards."""
    v = f.pick(lambda v: v.rank >= 1 and v.data.size < 600 and v.element != "i1" and v.is_exact)
    axis, direction = f.draw.randrange(v.rank), f.draw.choice(("LT", "GT"))
    data = np.sort(v.wide, axis=axis)
    scalar = tensor((), v.element)
    order = f"stablehlo.compare {direction}, %l, %r, {v.comparison} : ({scalar}, {scalar}) -> tensor<i1>"
    body = region(v.element, f"%m = {order}", "stablehlo.return %m : tensor<i1>")
    text = f'"stablehlo.sort"({v.name}) <{{dimension = {axis} : i64, is_stable = true}}> {body}'
    data = np.flip(data, axis) if direction == "GT" else data
    return f.op(f"{text} : ({v.type}) -> {v.type}", data, v.element, "sort")
