"""Ops of two operands of one type: arithmetic, bits and shifts, comparisons and what they select."""

from __future__ import annotations

import numpy as np

from .function import Function, Rejected
from .unary import above_one, applied
from .value import SIGNED, Value, largest, tensor

COMBINATIONS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""What reductions use too: any order of the operands gives the same integer."""
FLOAT_OPS = ("add", "subtract", "multiply", "maximum", "minimum", "divide", "atan2", "power", "remainder")
SHIFTS = ("shift_left", "shift_right_logical", "shift_right_arithmetic")
INTEGER_OPS = (*COMBINATIONS, "subtract", "divide", "remainder", *SHIFTS)
BIT_OPS = ("and", "or", "xor")
COMPARISONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
SHIFT_MASK = 7
DIVISOR_MASK = 3


def binary(f: Function) -> Value:
    """An arithmetic op, of operands in its domain."""
    v = f.pick()
    w = f.like(v)
    if v.is_float:
        return _of_floats(f, v, w, f.draw.choice(FLOAT_OPS))
    op = f.draw.choice(BIT_OPS if v.element == "i1" else INTEGER_OPS)
    if op in ("divide", "remainder"):
        w = _masked(f, w, DIVISOR_MASK)
        one = f.constant(1, w.element, w.shape)
        w = f.op(f"stablehlo.add {w.name}, {one.name} : {w.type}", w.wide + 1, w.element, "add")
    elif op in SHIFTS:
        w = _masked(f, w, SHIFT_MASK)
    data = COMBINATIONS[op](v.wide, w.wide) if op in COMBINATIONS else _of_integers(v, w, op)
    return f.op(f"stablehlo.{op} {v.name}, {w.name} : {v.type}", data, v.element, op)


def _masked(f: Function, w: Value, mask: int) -> Value:
    bits = f.constant(mask, w.element, w.shape)
    return f.op(f"stablehlo.and {w.name}, {bits.name} : {w.type}", w.wide & mask, w.element, "and")


def _of_floats(f: Function, v: Value, w: Value, op: str) -> Value:
    if op in ("divide", "remainder", "power"):
        w = above_one(f, w)
    if op == "power":
        v = applied(f, "abs", applied(f, "tanh", v))
    x, y = v.wide, w.wide
    if op in ("atan2", "remainder") and not (v.is_exact and w.is_exact):
        raise Rejected
    if op == "atan2" and any(np.any((data == 0) & np.signbit(data)) for data in (x, y)):
        raise Rejected
    error = v.error + w.error
    if op == "multiply":
        data, error = x * y, v.error * largest(y) + w.error * largest(x) + v.error * w.error
    elif op == "divide":
        data, error = x / y, v.error + w.error * largest(x)
    elif op == "power":
        data, error = x**y, v.error * largest(y) + w.error
        if np.any((x == 0) & (v.error > 0)):
            raise Rejected
    elif op == "remainder":
        data, error = np.fmod(x, y), 0.0
    else:
        compute = {"subtract": np.subtract, "atan2": np.arctan2, **COMBINATIONS}[op]
        data = compute(x, y)
    approximated = op in ("divide", "atan2", "power", "remainder")
    return f.op(f"stablehlo.{op} {v.name}, {w.name} : {v.type}", data, v.element, op, error, approximated)


def _of_integers(v: Value, w: Value, op: str) -> np.ndarray:
    x, y, bits = v.wide, w.wide, v.data.dtype.itemsize * 8
    if op == "subtract":
        return x - y
    if op in ("divide", "remainder"):  # truncated, where NumPy's floor; the divisors are positive
        quotient = x // y + ((x < 0) & (x % y != 0))
        return quotient if op == "divide" else x - quotient * y
    if op == "shift_left":
        return x << y
    if op == "shift_right_logical":
        pattern = x.view(np.uint64) & np.uint64((1 << bits) - 1)
        return (pattern >> y.astype(np.uint64)).view(np.int64)
    sign = 1 << (bits - 1)
    return (x if v.element in SIGNED else (x ^ sign) - sign) >> y


def compare(f: Function) -> Value:
    """A comparison, and in most cases what it selects."""
    v = f.pick(lambda v: v.element != "i1")
    w, direction = f.like(v), f.draw.choice(list(COMPARISONS))
    if not (v.is_exact and w.is_exact):
        raise Rejected
    chosen = COMPARISONS[direction](v.wide, w.wide)
    types = f"({v.type}, {w.type}) -> {tensor(v.shape, 'i1')}"
    text = f"stablehlo.compare {direction}, {v.name}, {w.name}, {v.comparison} : {types}"
    condition = f.op(text, chosen, "i1", "compare")
    if f.draw.random() > 0.6:
        return condition
    first = f.draw.choice((v, w))
    second = f.like(first)
    data, error = np.where(chosen, first.wide, second.wide), max(first.error, second.error)
    text = f"stablehlo.select {condition.name}, {first.name}, {second.name} : {condition.type}, {first.type}"
    return f.op(text, data, first.element, "select", error)
