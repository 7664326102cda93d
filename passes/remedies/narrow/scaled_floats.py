"""Floats with a shared scale (OCP's microscaling formats) by integer ops and products of f32: most backends know no such conversion.

`arith.scaling_extf` multiplies by its scale and `arith.scaling_truncf` divides by it, a power of two whose exponent is what counts. The
product with a power of two is exact, and in two steps neither factor is subnormal, so that no device flushes it.
"""

from __future__ import annotations

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect.operands import operands_named

from .float_bits import BIAS, FRACTION, NAN, bits_of_float, f32, float_of_bits, has_form, i32, word
from .float_forms import Form

SCALING_EXTF, SCALING_TRUNCF = "arith.scaling_extf", "arith.scaling_truncf"
EXPONENT = "f8E8M0FNU"
_NAN_CODE = 255
_BITCAST = "arith.bitcast"


def scaled_form_of(op: ir.Operation) -> Form | None:
    """How a scaling conversion is computed without itself; None of any other op, and of types that are not known here."""
    if (
        op.name not in (SCALING_EXTF, SCALING_TRUNCF)
        or not isinstance(op.results[0].type, ir.FloatType)
        or "roundingmode" in op.attributes
    ):
        return None
    [value], [scale] = operands_named(op, "in"), operands_named(op, "scale")
    small, wide = value.type, op.results[0].type
    if op.name == SCALING_TRUNCF:
        small, wide = wide, small
    known = (
        has_form(str(small))
        and wide.width <= 32
        and (str(scale.type) == EXPONENT or scale.type.width in (16, 32))
    )
    return (_extended if op.name == SCALING_EXTF else _truncated) if known else None


def byte_form_of(op: ir.Operation) -> Form | None:
    """How a conversion from or to an 8-bit float that the program stores as a byte is computed; None of any other op.

    Bytes and floats are cast into each other in place (`arith.bitcast`), and the casts fold away.
    """
    if op.name not in ("arith.extf", "arith.truncf") or "roundingmode" in op.attributes:
        return None
    [value], result = op.operands, op.results[0]
    if op.name == "arith.extf":
        owner = value.owner
        cast = not isinstance(owner, ir.Block) and owner.name == _BITCAST
        return _byte_extended if cast and str(result.type) == "f32" and _is_byte(value.type) else None
    cast = all(use.owner.operation.name == _BITCAST for use in result.uses)
    return _byte_truncated if cast and str(value.type) == "f32" and _is_byte(result.type) else None


def _is_byte(type_: ir.Type) -> bool:
    return has_form(str(type_)) and ir.FloatType(type_).width == 8


def _byte_extended(op: ir.Operation) -> ir.Value:
    byte = arith.bitcast(ir.IntegerType.get_signless(8), op.operands[0])
    return float_of_bits(str(op.operands[0].type), arith.extui(i32(), byte))


def _byte_truncated(op: ir.Operation) -> ir.Value:
    type_ = op.results[0].type
    bits = arith.trunci(ir.IntegerType.get_signless(8), bits_of_float(str(type_), op.operands[0]))
    return arith.bitcast(type_, bits)


def scaled(value: ir.Value, code: ir.Value, up: bool) -> ir.Value:
    """The f32 ``value`` times 2**(code - 127), or divided by it where not ``up``; NaN where the i32 ``code`` is 255."""
    exponent = arith.subi(code, word(BIAS)) if up else arith.subi(word(BIAS), code)
    first = arith.shrsi(exponent, word(1))
    product = value
    for part in (first, arith.subi(exponent, first)):
        power = arith.bitcast(f32(), arith.shli(arith.addi(part, word(BIAS)), word(FRACTION)))
        product = arith.mulf(product, power)
    is_nan = arith.cmpi(arith.CmpIPredicate.eq, code, word(_NAN_CODE))
    return arith.select(is_nan, arith.bitcast(f32(), word(NAN)), product)


def exponent_of(scale: ir.Value) -> ir.Value:
    """The code of the f32 ``scale`` as a scale: its exponent, as IREE truncates it."""
    return arith.andi(arith.shrui(arith.bitcast(i32(), scale), word(FRACTION)), word(0xFF))


def _extended(op: ir.Operation) -> ir.Value:
    [small], [scale], result = operands_named(op, "in"), operands_named(op, "scale"), op.results[0].type
    value = scaled(float_of_bits(str(small.type), _bits(small)), _code(scale), up=True)
    return value if str(result) == "f32" else arith.truncf(result, value)


def _truncated(op: ir.Operation) -> ir.Value:
    [wide], [scale], result = operands_named(op, "in"), operands_named(op, "scale"), op.results[0].type
    value = scaled(_in_f32(wide), _code(scale), up=False)
    bits = arith.trunci(ir.IntegerType.get_signless(result.width), bits_of_float(str(result), value))
    return arith.bitcast(result, bits)


def _code(scale: ir.Value) -> ir.Value:
    return _bits(scale) if str(scale.type) == EXPONENT else exponent_of(_in_f32(scale))


def _bits(value: ir.Value) -> ir.Value:
    """The bits of a small float in an i32."""
    return arith.extui(i32(), arith.bitcast(ir.IntegerType.get_signless(value.type.width), value))


def _in_f32(value: ir.Value) -> ir.Value:
    return value if str(value.type) == "f32" else arith.extf(f32(), value)
