"""Sums of products: dot_general with batches and two layouts; convolutions, grouped and dilated."""

from __future__ import annotations

import numpy as np

from .function import Function, Rejected
from .reducing import step_of, sum_error
from .value import Value, largest, tensor

SUMS = {"i8": "i32", "i16": "i32", "ui8": "ui32"}
"""The type of a sum of products, where it is not that of the operands."""
CONVOLVED = ("f32", "f16", "i8", "i32")


def _error(v: Value, w: Value, element: str, terms: int, absolute: float) -> float:
    """The error of sums of ``terms`` products; ``absolute`` is the largest sum of absolute products."""
    if not v.is_float:
        return 0.0
    step = (step_of(v) or 0.0) * (step_of(w) or 0.0)
    each = v.error * largest(w.wide) + w.error * largest(v.wide) + v.error * w.error
    return terms * each + sum_error(element, terms, absolute, step)


def dot(f: Function) -> Value:
    """A matmul with or without a batch, whose second operand may be transposed."""
    v = f.pick(lambda v: v.rank in (2, 3) and v.data.size < 4000)
    batch, inner, outer = v.shape[:-2], v.shape[-1], f.draw.choice((1, 3, 4, 8, 16, 17))
    is_transposed = f.draw.random() > 0.6
    w = f.argument((*batch, outer, inner) if is_transposed else (*batch, inner, outer), v.element)
    element = f.draw.choice((v.element, "f32")) if v.is_float else SUMS.get(v.element, v.element)
    second = np.swapaxes(w.wide, -1, -2) if is_transposed else w.wide
    data = v.wide @ second
    if v.element == "i1":
        data = data > 0  # `or` and `and`
    error = _error(v, w, element, inner, largest(np.abs(v.wide) @ np.abs(second)))
    batches = f"batching_dims = {[0]} x {[0]}, " if batch else ""
    axis = w.rank - 1 if is_transposed else w.rank - 2
    text = f"stablehlo.dot_general {v.name}, {w.name}, {batches}contracting_dims = [{v.rank - 1}] x [{axis}]"
    types = f"({v.type}, {w.type}) -> {tensor(data.shape, element)}"
    return f.op(f"{text} : {types}", data, element, "dot_general", error)


def convolution(f: Function) -> Value:
    """A convolution of images, channels last: any strides, borders, dilations, and groups of one channel."""
    try:
        v = f.pick(lambda v: v.rank == 4 and v.data.size < 4000 and v.element in CONVOLVED)
    except Rejected:
        sizes = ((1, 2), (4, 5, 8), (4, 7, 8), (1, 2, 3, 4, 8))
        elements = [e for e in f.elements if e in CONVOLVED] or ["f32"]
        v = f.argument(tuple(map(f.draw.choice, sizes)), f.draw.choice(elements))
    channels = v.shape[3]
    window = (f.draw.choice((1, 2, 3)), f.draw.choice((1, 2, 3)))
    filters, groups = f.draw.choice((1, 2, 4, 8)), 1
    if f.draw.random() < 0.3:
        filters, groups = channels * f.draw.choice((1, 2)), channels
    w = f.argument((*window, channels // groups, filters), v.element)
    strides = [f.draw.choice((1, 2)) for _ in window]
    padding = [[f.draw.choice((0, 1)), f.draw.choice((0, 1))] for _ in window]
    gaps = [f.draw.choice((1, 1, 2)) for _ in window]
    spread = [f.draw.choice((1, 1, 1, 2)) for _ in window]
    data = _convolved(v.wide, w.wide, strides, padding, spread, gaps, groups)
    absolute = _convolved(np.abs(v.wide), np.abs(w.wide), strides, padding, spread, gaps, groups)
    element = SUMS.get(v.element, v.element)
    error = _error(v, w, element, window[0] * window[1] * channels // groups, largest(absolute))
    windows = (
        f"window = {{stride = {strides}, pad = {padding}, lhs_dilate = {spread}, rhs_dilate = {gaps}}} "
        f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}"
    )
    layout = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    types = f"({v.type}, {w.type}) -> {tensor(data.shape, element)}"
    text = f"stablehlo.convolution({v.name}, {w.name}) {layout}, {windows} : {types}"
    return f.op(text, data, element, "convolution", error)


def _convolved(
    images: np.ndarray,
    weights: np.ndarray,
    strides: list[int],
    padding: list[list[int]],
    spread: list[int],
    gaps: list[int],
    groups: int,
) -> np.ndarray:
    """``images`` (n, h, w, c) and ``weights`` (h, w, c / groups, f); ``spread`` and ``gaps`` dilate them."""
    count, *sizes, channels = images.shape
    padded = np.zeros(
        (count, *((n - 1) * d + 1 for n, d in zip(sizes, spread, strict=True)), channels), images.dtype
    )
    padded[:, :: spread[0], :: spread[1]] = images
    padded = np.pad(padded, ((0, 0), *map(tuple, padding), (0, 0)))
    height, width = (
        (padded.shape[1 + n] - (weights.shape[n] - 1) * gaps[n] - 1) // strides[n] + 1 for n in (0, 1)
    )
    if height < 1 or width < 1:
        raise Rejected
    filters = weights.shape[3]
    total = np.zeros((count, height, width, groups, filters // groups), images.dtype)
    for i, j in np.ndindex(*weights.shape[:2]):
        rows = slice(i * gaps[0], i * gaps[0] + (height - 1) * strides[0] + 1, strides[0])
        columns = slice(j * gaps[1], j * gaps[1] + (width - 1) * strides[1] + 1, strides[1])
        part = padded[:, rows, columns].reshape(count, height, width, groups, channels // groups)
        by_group = weights[i, j].reshape(channels // groups, groups, filters // groups)
        total += np.einsum("nhwgc,cgf->nhwgf", part, by_group)
    return total.reshape(count, height, width, filters)
