"""Ops of one element each: arithmetic, bits, comparisons, casts, tables, and what rescales."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from .entries import ELEMENTS, FLOATS, Program, drawn, full, op

SHAPE = (3, 17)
SPEC = ("f32", "f16", "bf16")
"""The floats of TOSA; IREE takes f64 too where it takes them at all."""


def wide(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float64)


def narrowed(values: np.ndarray, element: str) -> np.ndarray:
    return values.astype(ELEMENTS[element])


def _float(function: Callable[..., np.ndarray], element: str) -> Callable[..., np.ndarray]:
    return lambda *given: narrowed(function(*map(wide, given)), element)


def _erf(values: np.ndarray) -> np.ndarray:
    from math import erf

    return np.vectorize(erf)(values)


UNARY = {
    "ceil": (np.ceil, -8, 8), "floor": (np.floor, -8, 8), "exp": (np.exp, -6, 6), "log": (np.log, 0.01, 9), "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9),
    "reciprocal": (lambda x: 1 / x, 0.2, 8), "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -8, 8), "tanh": (np.tanh, -4, 4), "erf": (_erf, -3, 3),
    "sin": (np.sin, -6, 6), "cos": (np.cos, -6, 6), "abs": (np.abs, -8, 8),
}  # fmt: skip
for name, (function, low, high) in UNARY.items():
    for element in SPEC:
        given = drawn(f"{name}{element}", SHAPE, element, low, high)
        op(f"{name}_{element}", [given], _float(function, element), name)
    op(f"{name}_open", [drawn(name, SHAPE, "f32", low, high)], _float(function, "f32"), name, open_sizes=True)
for element in ("i8", "i16", "i32", "i64"):
    op(f"abs_{element}", [drawn(f"abs{element}", SHAPE, element)], np.abs, "abs")

BINARY = {"add": np.add, "sub": np.subtract, "maximum": np.maximum, "minimum": np.minimum, "pow": np.power}
for name, function in BINARY.items():
    for element in SPEC:
        low = 0.1 if name == "pow" else -8
        first, second = (
            drawn(f"{name}{element}", SHAPE, element, low, 4),
            drawn(f"{name}2", SHAPE, element, -3, 3),
        )
        op(f"{name}_{element}", [first, second], _float(function, element), name)
        op(f"{name}_{element}_rows", [first, second[:1]], _float(function, element), name)
    if name != "pow":
        for element in ("i8", "i16", "i32", "i64"):
            first, second = (drawn(f"{name}{element}{n}", SHAPE, element, -60, 60) for n in (1, 2))
            op(f"{name}_{element}", [first, second], function, name)
            op(f"{name}_{element}_columns", [first, second[:, :1]], function, name)
with np.errstate(invalid="ignore"):
    holes = drawn("holes", SHAPE, "f32")
    holes[0, ::3] = np.nan
    others = drawn("others", SHAPE, "f32")
    others[:, ::4] = np.nan
for name, (propagated, ignored) in {
    "maximum": (np.maximum, np.fmax),
    "minimum": (np.minimum, np.fmin),
}.items():
    for mode, function in (("PROPAGATE", propagated), ("IGNORE", ignored)):
        held = f"nan_mode = #tosa.nan_mode<{mode}>"
        op(f"{name}_nan_{mode}", [holes, others], function, name, held)
for mode, function in (
    ("PROPAGATE", lambda x: np.clip(x, -2, 3)),
    ("IGNORE", lambda x: np.where(np.isnan(x), np.float32(-2), np.clip(x, -2, 3))),
):
    held = f"max_val = 3.0 : f32, min_val = -2.0 : f32, nan_mode = #tosa.nan_mode<{mode}>"
    op(f"clamp_nan_{mode}", [holes], function, "clamp", held)


def _clamped(x: np.ndarray) -> np.ndarray:
    return np.clip(x, x.dtype.type(-7), x.dtype.type(20)).astype(x.dtype)


for element in (*SPEC, "i8", "i16", "i32"):
    given = drawn(f"clamp{element}", SHAPE, element, -50, 50)
    number = ".0" if element in FLOATS else ""
    held = f"max_val = 20{number} : {element}, min_val = -7{number} : {element}"
    op(f"clamp_{element}", [given], _clamped, "clamp", held)


def _shifted_product(first: np.ndarray, second: np.ndarray, shift: int) -> np.ndarray:
    made = first.astype(np.int64) * second.astype(np.int64)
    if shift:
        made = (made + (1 << (shift - 1))) >> shift
    return made.astype(np.int32)


def _multiplied(name: str, element: str, shift: int, first: np.ndarray, second: np.ndarray) -> None:
    program = Program(name)
    given = [program.argument(first), program.argument(second), program.constant([shift], "i8")]
    if element in FLOATS:
        values = narrowed(wide(first) * wide(second), element)
    else:
        values = _shifted_product(first, second, shift)
    program.ends(
        [
            program.add(
                "tosa.mul", given, program.type(values.shape, "i32" if element not in FLOATS else element)
            )
        ],
        [values],
    )


for element in SPEC:
    _multiplied(
        f"mul_{element}", element, 0, drawn(f"mul{element}", SHAPE, element), drawn("mul2", SHAPE, element)
    )
for element in ("i8", "i16"):
    _multiplied(
        f"mul_{element}",
        element,
        0,
        full(f"mul{element}", SHAPE, element),
        full(f"mul2{element}", SHAPE, element),
    )
_multiplied(
    "mul_i32", "i32", 0, drawn("mul1", SHAPE, "i32", -9999, 9999), drawn("mul3", (1, 17), "i32", -9999, 9999)
)
for shift in (1, 7, 31, 32, 40):
    _multiplied(f"mul_i32_shift{shift}", "i32", shift, drawn("mul4", SHAPE, "i32", -(2**30), 2**30), drawn("mul5", SHAPE, "i32", -(2**shift), min(2**shift, 2**31 - 1)) if shift < 31 else full("mul6", SHAPE, "i32"))  # fmt: skip


def _right(x: np.ndarray, by: np.ndarray, rounds: bool) -> np.ndarray:
    made = x >> by
    if rounds:
        made = made + np.where(by > 0, (x >> np.maximum(by - 1, 0)) & 1, 0).astype(x.dtype)
    return made


def _clz(x: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda n: 32 - int(n & 0xFFFFFFFF).bit_length())(x.astype(np.int64)).astype(np.int32)


for element in ("i8", "i16", "i32"):
    width = np.dtype(ELEMENTS[element]).itemsize * 8
    values, by = full(f"bits{element}", SHAPE, element), drawn(f"by{element}", SHAPE, element, 0, width - 1)
    other = full(f"bits2{element}", SHAPE, element)
    for rounds in (False, True):
        held = f"round = {str(rounds).lower()}"
        op(
            f"shift_right_{element}_{rounds}",
            [values, by],
            lambda x, n, r=rounds: _right(x, n, r),
            "arithmetic_right_shift",
            held,
        )
    op(f"shift_left_{element}", [values, by], np.left_shift, "logical_left_shift")
    unsigned = f"u{np.dtype(ELEMENTS[element]).name}"
    op(
        f"shift_logical_{element}",
        [values, by],
        lambda x, n, u=unsigned: (x.view(u) >> n.view(u)).view(x.dtype),
        "logical_right_shift",
    )
    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        op(f"bitwise_{name}_{element}", [values, other], function, f"bitwise_{name}")
    op(f"bitwise_not_{element}", [values], np.invert, "bitwise_not")
op("clz", [np.concatenate([full("clz", SHAPE, "i32"), np.arange(-3, 14, dtype=np.int32)[None]])], _clz, "clz")
truths = [drawn(f"truths{n}", SHAPE, "i1") for n in (1, 2)]
for name, function in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
    op(f"logical_{name}", truths, function, f"logical_{name}")
op("logical_not", truths[:1], np.logical_not, "logical_not")
op(
    "intdiv",
    [full("div", SHAPE, "i32"), drawn("div2", SHAPE, "i32", 1, 9)],
    lambda x, y: np.trunc(wide(x) / y).astype(np.int32),
    "intdiv",
)
op(
    "intdiv_negative",
    [drawn("div", SHAPE, "i32", -99, 99), drawn("div3", SHAPE, "i32", -9, -1)],
    lambda x, y: np.trunc(wide(x) / y).astype(np.int32),
    "intdiv",
)

for (name, function), element in product(
    (("equal", np.equal), ("greater", np.greater), ("greater_equal", np.greater_equal)), (*SPEC, "i8", "i32")
):
    first, second = (
        np.round(wide(drawn(f"{name}{element}{n}", SHAPE, element, -3, 3))).astype(ELEMENTS[element])
        for n in (1, 2)
    )
    op(f"{name}_{element}", [first, second], function, name)
for element in (*SPEC, "i1", "i8", "i16", "i32"):
    chosen, *values = truths[0], *(drawn(f"select{element}{n}", SHAPE, element) for n in (1, 2))
    op(f"select_{element}", [chosen, *values], np.where, "select")
op(
    "select_rows",
    [truths[0][:, :1], drawn("s1", SHAPE, "f32"), drawn("s2", (1, 17), "f32")],
    np.where,
    "select",
)


def _negated(name: str, given: np.ndarray, element: str, zero: int, result_zero: int) -> None:
    program = Program(name)
    zeros = [program.constant([one], element) for one in (zero, result_zero)]
    limits = None if element in FLOATS else np.iinfo(ELEMENTS[element])
    if limits is None:
        values = -given
    else:
        values = np.clip(result_zero - (given.astype(np.int64) - zero), limits.min, limits.max).astype(
            given.dtype
        )
    program.ends(
        [program.add("tosa.negate", [program.argument(given), *zeros], program.type(values.shape, element))],
        [values],
    )


for element in SPEC:
    _negated(f"negate_{element}", drawn("neg", SHAPE, element), element, 0, 0)
_negated("negate_i8", full("neg", SHAPE, "i8"), "i8", 0, 0)
_negated("negate_i8_zero", full("neg", SHAPE, "i8"), "i8", -5, 7)
_negated("negate_i8_ends", full("neg", SHAPE, "i8"), "i8", -128, 127)
_negated("negate_i16", full("neg", SHAPE, "i16"), "i16", 0, 0)
_negated("negate_i32", drawn("neg", SHAPE, "i32", -(2**30), 2**30), "i32", 0, 0)


def cast(values: np.ndarray, element: str) -> np.ndarray:
    """As TOSA casts: a float is rounded to even and saturated, an integer cut, anything but 0 is true."""
    dtype = ELEMENTS[element]
    if element == "i1":
        return values != 0
    if element in FLOATS:
        return values.astype(np.float64).astype(dtype)
    if values.dtype.kind in "fV":
        limits = np.iinfo(dtype)
        rounded = np.rint(wide(values))
        return np.where(
            rounded >= limits.max, limits.max, np.clip(rounded, limits.min, limits.max).astype(np.int64)
        ).astype(dtype)
    return values.astype(dtype)


for source, target in product((*SPEC, "i1", "i8", "i16", "i32"), repeat=2):
    if source != target:
        if source in FLOATS or source == "i1":
            given = drawn(f"cast{source}", SHAPE, source, -300, 300)
        else:
            given = full(f"cast{source}", SHAPE, source)
        if source in FLOATS:
            given.flat[:8] = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.0e4, -3.0e4]
        if target == "f16":
            given = np.clip(given, -60000, 60000).astype(given.dtype) if source == "i32" else given
        with np.errstate(all="ignore"):
            op(f"cast_{source}_{target}", [given], lambda x, t=target: cast(x, t), "cast")
extremes = np.array([[3e9, -3e9, 2147483647.0, -2147483648.0, 1e20, -1e20, np.inf, -np.inf]], np.float32)
for target in ("i8", "i16", "i32"):
    op(f"cast_extremes_{target}", [extremes], lambda x, t=target: cast(x, t), "cast")
