"""How does a scalar computation on narrow types read in 32 bits, with the same result in every bit?

In 32 bits a narrow integer is its value, sign-extended; a 16-bit float is the f32 with its value. After an op
that can leave the narrow type's range the value is brought back to it: integers wrap, floats are rounded to
nearest even. Adding, subtracting, multiplying, dividing and square roots of 16-bit floats by way of f32 give
the correctly rounded result (f32 has more than twice the digits and two: no double rounding). `math`
functions are at least as precise as before; a fused multiply-add can differ by one rounding.
"""

from __future__ import annotations

from collections.abc import Callable

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect.operands import operands_named
from fissile.passes.analysis.dispatch.narrow_types import NarrowSet, NarrowType

from .float_bits import bits_of_float, f32, float_of_bits, i32, rounded, word
from .scaled_floats import SCALING_EXTF, SCALING_TRUNCF, exponent_of, scaled

_CLOSED_INTEGER = {
    # Sign extension commutes with these, and keeps the unsigned order: no bit of the result has to be corrected.
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
    "arith.shrsi",
    "arith.remsi",
}
_WRAPPING_INTEGER = {
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.shli",
    "arith.divsi",
    "arith.floordivsi",
    "arith.ceildivsi",
    "math.absi",
    "math.ipowi",
}
_UNSIGNED_INTEGER = {"arith.divui", "arith.remui", "arith.shrui", "arith.ceildivui", "math.ctpop"}
_CLOSED_FLOAT = {
    "arith.negf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.maxnumf",
    "arith.minnumf",
    "arith.remf",
    "math.absf",
    "math.copysign",
    "math.floor",
    "math.ceil",
    "math.round",
    "math.roundeven",
    "math.trunc",
}
_ROUNDED_FLOAT = {"arith.addf", "arith.subf", "arith.mulf", "arith.divf"}
"""Every other op of `math` on floats is rounded as well."""
_PREDICATES = {"arith.cmpi", "arith.cmpf", "math.isnan", "math.isinf", "math.isfinite"}
"""The same of a value extended to 32 bits. (Not math.isnormal: a subnormal f16 is a normal f32.)"""
_EXTENDED = ("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended")
"""Ops whose second result is what the first has no room for; 32 bits hold both."""
_BLOCKS = ("scf.for", "scf.if", "scf.while")
"""Loops and branches inside a body: StableHLO's integer powers come as one."""
_OVERFLOW_FLAGS = "overflowFlags"
"""arith's promise that a narrow sum does not wrap; the sum in 32 bits never does, so the promise is dropped."""


class CannotWiden(Exception):
    """``op`` computes on a narrow type in a way that no rule here covers."""

    def __init__(self, op: ir.Operation) -> None:
        super().__init__(op.name)
        self.op = op


class ScalarWidener:
    """Copies the ops of one block in 32 bits, at the insertion point.

    ``wide_tensor`` gives the 32-bit form of a narrow tensor that the block reads from outside by
    tensor.extract.
    """

    def __init__(self, narrow: NarrowSet, wide_tensor: Callable[[ir.Value], ir.Value]) -> None:
        self._narrow = narrow
        self._wide_tensor = wide_tensor
        self._values: dict[ir.Value, ir.Value] = {}

    def enter(self, old: ir.Value, new: ir.Value) -> None:
        """``new``, an element of a wide tensor, stands for ``old``."""
        if self._is_boolean(old.type) and new.type != old.type:
            new = arith.cmpi(arith.CmpIPredicate.ne, new, word(0))
        self._values[old] = new

    def leave(self, old: ir.Value) -> ir.Value:
        """What an element of a wide tensor holds for ``old``."""
        value = self.value(old)
        return (
            arith.extui(i32(), value) if self._is_boolean(old.type) and self._narrow.of(old.type) else value
        )

    def value(self, old: ir.Value) -> ir.Value:
        """The value that stands for ``old``: itself where it is not narrow and comes from outside."""
        if old in self._values:
            return self._values[old]
        narrow = self._narrow_type(old.type)
        if narrow is None:
            return old
        owner = old.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
            return self._constant(owner.operation, narrow)
        return arith.extf(f32(), old) if narrow.is_float else arith.extsi(i32(), old)

    def block(self, ops: list[ir.Operation]) -> None:
        """Copies ``ops``, the terminator aside; the results are then known to `value` and `leave`."""
        for op in ops:
            if op.name == "tensor.extract" and self._narrow.of(op.operands[0].type):
                self._extract(op)
            elif op.name in _BLOCKS:
                self._blocks(op)
            elif op.name in _EXTENDED and (narrow := self._narrow_type(op.operands[0].type)):
                with op.location:
                    self._values.update(zip(op.results, self._extended(op, narrow.value_bits), strict=True))
            elif any(self._narrow_type(v.type) for v in [*op.operands, *op.results]):
                with op.location:
                    self._values[op.results[0]] = self._widened(op)
            else:
                self._copy(op)

    # --- one op

    def _copy(self, op: ir.Operation) -> None:
        if op.regions:
            raise CannotWiden(op)
        new = op.clone()
        for position, operand in enumerate(op.operands):
            new.operands[position] = self.value(operand)
        for old, result in zip(op.results, new.results, strict=False):
            self._values[old] = result

    def _blocks(self, op: ir.Operation) -> None:
        """The same loop or branch, its blocks in 32 bits."""
        attributes = {
            named.name: named.attr for named in (op.attributes[i] for i in range(len(op.attributes)))
        }
        with op.location:
            new = ir.Operation.create(
                op.name,
                [self._wide(v.type) for v in op.results],
                [self.value(v) for v in op.operands],
                attributes,
                regions=len(op.regions),
            )
            for old_region, region in zip(op.regions, new.regions, strict=False):
                for old in old_region.blocks:
                    block = region.blocks.append(*[self._wide(a.type) for a in old.arguments])
                    self._values.update(zip(old.arguments, block.arguments, strict=False))
                    body = [inner.operation for inner in old.operations]
                    with ir.InsertionPoint(block):
                        self.block(body[:-1])
                        ir.Operation.create(body[-1].name, [], [self.value(v) for v in body[-1].operands])
        self._values.update(zip(op.results, new.results, strict=False))

    def _wide(self, type_: ir.Type) -> ir.Type:
        narrow = self._narrow_type(type_)
        return ir.Type.parse(narrow.wide) if narrow else type_

    def _extract(self, op: ir.Operation) -> None:
        new = ir.Operation.create(
            "tensor.extract",
            [self._narrow.wide_type(op.results[0].type)],
            [self._wide_tensor(op.operands[0]), *(self.value(v) for v in list(op.operands)[1:])],
            loc=op.location,
        )
        self.enter(op.results[0], new.results[0])

    def _widened(self, op: ir.Operation) -> ir.Value:
        if len(op.results) != 1 or op.regions:
            raise CannotWiden(op)
        rule = _CONVERSIONS.get(op.name)
        if rule is not None:
            return rule(self, op)
        operands = [self.value(v) for v in op.operands]
        narrow = self._narrow_type(op.results[0].type)
        if op.name in _PREDICATES:
            return self._again(op, operands, op.results[0].type)
        if narrow is None:
            raise CannotWiden(op)
        if op.name == "arith.select":
            return arith.select(*operands)
        if narrow.is_float:
            return self._float(op, operands, narrow)
        return self._integer(op, operands, narrow)

    def _extended(self, op: ir.Operation, bits: int) -> tuple[ir.Value, ir.Value]:
        left, right = (self.value(v) for v in op.operands)
        if op.name != "arith.mulsi_extended":
            left, right = zero_extended(left, bits), zero_extended(right, bits)
        whole = (arith.addi if op.name == "arith.addui_extended" else arith.muli)(left, right)
        rest = arith.shrui(whole, word(bits))
        boolean = self._is_boolean(op.results[1].type)
        return wrapped(whole, bits), arith.trunci(op.results[1].type, rest) if boolean else wrapped(
            rest, bits
        )

    def _float(self, op: ir.Operation, operands: list[ir.Value], narrow: NarrowType) -> ir.Value:
        if op.name in _CLOSED_FLOAT:
            return self._again(op, operands, f32())
        if op.name in _ROUNDED_FLOAT or op.name.startswith("math."):
            return rounded(narrow.name, self._again(op, operands, f32()))
        raise CannotWiden(op)

    def _integer(self, op: ir.Operation, operands: list[ir.Value], narrow: NarrowType) -> ir.Value:
        if op.name in _CLOSED_INTEGER:
            return self._again(op, operands, i32())
        if op.name in _WRAPPING_INTEGER:
            return wrapped(self._again(op, operands, i32()), narrow.value_bits)
        if op.name in _UNSIGNED_INTEGER:
            operands = [zero_extended(v, narrow.value_bits) for v in operands]
            return wrapped(self._again(op, operands, i32()), narrow.value_bits)
        raise CannotWiden(op)

    @staticmethod
    def _again(op: ir.Operation, operands: list[ir.Value], result: ir.Type) -> ir.Value:
        """The same op on other types."""
        attributes = {
            named.name: named.attr for named in (op.attributes[i] for i in range(len(op.attributes)))
        }
        attributes.pop(_OVERFLOW_FLAGS, None)
        return ir.Operation.create(op.name, [result], operands, attributes).results[0]

    # --- conversions

    def _known_narrow_type(self, type_: ir.Type) -> NarrowType:
        """The same of a type that is narrow."""
        found = self._narrow_type(type_)
        assert found is not None
        return found

    def _narrow_type(self, type_: ir.Type) -> NarrowType | None:
        """The narrow scalar type that ``type_`` is; booleans are computed as booleans."""
        if isinstance(type_, ir.RankedTensorType) or self._is_boolean(type_):
            return None
        return self._narrow.of(type_)

    @staticmethod
    def _is_boolean(type_: ir.Type) -> bool:
        return str(type_) == "i1"

    def _constant(self, op: ir.Operation, narrow: NarrowType) -> ir.Value:
        value = op.attributes["value"].value
        if narrow.is_float:
            return arith.constant(f32(), value)
        value &= (1 << narrow.value_bits) - 1
        return word(value - (1 << narrow.value_bits) if value >> (narrow.value_bits - 1) else value)

    def _fit(self, value: ir.Value, type_: ir.Type) -> ir.Value:
        """The i32 ``value`` brought into the integer type ``type_`` (narrow ones wrap; wider ones are sign-extended)."""
        if narrow := self._narrow_type(type_):
            return wrapped(value, narrow.value_bits)
        if str(type_) == "i32":
            return value
        return (arith.extsi if ir.IntegerType(type_).width > 32 else arith.trunci)(type_, value)

    def _round(self, value: ir.Value, type_: ir.Type) -> ir.Value:
        """The f32 ``value`` brought into the float type ``type_``."""
        if narrow := self._narrow_type(type_):
            return rounded(narrow.name, value)
        if str(type_) == "f32":
            return value
        return (arith.extf if ir.FloatType(type_).width > 32 else arith.truncf)(type_, value)

    def _const(self, op: ir.Operation) -> ir.Value:
        return self._constant(op, self._known_narrow_type(op.results[0].type))

    def _extsi(self, op: ir.Operation) -> ir.Value:
        source = self.value(op.operands[0])
        if self._is_boolean(op.operands[0].type):
            return arith.extsi(i32(), source)
        return self._fit(source, op.results[0].type)

    def _extui(self, op: ir.Operation) -> ir.Value:
        source = self.value(op.operands[0])
        if self._is_boolean(op.operands[0].type):
            return arith.extui(i32(), source)
        if (narrow := self._narrow_type(op.operands[0].type)) is None:
            raise CannotWiden(op)
        return self._fit(zero_extended(source, narrow.value_bits), op.results[0].type)

    def _trunci(self, op: ir.Operation) -> ir.Value:
        source, result = self.value(op.operands[0]), op.results[0].type
        if str(source.type) != "i32":
            source = self._to_i32(source)
        return arith.trunci(result, source) if self._is_boolean(result) else self._fit(source, result)

    @staticmethod
    def _to_i32(value: ir.Value) -> ir.Value:
        width = ir.IntegerType(value.type).width
        return value if width == 32 else (arith.trunci if width > 32 else arith.extsi)(i32(), value)

    def _int_to_float(self, op: ir.Operation) -> ir.Value:
        source, narrow = self.value(op.operands[0]), self._narrow_type(op.operands[0].type)
        if narrow is not None and op.name == "arith.uitofp":
            source = zero_extended(source, narrow.value_bits)
        build = arith.uitofp if op.name == "arith.uitofp" else arith.sitofp
        return self._round(build(f32(), source), op.results[0].type)

    def _float_to_int(self, op: ir.Operation) -> ir.Value:
        build = arith.fptoui if op.name == "arith.fptoui" else arith.fptosi
        result = op.results[0].type
        if self._narrow_type(result) is None:
            return build(result, self.value(op.operands[0]))
        return self._fit(build(i32(), self.value(op.operands[0])), result)

    def _float_to_float(self, op: ir.Operation) -> ir.Value:
        if "roundingmode" in op.attributes:
            raise CannotWiden(op)
        source = self.value(op.operands[0])
        if str(source.type) != "f32":
            width = ir.FloatType(source.type).width
            source = (arith.truncf if width > 32 else arith.extf)(f32(), source)
        if op.name == "arith.extf" and self._narrow_type(op.results[0].type):
            return source
        return self._round(source, op.results[0].type)

    def _scaled(self, op: ir.Operation) -> ir.Value:
        """A scaling conversion: what is narrow among its operands is an f32 already."""
        if "roundingmode" in op.attributes:
            raise CannotWiden(op)
        value, scale = (self.value(operands_named(op, name)[0]) for name in ("in", "scale"))
        if any(ir.FloatType(v.type).width > 32 for v in (value, scale)):
            raise CannotWiden(op)
        value, scale = (v if str(v.type) == "f32" else arith.extf(f32(), v) for v in (value, scale))
        return self._round(scaled(value, exponent_of(scale), up=op.name == SCALING_EXTF), op.results[0].type)

    def _bitcast(self, op: ir.Operation) -> ir.Value:
        source, result = self._narrow_type(op.operands[0].type), self._narrow_type(op.results[0].type)
        bits = self.value(op.operands[0])
        if source is None:
            if not isinstance(bits.type, ir.IntegerType):
                raise CannotWiden(op)
            bits = arith.extui(i32(), bits)
        elif source.is_float:
            bits = bits_of_float(source.name, bits)
        if result is None:
            if not isinstance(op.results[0].type, ir.IntegerType):
                raise CannotWiden(op)
            return arith.trunci(op.results[0].type, bits)
        return float_of_bits(result.name, bits) if result.is_float else wrapped(bits, result.value_bits)

    def _index_cast(self, op: ir.Operation) -> ir.Value:
        narrow, source = self._narrow_type(op.operands[0].type), self.value(op.operands[0])
        if narrow is None:
            return self._fit(arith.index_cast(i32(), source), op.results[0].type)
        if op.name == "arith.index_castui":
            source = zero_extended(source, narrow.value_bits)
        return arith.index_cast(op.results[0].type, source)

    def _count_zeros(self, op: ir.Operation) -> ir.Value:
        narrow, source = self._known_narrow_type(op.operands[0].type), self.value(op.operands[0])
        if op.name == "math.cttz":
            return self._again(op, [arith.ori(source, word(1 << narrow.value_bits))], i32())
        zeros = self._again(op, [zero_extended(source, narrow.value_bits)], i32())
        return arith.subi(zeros, word(32 - narrow.value_bits))


_CONVERSIONS: dict[str, Callable[[ScalarWidener, ir.Operation], ir.Value]] = {
    "arith.constant": ScalarWidener._const,
    "arith.extsi": ScalarWidener._extsi,
    "arith.extui": ScalarWidener._extui,
    "arith.trunci": ScalarWidener._trunci,
    "arith.sitofp": ScalarWidener._int_to_float,
    "arith.uitofp": ScalarWidener._int_to_float,
    "arith.fptosi": ScalarWidener._float_to_int,
    "arith.fptoui": ScalarWidener._float_to_int,
    "arith.extf": ScalarWidener._float_to_float,
    "arith.truncf": ScalarWidener._float_to_float,
    "arith.bitcast": ScalarWidener._bitcast,
    SCALING_EXTF: ScalarWidener._scaled,
    SCALING_TRUNCF: ScalarWidener._scaled,
    "arith.index_cast": ScalarWidener._index_cast,
    "arith.index_castui": ScalarWidener._index_cast,
    "math.ctlz": ScalarWidener._count_zeros,
    "math.cttz": ScalarWidener._count_zeros,
}


def wrapped(value: ir.Value, bits: int) -> ir.Value:
    """The lower ``bits`` of an i32, sign-extended."""
    return arith.shrsi(arith.shli(value, word(32 - bits)), word(32 - bits))


def zero_extended(value: ir.Value, bits: int) -> ir.Value:
    """The lower ``bits`` of an i32, the others 0."""
    return arith.andi(value, word((1 << bits) - 1))
