"""8- and 16-bit integers in the body of an op whose upper bits matter.

Where a target has no such integers, MLIR's conversion to SPIR-V (LLVM at IREE 3.13) computes them in 32 bits. A truncation clears the upper bits,
so that a negative number becomes a positive one, and what is computed next may set them. Only extensions correct them.
"""

from __future__ import annotations

from collections.abc import Collection

from iree.compiler import ir

from .bodies import ops_in_bodies

_GENERIC, _TRUNCATION, _COMPARISON, _CONSTANT = (
    "linalg.generic",
    "arith.trunci",
    "arith.cmpi",
    "arith.constant",
)
NARROW_WIDTHS = {"i8": "int8", "i16": "int16"}
"""Each narrow integer, and what a target that has it calls it."""
_READ_SIGN = {
    "arith.ceildivsi",
    "arith.divsi",
    "arith.floordivsi",
    "arith.index_cast",
    "arith.maxsi",
    "arith.minsi",
    "arith.mulsi_extended",
    "arith.mului_extended",
    "arith.remsi",
    "arith.shrsi",
    "math.absi",
    "math.ctlz",
    "math.cttz",
}
"""Wrong behind a truncation already."""
_READ_UPPER_BITS = {"arith.index_castui", "arith.maxui", "arith.minui", "arith.shrui", "math.ctpop"}
"""Right behind a truncation, and wrong behind what may set the upper bits."""
_SIGNED_PREDICATES = range(2, 6)


def misread_integers(op: ir.Operation, types: Collection[str]) -> list[ir.Operation]:
    """The ops in the bodies of ``op`` that read more bits of an integer of ``types`` than are its own."""
    return [inner for inner in ops_in_bodies(op) if _is_misread(inner, types)]


def bodies_with_narrow_integers(op: ir.Operation, types: Collection[str]) -> bool:
    """Whether ``op`` is a `linalg.generic` with such an op in its body."""
    return op.name == _GENERIC and bool(misread_integers(op, types))


def _is_misread(op: ir.Operation, types: Collection[str]) -> bool:
    narrow = [value for value in op.operands if str(value.type) in types]
    if not narrow:
        return False
    if op.name in _READ_SIGN or (op.name == _COMPARISON and _predicate(op) in _SIGNED_PREDICATES):
        return any(_maker(value) != _CONSTANT for value in narrow)
    if op.name in _READ_UPPER_BITS or op.name == _COMPARISON:
        return any(_maker(value) not in (_CONSTANT, _TRUNCATION) for value in narrow)
    return False


def _predicate(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["predicate"]).value


def _maker(value: ir.Value) -> str:
    return "" if isinstance(value.owner, ir.Block) else value.owner.operation.name
