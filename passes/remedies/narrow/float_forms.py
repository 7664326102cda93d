"""Float ops as simpler ones: what a processor has no instruction for, and IREE links no function for, computed without either."""

from __future__ import annotations

from collections.abc import Callable
from math import log

from iree.compiler import ir
from iree.compiler.dialects import arith, math

Form = Callable[[ir.Operation], ir.Value]
"""Builds the result of an op from its operands, at the insertion point."""


def float_form_of(op: ir.Operation) -> Form | None:
    """How ``op`` is computed without itself; None where every target that IREE knows has it."""
    type_ = op.results[0].type
    if not isinstance(type_, ir.FloatType):
        return None
    if op.name in _CONVERSIONS:
        if str(op.operands[0].type) == "i1":
            return _by_choice if op.name == "arith.sitofp" else None
        return _by_f32 if isinstance(type_, ir.BF16Type) else None
    form, least, most = _FORMS.get(op.name, (None, 0, 0))
    return form if least <= type_.width <= most else None


def _widened(value: ir.Value) -> ir.Value:
    """In 32 bits at least."""
    wide = ir.F32Type.get()
    return arith.extf(wide, value) if value.type.width < wide.width else value


def _narrowed(value: ir.Value, type_: ir.Type) -> ir.Value:
    return arith.truncf(type_, value) if value.type != type_ else value


def _log10(op: ir.Operation) -> ir.Value:
    """By the natural logarithm: one rounding more."""
    return _scaled_log(op, 1 / log(10))


def _log2(op: ir.Operation) -> ir.Value:
    """By the natural logarithm: one rounding more."""
    return _scaled_log(op, 1 / log(2))


def _scaled_log(op: ir.Operation, scale: float) -> ir.Value:
    logarithm = math.log(_widened(op.operands[0]))
    return _narrowed(arith.mulf(logarithm, arith.constant(logarithm.type, scale)), op.results[0].type)


def _trunc(op: ir.Operation) -> ir.Value:
    """By an integer; exact, and -0.5 is -0."""
    value = _widened(op.operands[0])
    return _narrowed(_whole(value), op.results[0].type)


def _floor(op: ir.Operation) -> ir.Value:
    """The whole part, less 1 where that is larger; exact."""
    value = _widened(op.operands[0])
    whole = _whole(value)
    larger = arith.cmpf(arith.CmpFPredicate.OGT, whole, value)
    less = arith.subf(whole, arith.constant(value.type, 1.0))
    return _narrowed(arith.select(larger, less, whole), op.results[0].type)


def _whole(value: ir.Value) -> ir.Value:
    """``value``, of 32 or 64 bits, without what is behind its point, as long as there can be any.

    By an integer: of a magnitude that is rounded down LLVM makes a truncation again.
    """
    digits, word = (23, 32) if value.type.width == 32 else (52, 64)
    whole = arith.sitofp(value.type, arith.fptosi(ir.IntegerType.get_signless(word), value))
    small = arith.cmpf(
        arith.CmpFPredicate.OLT, math.absf(value), arith.constant(value.type, float(1 << digits))
    )
    return arith.select(small, math.copysign(whole, value), value)


def _ceil(op: ir.Operation) -> ir.Value:
    """The whole part, and 1 more where that is smaller; exact."""
    value = _widened(op.operands[0])
    whole = _whole(value)
    smaller = arith.cmpf(arith.CmpFPredicate.OLT, whole, value)
    more = arith.addf(whole, arith.constant(value.type, 1.0))
    return _narrowed(arith.select(smaller, more, whole), op.results[0].type)


def _maxnum(op: ir.Operation) -> ir.Value:
    return _chosen(op, "OGT")


def _minnum(op: ir.Operation) -> ir.Value:
    return _chosen(op, "OLT")


def _chosen(op: ir.Operation, predicate: str) -> ir.Value:
    """The first operand where ``predicate`` holds or the second is no number; exact."""
    first, second = op.operands
    wins = arith.cmpf(arith.CmpFPredicate[predicate], first, second)
    missing = arith.cmpf(arith.CmpFPredicate.UNO, second, second)
    return arith.select(arith.ori(wins, missing), first, second)


def _by_f32(op: ir.Operation) -> ir.Value:
    """An integer as f32, then rounded to the nearest even; as LLVM's own call does it, so integers of more than 24 bits are rounded twice.

    In bits, since MLIR makes one conversion of two.
    """
    word, half = ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(16)
    convert = arith.sitofp if op.name == "arith.sitofp" else arith.uitofp
    bits = arith.bitcast(word, convert(ir.F32Type.get(), op.operands[0]))
    sixteen = arith.constant(word, 16)
    odd = arith.andi(arith.shrui(bits, sixteen), arith.constant(word, 1))
    rounded = arith.addi(arith.addi(bits, arith.constant(word, 0x7FFF)), odd)
    return arith.bitcast(op.results[0].type, arith.trunci(half, arith.shrui(rounded, sixteen)))


def _by_choice(op: ir.Operation) -> ir.Value:
    """A boolean: its one bit is a sign."""
    type_ = op.results[0].type
    return arith.select(op.operands[0], arith.constant(type_, -1.0), arith.constant(type_, 0.0))


_ERFC = (
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
)
"""Powers of 2 / (2 + |x|) (Press et al., Numerical Recipes, 6.2: a relative error below 1.2e-7 everywhere)."""


def _erfc(op: ir.Operation) -> ir.Value:
    value = _widened(op.operands[0])

    def number(given: float) -> ir.Value:
        return arith.constant(value.type, given)

    magnitude = math.absf(value)
    step = arith.divf(number(2.0), arith.addf(number(2.0), magnitude))
    power = number(_ERFC[-1])
    for factor in reversed(_ERFC[:-1]):
        power = arith.addf(arith.mulf(power, step), number(factor))
    upper = arith.mulf(step, math.exp(arith.subf(power, arith.mulf(magnitude, magnitude))))
    negative = arith.cmpf(arith.CmpFPredicate.OLT, value, number(0.0))
    return _narrowed(arith.select(negative, arith.subf(number(2.0), upper), upper), op.results[0].type)


def _tanh(op: ir.Operation) -> ir.Value:
    """By exp(-2|x|) - 1, which is exact near 0 and does not overflow."""
    value = op.operands[0]
    two = arith.constant(value.type, 2.0)
    less = math.expm1(arith.negf(arith.mulf(two, math.absf(value))))
    return math.copysign(arith.divf(arith.negf(less), arith.addf(two, less)), value)


_CONVERSIONS = ("arith.sitofp", "arith.uitofp")
_FORMS: dict[str, tuple[Form, int, int]] = {
    "math.log10": (_log10, 0, 64),
    "math.trunc": (_trunc, 0, 64),
    "math.floor": (_floor, 0, 64),
    "math.erfc": (_erfc, 0, 32),
    "arith.maxnumf": (_maxnum, 0, 16),
    "arith.minnumf": (_minnum, 0, 16),
    "math.log2": (_log2, 64, 64),
    "math.ceil": (_ceil, 64, 64),
    "math.tanh": (_tanh, 64, 64),
}
"""Op -> its form, and the widths, in bits, at which a target lacks it."""

NOT_THE_SAME = {
    "math.log10": "one rounding more",
    "math.log2": "one rounding more",
    "math.tanh": "a few roundings more",
    "math.erfc": "up to 1e-5 of itself",
}
"""How far the result of a form may be from the op's; all others are bit-identical."""
