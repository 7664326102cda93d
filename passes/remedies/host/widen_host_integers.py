"""Computes narrow integers on the host with the 32 bits that IREE's VM has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.finding import Finding
from fissile.passes.analysis.host.narrow_integers import (
    CMPI,
    COUNTS_ALL,
    FOR,
    LOGIC,
    SHLI,
    VM_INTEGER_BITS,
    NarrowOp,
    narrow_integers,
    reads_sign,
)
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

_OF_BITS = {2: 8, 3: 9, 4: 6, 5: 7}
"""A signed comparison of i1, whose true is -1, as one of 0 and 1: slt is ugt, sle is uge, sgt is ult, sge is ule."""
_EITHER_END = ("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui")


@register_pass
@dataclass(frozen=True)
class WidenHostIntegers(Remedy):
    """Extends the operands of ops on integers below 32 bits on the host, computes with i32, and truncates the result.

    IREE 3.13's VM has integers of 32 and 64 bits and takes narrow values for such (FIS148). The extension is written with shifts:
    MLIR folds a comparison of two `arith.extsi` back into one of the narrow type. Ops on i1 become bitwise ones. Run it after
    global optimisation. The same numbers in every bit as the program specifies.
    """

    name: ClassVar[str] = "fissile-widen-host-integers"
    cures: ClassVar[tuple[str, ...]] = ("FIS148",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "computes integers below 32 bits on the host with i32"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: the VM loses the sign of i8 and i16, and carries out of their width (FIS148)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "computed it with i32, from extended operands"
    advice: ClassVar[str] = "compute it with i32, from extended operands"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in narrow_integers(op):
            with ir.InsertionPoint(found.op), found.op.location:
                if found.op.name == FOR:
                    _widen_loop(found)
                    continue
                new = _of_bits(found.op) if found.bits == 1 else _widened(found)
            found.op.results[0].replace_all_uses_with(new)
            found.op.erase()


def _of_bits(op: ir.Operation) -> ir.Value:
    """``op`` on i1 that are 0 and 1."""
    if op.name in LOGIC:
        return _created(LOGIC[op.name], op.results[0].type, list(op.operands))
    if op.name == COUNTS_ALL:
        return arith.xori(op.operands[0], arith.constant(op.operands[0].type, 1))
    if op.name == CMPI:
        return arith.cmpi(_OF_BITS[ir.IntegerAttr(op.attributes["predicate"]).value], *op.operands)
    given, wanted = op.operands[0], op.results[0].type  # arith.index_cast
    if isinstance(given.type, ir.IndexType):
        return arith.trunci(wanted, arith.index_cast(_i32(), given))
    return arith.select(given, arith.constant(wanted, -1), arith.constant(wanted, 0))


def _widened(found: NarrowOp) -> ir.Value:
    op, above = found.op, VM_INTEGER_BITS - found.bits
    given, wanted = list(op.operands), op.results[0].type
    if op.name == CMPI:  # of numbers in the upper bits: the order is the same
        return arith.cmpi(op.attributes["predicate"], *(_raised(v, above) for v in given))
    if op.name in _EITHER_END:
        chosen = _created(op.name, _i32(), [_raised(v, above) for v in given])
        return arith.trunci(wanted, _lowered(chosen, above))
    if op.name == COUNTS_ALL:
        counted = _created(op.name, _i32(), [_lowered(_raised(given[0], above), above)])
        return arith.trunci(wanted, arith.subi(counted, arith.constant(_i32(), above)))
    signed = [reads_sign(op)] * len(given)
    if op.name in (SHLI, "arith.shrsi"):
        signed[1] = False
    wide = [_lowered(_raised(v, above), above, s) for v, s in zip(given, signed, strict=True)]
    if isinstance(wanted, ir.IndexType):
        return _created(op.name, wanted, wide)
    return arith.trunci(wanted, _created(op.name, _i32(), wide))


def _widen_loop(found: NarrowOp) -> None:
    """Gives an scf.for bounds and a variable of 32 bits, in place."""
    above, signed, narrow = VM_INTEGER_BITS - found.bits, reads_sign(found.op), found.op.operands[0].type
    for position in range(3):
        found.op.operands[position] = _lowered(_raised(found.op.operands[position], above), above, signed)
    body = found.op.regions[0].blocks[0]
    variable = body.arguments[0]
    variable.set_type(_i32())
    with ir.InsertionPoint.at_block_begin(body):
        cut = arith.TruncIOp(narrow, variable)
    variable.replace_all_uses_except(cut.result, cut.operation)


def _raised(value: ir.Value, above: int) -> ir.Value:
    """The bits of ``value`` as the upper ones of 32."""
    return arith.shli(arith.extui(_i32(), value), arith.constant(_i32(), above))


def _lowered(raised: ir.Value, above: int, signed: bool = False) -> ir.Value:
    shift = arith.shrsi if signed else arith.shrui
    return shift(raised, arith.constant(_i32(), above))


def _created(name: str, type_: ir.Type, operands: list[ir.Value]) -> ir.Value:
    return ir.Operation.create(name, [type_], operands).results[0]


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(VM_INTEGER_BITS)
