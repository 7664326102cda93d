"""arith, math, complex and index ops on elements, or on whole arrays of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .constants import constant_of
from .elements import element_of_type, from_bits, hold, to_bits, unsigned, wrap
from .registry import NoWitness, evaluates

_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)

_FLOAT: dict[str, Callable] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.absf": np.abs,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1.0 / np.sqrt(x),
    "math.cbrt": np.cbrt,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.asin": np.arcsin,
    "math.acos": np.arccos,
    "math.atan": np.arctan,
    "math.atan2": np.arctan2,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.tanh": np.tanh,
    "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh,
    "math.atanh": np.arctanh,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
    "math.round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "math.powf": np.power,
    "math.copysign": np.copysign,
    "math.fma": lambda a, b, c: a * b + c,
    "math.erf": lambda x: np.asarray(_erf(x), np.float64),
    "math.erfc": lambda x: np.asarray(_erfc(x), np.float64),
    "math.fpowi": lambda x, n: np.power(x, n.astype(np.float64)),
    "math.clampf": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "complex.create": lambda re, im: re + 1j * im,
    "complex.add": np.add,
    "complex.sub": np.subtract,
    "complex.mul": np.multiply,
    "complex.div": np.divide,
    "complex.neg": np.negative,
    "complex.conj": np.conj,
    "complex.exp": np.exp,
    "complex.log": np.log,
    "complex.sqrt": np.sqrt,
    "complex.sin": np.sin,
    "complex.cos": np.cos,
    "complex.tanh": np.tanh,
    "complex.abs": np.abs,
    "complex.re": np.real,
    "complex.im": np.imag,
    "complex.angle": np.angle,
}
"""The results are floats or complex numbers; the program's rounding is the interpreter's business."""

_PREDICATES: dict[str, Callable] = {
    "math.isnan": np.isnan,
    "math.isinf": np.isinf,
    "math.isfinite": np.isfinite,
}


def _truncated(a, b):
    """Division towards zero; by zero it is 0, as the op leaves it undefined."""
    a, b = a.astype(object), b.astype(object)
    return np.frompyfunc(
        lambda x, y: 0 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1), 2, 1
    )(a, b)


def _floored(a, b):
    return np.where(b == 0, 0, a // np.where(b == 0, 1, b))


def _signed_division(a, b):
    if a.dtype.itemsize < 8:  # exact in float64
        quotient = np.trunc(a.astype(np.float64) / np.where(b == 0, 1, b))
        return np.where(b == 0, 0, quotient).astype(np.int64)
    return np.asarray(_truncated(a, b)).astype(np.int64)


_INTEGER: dict[str, Callable] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.divsi": _signed_division,
    "arith.remsi": lambda a, b: a - _signed_division(a, b) * b,
    "arith.floordivsi": _floored,
    "arith.ceildivsi": lambda a, b: -_floored(-a, b),
    "math.absi": np.abs,
    "math.ipowi": lambda a, b: np.power(a, np.maximum(b, 0)),
}
"""On int64; the result wraps to its width. i1 is handled as a number of one bit."""

_UNSIGNED: dict[str, Callable] = {
    "arith.divui": lambda a, b: np.where(b == 0, 0, a // np.where(b == 0, np.uint64(1), b)),
    "arith.remui": lambda a, b: np.where(b == 0, 0, a % np.where(b == 0, np.uint64(1), b)),
    "arith.ceildivui": lambda a, b: np.where(
        b == 0, 0, a // np.where(b == 0, np.uint64(1), b) + (a % np.where(b == 0, np.uint64(1), b) != 0)
    ),
    "arith.maxui": np.maximum,
    "arith.minui": np.minimum,
    "math.ctpop": lambda a: np.bitwise_count(a),
}
_INTEGER |= {
    name.replace("arith.", "index.").removesuffix("i"): function
    for name, function in _INTEGER.items()
    if name.startswith("arith.")
}

_COMPARE_FLOATS: tuple[Callable, ...] = (
    lambda a, b: np.zeros(np.broadcast(a, b).shape, bool),
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    lambda a, b: (a < b) | (a > b),
    lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    lambda a, b: ~((a < b) | (a > b)),
    lambda a, b: ~(a <= b),
    lambda a, b: ~(a < b),
    lambda a, b: ~(a >= b),
    lambda a, b: ~(a > b),
    np.not_equal,
    lambda a, b: np.isnan(a) | np.isnan(b),
    lambda a, b: np.ones(np.broadcast(a, b).shape, bool),
)
"""By arith.cmpf's predicate, 0 (false) to 15 (true): ordered ones first, then those that NaN satisfies."""

_COMPARE_INTEGERS: tuple[Callable, ...] = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)
_FIRST_UNSIGNED = 6


def _wide(array: np.ndarray, element) -> np.ndarray:
    """Integers in int64 with their sign; i1 is 0 or -1, as one bit with a sign is."""
    return -array.astype(np.int64) if element.bits == 1 else array.astype(np.int64)


def _float(interpreter, op, operands):
    return [interpreter.settled(_FLOAT[op.name](*operands), op.results[0].type)]


def _predicate(interpreter, op, operands):
    return [np.asarray(_PREDICATES[op.name](*operands))]


def _integer(interpreter, op, operands):
    element = element_of_type(op.results[0].type)
    function = _INTEGER[op.name]
    if element.bits == 1:
        return [hold(np.asarray(function(*(_wide(a, element) for a in operands))), element)]
    if element.bits < 32 and function is not _signed_division:
        operands = [a.astype(np.int64) for a in operands]
    return [wrap(np.asarray(function(*operands)), element)]


def _unsigned(interpreter, op, operands):
    element = element_of_type(op.operands[0].type)
    result = np.asarray(_UNSIGNED[op.name](*(unsigned(a, element) for a in operands)))
    return [hold(result.astype(np.uint64).view(np.int64), element)]


for _names, _function in (
    (_FLOAT, _float),
    (_PREDICATES, _predicate),
    (_INTEGER, _integer),
    (_UNSIGNED, _unsigned),
):
    evaluates(*_names)(_function)


@evaluates(
    "arith.constant",
    "complex.constant",
    iree_ops.UTIL_UNFOLDABLE_CONSTANT,
    iree_ops.FLOW_TENSOR_CONSTANT,
    iree_ops.FLOW_TENSOR_DYNAMIC_CONSTANT,
    "index.constant",
)
def _constant(interpreter, op, operands):
    return [constant_of(op, "value", op.results[0].type)]


@evaluates("arith.select")
def _select(interpreter, op, operands):
    return [np.where(*operands)]


@evaluates("arith.cmpf")
def _cmpf(interpreter, op, operands):
    return [np.asarray(_COMPARE_FLOATS[ir.IntegerAttr(op.attributes["predicate"]).value](*operands))]


@evaluates("arith.cmpi")
def _cmpi(interpreter, op, operands):
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    element = element_of_type(op.operands[0].type)
    read = unsigned if predicate >= _FIRST_UNSIGNED else _wide
    return [np.asarray(_COMPARE_INTEGERS[predicate](*(read(a, element) for a in operands)))]


@evaluates("complex.eq", "complex.neq")
def _complex_equal(interpreter, op, operands):
    return [np.asarray((np.equal if op.name == "complex.eq" else np.not_equal)(*operands))]


@evaluates("arith.shli", "arith.shrsi", "arith.shrui")
def _shift(interpreter, op, operands):
    element = element_of_type(op.results[0].type)
    value, count = operands[0], unsigned(operands[1], element)
    inside, count = count < element.bits, np.minimum(count, 63).astype(np.int64)
    if op.name == "arith.shrsi":
        return [hold(_wide(value, element) >> np.where(inside, count, 63), element)]
    if op.name == "arith.shli":
        return [hold(np.where(inside, value.astype(np.int64) << count, 0), element)]
    shifted = unsigned(value, element) >> count.astype(np.uint64)
    return [hold(np.where(inside, shifted, np.uint64(0)).view(np.int64), element)]


@evaluates("arith.extf")
def _extf(interpreter, op, operands):
    return [operands[0]]


@evaluates("arith.truncf", "arith.sitofp", "arith.uitofp")
def _round(interpreter, op, operands):
    element = element_of_type(op.operands[0].type)
    value = operands[0]
    if op.name == "arith.sitofp":
        value = _wide(value, element)
    elif op.name == "arith.uitofp":
        value = unsigned(value, element)
    return [interpreter.rounded(value, op.results[0].type)]


@evaluates("arith.fptosi", "arith.fptoui")
def _to_integer(interpreter, op, operands):
    element = element_of_type(op.results[0].type)
    value = np.trunc(operands[0])
    signed = op.name == "arith.fptosi"
    low, high = (
        (-(2.0 ** (element.bits - 1)), 2.0 ** (element.bits - 1)) if signed else (0.0, 2.0**element.bits)
    )
    if not np.all((value >= low) & (value < high)):
        interpreter.undefined(f"{op.name} of a number that {element.text} does not hold")
        value = np.where(np.isnan(value), 0.0, np.clip(value, low, np.nextafter(high, 0)))
    if not signed and element.bits == 64:
        return [hold(value.astype(np.uint64).view(np.int64), element)]
    return [hold(value.astype(np.int64), element)]


@evaluates("arith.extsi", "arith.trunci", "arith.index_cast", "index.casts")
def _signed_cast(interpreter, op, operands):
    return [
        hold(_wide(operands[0], element_of_type(op.operands[0].type)), element_of_type(op.results[0].type))
    ]


@evaluates("arith.extui", "arith.index_castui", "index.castu")
def _unsigned_cast(interpreter, op, operands):
    bits = unsigned(operands[0], element_of_type(op.operands[0].type))
    return [hold(np.asarray(bits).view(np.int64), element_of_type(op.results[0].type))]


@evaluates("arith.bitcast")
def _bitcast(interpreter, op, operands):
    return [
        from_bits(
            to_bits(operands[0], element_of_type(op.operands[0].type)), element_of_type(op.results[0].type)
        )
    ]


@evaluates("arith.scaling_extf", "arith.scaling_truncf")
def _scaling(interpreter, op, operands):
    if element_of_type(op.operands[1].type).text != "f8E8M0FNU":
        raise NoWitness(f"{op.name} with a scale that is not a power of two")
    if op.name == "arith.scaling_extf":
        return [interpreter.settled(operands[0] * operands[1], op.results[0].type)]
    return [interpreter.rounded(operands[0] / operands[1], op.results[0].type)]


@evaluates("math.ctlz", "math.cttz")
def _zeros(interpreter, op, operands):
    element = element_of_type(op.results[0].type)
    bits = unsigned(operands[0], element)
    count = np.full(bits.shape, element.bits, np.int64)
    for position in range(element.bits) if op.name == "math.ctlz" else reversed(range(element.bits)):
        found = ((bits >> np.uint64(position)) & np.uint64(1)) == 1
        count = np.where(found, element.bits - 1 - position if op.name == "math.ctlz" else position, count)
    return [hold(count, element)]
