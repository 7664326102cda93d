"""Writes ops on floats that the host computes otherwise than defined with ops that it computes right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.finding import Finding
from fissile.passes.analysis.host.float_ops import CMPF, OGE, ONE, ORD, REMF, TO_INTEGER, float_ops
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

_OEQ, _OGT, _OLT, _OLE, _ULE, _UNO = 1, 2, 4, 5, 12, 14


@register_pass
@dataclass(frozen=True)
class RewriteHostFloats(Remedy):
    """Cuts off the fraction before a float becomes an integer, corrects the remainder, and writes comparisons and extremes so that NaN
    is treated as defined.

    For ops outside of every dispatch (FIS153): what IREE 3.13's VM computes for them is something else. math.floor, math.ceil, and the
    comparisons that remain are right there. The same numbers in every bit as the program specifies. Run it after global optimisation.
    """

    name: ClassVar[str] = "fissile-rewrite-host-floats"
    cures: ClassVar[tuple[str, ...]] = ("FIS153",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "writes casts to integers, remainders, extremes and comparisons of floats on the host with ops that are right there"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: the VM rounds where a cast cuts off, and treats NaN otherwise (FIS153)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "wrote it with ops that the host computes right"
    advice: ClassVar[str] = "write it with ops that the host computes right"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in float_ops(op):
            with ir.InsertionPoint(found.op), found.op.location:
                if found.op.name in TO_INTEGER:
                    found.op.operands[0] = _cut_off(found.op.operands[0])
                    continue
                new = _written(found.op)
            found.op.results[0].replace_all_uses_with(new)
            found.op.erase()


def _written(op: ir.Operation) -> ir.Value:
    left, right = op.operands
    if op.name == CMPF:
        return _compared(ir.IntegerAttr(op.attributes["predicate"]).value, left, right)
    if op.name == REMF:
        return _remainder(left, right)
    return _extreme(op.name, left, right)


def _compared(predicate: int, left: ir.Value, right: ir.Value) -> ir.Value:
    if predicate == OGE:
        return arith.cmpf(_OLE, right, left)
    if predicate == ONE:
        return arith.ori(arith.cmpf(_OLT, left, right), arith.cmpf(_OGT, left, right))
    if predicate == ORD:
        unordered = arith.cmpf(_UNO, left, right)
        return arith.xori(unordered, arith.constant(unordered.type, 1))
    return arith.cmpf(_ULE, right, left)


def _cut_off(value: ir.Value) -> ir.Value:
    return arith.select(_is_negative(value), _math("math.ceil", value), _math("math.floor", value))


def _remainder(left: ir.Value, right: ir.Value) -> ir.Value:
    """With the sign of ``left``, where the VM's is the nearest to zero of either sign: that, and one divisor more where the signs
    differ, which is exact."""
    near = ir.Operation.create(REMF, [left.type], [left, right]).results[0]
    size, zero = _math("math.absf", right), arith.constant(left.type, 0.0)
    below = arith.andi(_is_negative(near), arith.cmpf(_OGT, left, zero))
    above = arith.andi(arith.cmpf(_OGT, near, zero), _is_negative(left))
    raised = arith.select(below, arith.addf(near, size), near)
    return arith.select(above, arith.subf(near, size), raised)


def _extreme(name: str, left: ir.Value, right: ir.Value) -> ir.Value:
    """A NaN of either is the result, which the sum is too; and of zeros the sum has the sign of the larger one, 0.0 and not -0.0."""
    found = ir.Operation.create(name, [left.type], [left, right]).results[0]
    zero = arith.constant(left.type, 0.0)
    zeros = arith.andi(arith.cmpf(_OEQ, left, zero), arith.cmpf(_OEQ, right, zero))
    if name == "arith.maximumf":
        added = arith.addf(left, right)
    else:
        added = arith.negf(arith.addf(arith.negf(left), arith.negf(right)))
    return arith.select(arith.ori(arith.cmpf(_UNO, left, right), zeros), added, found)


def _is_negative(value: ir.Value) -> ir.Value:
    return arith.cmpf(_OLT, value, arith.constant(value.type, 0.0))


def _math(name: str, value: ir.Value) -> ir.Value:
    return ir.Operation.create(name, [value.type], [value]).results[0]
