"""Runs straight-line scalar IR (arith, math) on NumPy arrays: one call tries every value, without compiling
anything."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

_DTYPES = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
}


def _unsigned(a: np.ndarray) -> np.ndarray:
    return a.view(np.dtype(f"u{a.dtype.itemsize}"))


def _shift(function):
    """Shift amounts of the width or more are poison: the IR must not make them where they are chosen."""

    def shift(a, b):
        assert (np.asarray(b) < 8 * a.dtype.itemsize).all(), "shift by the width or more"
        return function(a, b)

    return shift


_OPS = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": _shift(np.left_shift),
    "arith.shrsi": _shift(np.right_shift),
    "arith.shrui": _shift(lambda a, b: (_unsigned(a) >> _unsigned(b)).view(a.dtype)),
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": lambda a, b: np.maximum(_unsigned(a), _unsigned(b)).view(a.dtype),
    "arith.minui": lambda a, b: np.minimum(_unsigned(a), _unsigned(b)).view(a.dtype),
    "arith.divsi": lambda a, b: np.trunc(a.astype(np.float64) / b).astype(np.int64).astype(a.dtype),
    "arith.remsi": np.fmod,
    "arith.divui": lambda a, b: (_unsigned(a) // _unsigned(b)).view(a.dtype),
    "arith.remui": lambda a, b: (_unsigned(a) % _unsigned(b)).view(a.dtype),
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.negf": np.negative,
    "arith.select": np.where,
    "math.absf": np.abs,
    "math.sqrt": np.sqrt,
    "math.absi": lambda a: np.where(a < 0, -a, a).astype(a.dtype),
}
_COMPARE = {
    0: np.equal,
    1: np.not_equal,
    2: np.less,
    3: np.less_equal,
    4: np.greater,
    5: np.greater_equal,
    6: np.less,
    7: np.less_equal,
    8: np.greater,
    9: np.greater_equal,
}


def interpret(ops: list[ir.Operation], values: dict[ir.Value, np.ndarray]) -> dict[ir.Value, np.ndarray]:
    """Runs ``ops`` in order; ``values`` has their operands from outside and receives every result."""
    with np.errstate(all="ignore"):
        for op in ops:
            operands = [values[v] for v in op.operands]
            values[op.results[0]] = _result(op, operands)
    return values


def _result(op: ir.Operation, operands: list[np.ndarray]) -> np.ndarray:
    kind = _DTYPES[str(op.results[0].type)]
    if op.name == "arith.constant":
        return np.asarray(op.attributes["value"].value, kind)
    if op.name == "arith.bitcast":
        return np.asarray(operands[0]).view(kind)
    if op.name == "arith.cmpi":
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if predicate > 5:
            operands = [_unsigned(v) for v in operands]
        return _COMPARE[predicate](*operands)
    if op.name in (
        "arith.extsi",
        "arith.trunci",
        "arith.sitofp",
        "arith.extf",
        "arith.truncf",
        "arith.fptosi",
    ):
        return operands[0].astype(kind)
    if op.name in ("arith.extui", "arith.uitofp"):
        source = operands[0] if operands[0].dtype == np.bool_ else _unsigned(operands[0])
        return source.astype(kind)
    result = _OPS[op.name](*operands)
    assert result.dtype == kind, f"{op.name} gave {result.dtype}"
    return result
