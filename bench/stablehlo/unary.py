"""Ops of one operand: functions of floats, bits of integers, conversions, clamps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .function import Function, Rejected
from .value import DTYPES, FLOATS, SIGNED, UNSIGNED, Value, largest, rounding, tensor

LARGEST_ANGLE = 100.0
"""A sine of a larger angle depends on how a device reduces it."""


@dataclass(frozen=True)
class Formula:
    """``slope`` bounds the derivative; a formula that ``jumps`` needs an operand without errors."""

    compute: Callable[[np.ndarray], np.ndarray]
    slope: float = 1.0
    approximated: bool = True
    jumps: bool = False


def _step(compute: Callable[[np.ndarray], np.ndarray]) -> Formula:
    return Formula(compute, 0.0, approximated=False, jumps=True)


FORMULAS = {
    "negate": Formula(np.negative, approximated=False),
    "abs": Formula(np.abs, approximated=False),
    "exponential": Formula(np.exp, np.e),
    "exponential_minus_one": Formula(np.expm1, np.e),
    "tanh": Formula(np.tanh),
    "logistic": Formula(lambda x: 1 / (1 + np.exp(-x)), 0.25),
    "sine": Formula(np.sin),
    "cosine": Formula(np.cos),
    "sqrt": Formula(np.sqrt),
    "rsqrt": Formula(lambda x: 1 / np.sqrt(x), 0.5),
    "log_plus_one": Formula(np.log1p),
    "cbrt": Formula(np.cbrt),
    "floor": _step(np.floor),
    "ceil": _step(np.ceil),
    "round_nearest_even": _step(np.rint),
    "round_nearest_afz": _step(lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5)),
    "sign": _step(np.sign),
}


def unary(f: Function) -> Value:
    """A function of floats, or an op on the bits of integers."""
    v = f.pick()
    if v.is_float:
        return _of_floats(f, v, f.draw.choice(list(FORMULAS)))
    if v.element == "i1":
        return f.op(f"stablehlo.not {v.name} : {v.type}", ~v.data, v.element, "not")
    signs = ("abs", "sign") if v.element in SIGNED else ()
    op = f.draw.choice(("not", "negate", "popcnt", "count_leading_zeros", *signs))
    return f.op(f"stablehlo.{op} {v.name} : {v.type}", _of_bits(v, op), v.element, op)


def applied(f: Function, op: str, v: Value) -> Value:
    """The formula ``op`` of a float."""
    formula = FORMULAS[op]
    if formula.jumps and not v.is_exact:
        raise Rejected
    error = formula.slope * v.error
    if op in ("sine", "cosine"):
        if largest(v.wide) > LARGEST_ANGLE:
            raise Rejected
        error += rounding("f32") * largest(v.wide)
    if op == "sqrt":
        error = v.error**0.5
    if op == "cbrt":
        error = (4 * v.error) ** (1 / 3)
    data = formula.compute(v.wide)
    return f.op(f"stablehlo.{op} {v.name} : {v.type}", data, v.element, op, error, formula.approximated)


def above_one(f: Function, v: Value) -> Value:
    """``abs(v) + 1``."""
    v = applied(f, "abs", v)
    one = f.constant(1, v.element, v.shape)
    text = f"stablehlo.add {v.name}, {one.name} : {v.type}"
    return f.op(text, v.wide + 1, v.element, "add", v.error)


def _of_floats(f: Function, v: Value, op: str) -> Value:
    """``op`` of an operand in its domain."""
    if op in ("exponential", "exponential_minus_one"):
        v = applied(f, "tanh", v)
    elif op in ("sqrt", "log_plus_one"):
        v = applied(f, "abs", v)
    elif op == "rsqrt":
        v = above_one(f, v)
    return applied(f, op, v)


def _of_bits(v: Value, op: str) -> np.ndarray:
    x, bits = v.wide, v.data.dtype.itemsize * 8
    if op in ("popcnt", "count_leading_zeros"):
        words = [int(n) & ((1 << bits) - 1) for n in x.ravel()]
        counts = [n.bit_count() if op == "popcnt" else bits - n.bit_length() for n in words]
        return np.array(counts, np.int64).reshape(x.shape)
    return {"not": np.invert, "negate": np.negative, "abs": np.abs, "sign": np.sign}[op](x)


def convert(f: Function) -> Value:
    """Another element type. Floats are cut to integers; any integer becomes one that is narrower."""
    v = f.pick()
    element = f.draw.choice([one for one in f.elements if one != v.element])
    if v.is_float and element not in FLOATS:
        if not v.is_exact:
            raise Rejected
        if element in UNSIGNED:
            v = applied(f, "abs", v)
    if element == "i1":
        data = v.wide != 0
    elif v.is_float and element not in FLOATS:
        data, limits = np.trunc(v.wide), np.iinfo(DTYPES[element])
        if np.any(data < limits.min) or np.any(data > min(limits.max, 2**53)):
            raise Rejected
        data = data.astype(np.int64)
    else:
        data = v.data.astype(np.int64) if v.element == "i1" else v.wide
    text = f"stablehlo.convert {v.name} : ({v.type}) -> {tensor(v.shape, element)}"
    return f.op(text, data, element, "convert", v.error)


def clamp(f: Function) -> Value:
    """The elements, limited to 1 and 5."""
    v = f.pick(lambda v: v.element != "i1")
    low, high = f.constant(1, v.element), f.constant(5, v.element)
    types = f"({low.type}, {v.type}, {high.type}) -> {v.type}"
    text = f"stablehlo.clamp {low.name}, {v.name}, {high.name} : {types}"
    return f.op(text, np.clip(v.wide, 1, 5), v.element, "clamp", v.error)
