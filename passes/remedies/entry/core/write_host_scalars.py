"""Ops on numbers that the host does not know, written with ops that it does, or computed on the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.passes.analysis.host.on_host import is_on_host
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.narrow.index_forms import index_form_of
from fissile.passes.remedies.narrow.integer_forms import ipowi
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy

Values = list[ir.Value]

ON_DEVICE = (
    "math.acos", "math.acosh", "math.asin", "math.asinh", "math.atanh", "math.cbrt", "math.cosh", "math.erfc", "math.fpowi", "math.sinh", "math.tan",
    "arith.maxnumf", "arith.minnumf",
)  # fmt: skip
"""Of f32 and f64. IREE 3.13's VM has none of these, and code generation of every target has."""


@register_pass
@dataclass(frozen=True)
class WriteHostScalars(FrontEndRemedy):
    """Writes what the host computes of numbers, and IREE 3.13 has no instruction of its VM for, otherwise.

    Ops of the index dialect become those of arith, wherever they stand: `iree-compile` does not even read them. Bit counts, integer
    powers, extended sums and products, truncations, signs and the classification of floats are written with arith. Other functions of
    f32 and f64 are computed on the device, in a tensor of one element.
    """

    name: ClassVar[str] = "fissile-write-host-scalars"
    exactness: ClassVar[Exactness] = Exactness.BITS
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math", "linalg", "tensor")
    does: ClassVar[str] = (
        "replaces ops of the index dialect by arith; on the host, bit counts, integer powers, extended sums and products, `math.trunc`, "
        "`math.copysign`, `math.isnan`, `math.isinf` and `math.isfinite` by arith, and tangents, cube roots, `math.erfc`, arc and "
        "hyperbolic functions by `linalg.generic` of one element (in the input)"
    )
    repairs: ClassVar[str] = "these ops outside of a dispatch, which IREE rejects on every target (FIS421)"
    numbers: ClassVar[str] = "bit-identical to what the target computes in a tensor"
    done: ClassVar[str] = "rewrote it with ops that the host has, or on the device"
    advice: ClassVar[str] = "rewrite it with ops of arith, or compute it in a tensor"

    def found(self, op: ir.Operation) -> list[ir.Operation]:
        found: list[ir.Operation] = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if self.fits(inner):
                found.append(inner)
            return ir.WalkResult.ADVANCE

        op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        return found

    def fits(self, op: ir.Operation) -> bool:
        if index_form_of(op):
            return True
        if op.name in ON_DEVICE:
            return _width(op.results[0].type, ir.FloatType) in (32, 64) and is_on_host(op)
        kind, widths, _form = _FORMS.get(op.name, (ir.Type, (), None))
        return bool(widths) and _width(op.operands[0].type, kind) in widths and is_on_host(op)

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> Values:
        if form := index_form_of(op):
            return [form(op)]
        return [_on_device(op)] if op.name in ON_DEVICE else _FORMS[op.name][2](*op.operands)


def may_stand_in(program: bytes) -> bool:
    """Whether the text ``program`` names an op that this remedy looks at."""
    return b"index." in program or any(name.encode() in program for name in (*ON_DEVICE, *_FORMS))


def _width(type_: ir.Type, kind: type) -> int:
    return kind(type_).width if isinstance(type_, kind) else 0


def _on_device(op: ir.Operation) -> ir.Value:
    """``op`` in the body of a generic op on tensors without dimensions."""
    type_, map_ = op.results[0].type, ir.AffineMap.get_identity(0)
    inputs = [tensor.FromElementsOp(ir.RankedTensorType.get([], v.type), [v]).result for v in op.operands]
    made, block = build_generic(inputs, [tensor.EmptyOp([], type_).result], [map_] * (len(inputs) + 1), [])
    with ir.InsertionPoint(block):
        again = ir.Operation.create(op.name, [type_], list(block.arguments)[: len(inputs)])
        linalg.YieldOp([again.result])
    return tensor.ExtractOp(made.results[0], []).result


def _of(type_: ir.Type, number: int) -> ir.Value:
    return arith.constant(type_, number)


def _wide(value: ir.Value) -> ir.Value:
    """In 32 bits at least, without a sign."""
    type_ = ir.IntegerType.get_signless(32)
    return arith.extui(type_, value) if value.type.width < 32 else value


def _back(value: ir.Value, type_: ir.Type) -> ir.Value:
    return arith.trunci(type_, value) if value.type != type_ else value


def _ones(value: ir.Value) -> ir.Value:
    """How many bits of ``value``, of 32 or 64 bits, are set: in pairs, in fours, in bytes, and all of them by one product."""
    type_ = value.type
    copies = ((1 << type_.width) - 1) // 255

    def pattern(byte: int) -> ir.Value:
        bits = byte * copies
        return _of(type_, bits - (1 << type_.width) if bits >> (type_.width - 1) else bits)

    pairs = arith.subi(value, arith.andi(arith.shrui(value, _of(type_, 1)), pattern(0x55)))
    fours = arith.addi(
        arith.andi(pairs, pattern(0x33)), arith.andi(arith.shrui(pairs, _of(type_, 2)), pattern(0x33))
    )
    bytes_ = arith.andi(arith.addi(fours, arith.shrui(fours, _of(type_, 4))), pattern(0x0F))
    return arith.shrui(arith.muli(bytes_, pattern(1)), _of(type_, type_.width - 8))


def _ctpop(value: ir.Value) -> Values:
    return [_back(_ones(_wide(value)), value.type)]


def _cttz(value: ir.Value) -> Values:
    """The ones below the lowest: all, of 0."""
    wide = _wide(value)
    below = arith.andi(arith.xori(wide, _of(wide.type, -1)), arith.subi(wide, _of(wide.type, 1)))
    inside = arith.andi(below, _of(wide.type, (1 << value.type.width) - 1 if value.type.width < 32 else -1))
    return [_back(_ones(inside), value.type)]


def _ipowi(base: ir.Value, exponent: ir.Value) -> Values:
    type_, wide = base.type, ir.IntegerType.get_signless(32)
    if type_.width < 32:
        base, exponent = arith.extsi(wide, base), arith.extsi(wide, exponent)
    return [_back(ipowi(base, exponent), type_)]


def _addui(left: ir.Value, right: ir.Value) -> Values:
    total = arith.addi(left, right)
    return [total, arith.cmpi(arith.CmpIPredicate.ult, total, left)]


def _mul(extended: Callable[[ir.Type, ir.Value], ir.Value]) -> Callable[..., Values]:
    def written(left: ir.Value, right: ir.Value) -> Values:
        narrow, wide = left.type, ir.IntegerType.get_signless(64)
        product = arith.muli(extended(wide, left), extended(wide, right))
        high = arith.shrui(product, _of(wide, 32))
        return [arith.trunci(narrow, product), arith.trunci(narrow, high)]

    return written


def _bits(value: ir.Value) -> tuple[ir.Value, int]:
    """Of a float, with their number."""
    width = ir.FloatType(value.type).width
    return arith.bitcast(ir.IntegerType.get_signless(width), value), width


def _magnitude(value: ir.Value) -> ir.Value:
    bits, width = _bits(value)
    return arith.andi(bits, _of(bits.type, (1 << (width - 1)) - 1))


def _classified(predicate: str) -> Callable[..., Values]:
    """How the magnitude compares with infinity, as bits: the host compares floats otherwise where one is NaN."""

    def written(value: ir.Value) -> Values:
        magnitude = _magnitude(value)
        infinity = 0x7F800000 if magnitude.type.width == 32 else 0x7FF0000000000000
        return [arith.cmpi(arith.CmpIPredicate[predicate], magnitude, _of(magnitude.type, infinity))]

    return written


def _copysign(value: ir.Value, sign: ir.Value) -> Values:
    bits, width = _bits(sign)
    signed = arith.ori(_magnitude(value), arith.andi(bits, _of(bits.type, -(1 << (width - 1)))))
    return [arith.bitcast(value.type, signed)]


def _sincos(value: ir.Value) -> Values:
    return [math.sin(value), math.cos(value)]


def _trunc(value: ir.Value) -> Values:
    """Down where it is positive, up where it is negative: the sign is that of the bits, and 0 keeps it."""
    bits, _width = _bits(value)
    negative = arith.cmpi(arith.CmpIPredicate.slt, bits, _of(bits.type, 0))
    return [arith.select(negative, math.ceil(value), math.floor(value))]


_INTEGERS, _FLOATS = (8, 16, 32, 64), (32, 64)
_FORMS: dict[str, tuple[type, tuple[int, ...], Callable[..., Values]]] = {
    "math.ctpop": (ir.IntegerType, _INTEGERS, _ctpop),
    "math.cttz": (ir.IntegerType, _INTEGERS, _cttz),
    "math.ipowi": (ir.IntegerType, _INTEGERS, _ipowi),
    "arith.addui_extended": (ir.IntegerType, (32, 64), _addui),
    "arith.mulsi_extended": (ir.IntegerType, (32,), _mul(arith.extsi)),
    "arith.mului_extended": (ir.IntegerType, (32,), _mul(arith.extui)),
    "math.isnan": (ir.FloatType, _FLOATS, _classified("ugt")),
    "math.isinf": (ir.FloatType, _FLOATS, _classified("eq")),
    "math.isfinite": (ir.FloatType, _FLOATS, _classified("ult")),
    "math.copysign": (ir.FloatType, _FLOATS, _copysign),
    "math.trunc": (ir.FloatType, _FLOATS, _trunc),
    "math.sincos": (ir.FloatType, _FLOATS, _sincos),
}
"""Op -> the class and the widths of its first operand, and what takes the place of its results."""
