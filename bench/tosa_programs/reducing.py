"""Reductions, positions of extremes, and pools."""

from __future__ import annotations

from itertools import product

import numpy as np

from .elementwise import SPEC, wide
from .entries import ELEMENTS, FLOATS, Program, drawn, full, op

SHAPE = (4, 6, 7)
REDUCTIONS = {"sum": np.sum, "product": np.prod, "max": np.max, "min": np.min}
for (name, function), element in product(REDUCTIONS.items(), (*SPEC, "i8", "i16", "i32")):
    low, high = (
        (0.5, 1.5) if name == "product" and element in FLOATS else (-2, 2) if name == "product" else (-9, 9)
    )
    for axis in (0, 2):
        given = drawn(f"{name}{element}{axis}", SHAPE, element, low, high)
        held = f"axis = {axis} : i32"

        def compute(x: np.ndarray, axis: int = axis, function=function) -> np.ndarray:
            made = function(wide(x) if x.dtype.kind in "fV" else x.astype(np.int64), axis, keepdims=True)
            return made.astype(x.dtype)

        op(f"reduce_{name}_{element}_{axis}", [given], compute, f"reduce_{name}", held)
truths = drawn("truths", SHAPE, "i1")
op("reduce_all", [truths], lambda x: np.all(x, 1, keepdims=True), "reduce_all", "axis = 1 : i32")
op("reduce_any", [truths], lambda x: np.any(x, 1, keepdims=True), "reduce_any", "axis = 1 : i32")
op(
    "reduce_sum_open",
    [drawn("ro", SHAPE, "f32")],
    lambda x: x.sum(2, keepdims=True),
    "reduce_sum",
    "axis = 2 : i32",
    open_sizes=True,
)
with np.errstate(invalid="ignore"):
    holes = drawn("holes3", SHAPE, "f32")
    holes[::2, 0, ::2] = np.nan
    holes[3, 1] = np.nan
for mode in ("PROPAGATE", "IGNORE"):
    held = f"axis = 2 : i32, nan_mode = #tosa.nan_mode<{mode}>"
    for name, (whole, part) in {
        "max": (np.max, np.fmax),
        "min": (np.min, np.fmin),
    }.items():

        def compute(x: np.ndarray, whole=whole, part=part, mode=mode) -> np.ndarray:
            return whole(x, 2, keepdims=True) if mode == "PROPAGATE" else part.reduce(x, 2, keepdims=True)

        filled = holes.copy()
        if mode == "IGNORE":
            filled[3, 1] = 1.0
        op(f"reduce_{name}_nan_{mode}", [filled], compute, f"reduce_{name}", held)


def position(x: np.ndarray, axis: int, ignore: bool = False) -> np.ndarray:
    """The first of the largest; a NaN is the largest unless they are ignored."""
    values = wide(x) if x.dtype.kind in "fV" else x.astype(np.int64)
    if ignore:
        values = np.where(np.isnan(values), -np.inf, values)
    return np.argmax(values, axis).astype(np.int32)


for element, axis in product((*SPEC, "i8", "i16", "i32"), (0, 1, 2)):
    given = drawn(f"argmax{element}", SHAPE, element, -3, 3)
    op(
        f"argmax_{element}_{axis}",
        [given],
        lambda x, a=axis: position(x, a),
        "argmax",
        f"axis = {axis} : i32",
    )
op(
    "argmax_open",
    [drawn("argmax", SHAPE, "f32")],
    lambda x: position(x, 2),
    "argmax",
    "axis = 2 : i32",
    open_sizes=True,
)
op("argmax_lowest", [np.full(SHAPE, -128, np.int8)], lambda x: position(x, 2), "argmax", "axis = 2 : i32")
op(
    "argmax_infinite",
    [np.full(SHAPE, -np.inf, np.float32)],
    lambda x: position(x, 2),
    "argmax",
    "axis = 2 : i32",
)
for mode in ("PROPAGATE", "IGNORE"):
    held = f"axis = 2 : i32, nan_mode = #tosa.nan_mode<{mode}>"
    op(f"argmax_nan_{mode}", [holes], lambda x, i=mode == "IGNORE": position(x, 2, i), "argmax", held)


def windows(
    x: np.ndarray, kernel: tuple, stride: tuple, pad: tuple, empty: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(the windows' elements, which of them are in the image), each (N, OH, OW, C, window)."""
    top, bottom, left, right = pad
    held = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=empty)
    inside = np.pad(np.ones_like(x, bool), ((0, 0), (top, bottom), (left, right), (0, 0)))

    def cut(values: np.ndarray) -> np.ndarray:
        made = np.lib.stride_tricks.sliding_window_view(values, kernel, (1, 2))[:, :: stride[0], :: stride[1]]
        return made.reshape(*made.shape[:4], -1)

    return cut(held), cut(inside)


def averaged(
    x: np.ndarray, kernel: tuple, stride: tuple, pad: tuple, zero: int, result_zero: int
) -> np.ndarray:
    if x.dtype.kind in "fV":
        held, inside = windows(wide(x), kernel, stride, pad, 0.0)
        return (held.sum(-1) / inside.sum(-1)).astype(x.dtype)
    held, inside = windows(x.astype(np.int64) - zero, kernel, stride, pad, 0)
    sums, counts = held.sum(-1), inside.sum(-1)

    def divided(total: int, count: int) -> int:
        places = (int(count) - 1).bit_length()
        by = (((1 << 30) + 1) << places) // int(count)
        shift = 30 + places
        return (int(total) * by + (1 << (shift - 1))) >> shift

    limits = np.iinfo(x.dtype)
    return np.clip(np.vectorize(divided)(sums, counts) + result_zero, limits.min, limits.max).astype(x.dtype)


POOLS = {
    "plain": ((2, 2), (2, 2), (0, 0, 0, 0)), "overlapping": ((3, 3), (2, 2), (1, 1, 1, 1)), "uneven": ((3, 2), (1, 2), (1, 1, 0, 1)),
    "whole": ((8, 9), (1, 1), (0, 0, 0, 0)),
}  # fmt: skip
IMAGE = (2, 8, 9, 5)


def _fits(size: int, kernel: int, stride: int, before: int, after: int) -> bool:
    return (size - kernel + before + after) % stride == 0


for (form, (kernel, stride, pad)), element in product(POOLS.items(), ("f32", "f16", "bf16", "i8", "i16")):
    shape = list(IMAGE)
    for axis in (0, 1):  # TOSA asks for windows that end with the image
        while not _fits(shape[1 + axis], kernel[axis], stride[axis], pad[2 * axis], pad[2 * axis + 1]):
            shape[1 + axis] += 1
    held = f"kernel = array<i64: {kernel[0]}, {kernel[1]}>, stride = array<i64: {stride[0]}, {stride[1]}>, pad = array<i64: {', '.join(map(str, pad))}>"
    image = (
        drawn(f"pool{element}", shape, element)
        if element in FLOATS
        else full(f"pool{element}", shape, element)
    )
    for open_sizes in (False, True) if element in ("f32", "i8") else (False,):
        suffix = "_open" if open_sizes else ""
        low = -np.inf if element in FLOATS else np.iinfo(ELEMENTS[element]).min
        largest = (
            windows(wide(image) if element in FLOATS else image.astype(np.int64), kernel, stride, pad, low)[0]
            .max(-1)
            .astype(image.dtype)
        )
        program = Program(f"max_pool_{form}_{element}{suffix}", open_sizes)
        made = program.type(largest.shape, element)
        program.ends([program.add("tosa.max_pool2d", [program.argument(image)], made, held)], [largest])
        zeros = (-3, 5) if element == "i8" else (0, 0)
        mean = averaged(image, kernel, stride, pad, *zeros)
        program = Program(f"avg_pool_{form}_{element}{suffix}", open_sizes)
        given = [program.argument(image), *(program.constant([zero], element) for zero in zeros)]
        kept = "f32" if element in FLOATS else "i32"
        program.ends(
            [
                program.add(
                    "tosa.avg_pool2d", given, program.type(mean.shape, element), f"acc_type = {kept}, {held}"
                )
            ],
            [mean],
        )
for mode in ("PROPAGATE", "IGNORE"):
    image = drawn("poolnan", (1, 4, 4, 2), "f32")
    image[0, 1, 1, 0] = np.nan
    held = f"kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, nan_mode = #tosa.nan_mode<{mode}>"
    parts = windows(image, (2, 2), (2, 2), (0, 0, 0, 0), 0)[0]
    op(
        f"max_pool_nan_{mode}",
        [image],
        lambda x, p=parts, m=mode: p.max(-1) if m == "PROPAGATE" else np.fmax.reduce(p, -1),
        "max_pool2d",
        held,
    )
