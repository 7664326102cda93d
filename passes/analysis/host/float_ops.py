"""Ops on floats that the host computes otherwise than MLIR defines them."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place

from ..dispatch.provenance import place_of
from .on_host import ops_on_host

CMPF, REMF = "arith.cmpf", "arith.remf"
TO_INTEGER = ("arith.fptosi", "arith.fptoui")
OGE, ONE, ORD, UGE = 3, 6, 7, 10
WRONG_OF_NAN = (OGE, ONE, ORD, UGE)
"""Predicates of `arith.cmpf` that are wrong if an operand is NaN."""
_INTEGRAL = (
    "arith.sitofp",
    "arith.uitofp",
    "math.ceil",
    "math.floor",
    "math.round",
    "math.roundeven",
)
"""Ops whose results have no fraction."""
WHAT = {
    "arith.fptosi": "rounds to the nearest integer where {op} cuts off",
    "arith.fptoui": "rounds to the nearest integer where {op} cuts off",
    REMF: "computes the remainder of a division that is rounded where {op} cuts off",
    "arith.maximumf": "ignores NaN and the sign of zero in {op}",
    "arith.minimumf": "ignores NaN and the sign of zero in {op}",
    CMPF: "compares NaN wrongly in {op}",
}


@dataclass(frozen=True)
class FloatOp:
    """``op`` runs on the host, where some operands give another result than MLIR's."""

    op: ir.Operation
    place: Place | None

    @property
    def what(self) -> str:
        """What IREE does, as a part of a sentence."""
        return WHAT[self.op.name].format(op=self.op.name)


def float_ops(module: ir.Operation) -> list[FloatOp]:
    """Every such op of ``module``, before dispatches are formed, in program order.

    IREE 3.13's VM casts floats to integers with `lrint`, has `remainder` for `arith.remf`, and `fmax` and `fmin`; of its comparisons
    four are the negation, or another order, of what they should be, which differs where a number is NaN.
    """
    return [FloatOp(op, place_of(op)) for op in ops_on_host(module) if _is_wrong(op)]


def _is_wrong(op: ir.Operation) -> bool:
    if op.name not in WHAT or not isinstance(op.operands[0].type, ir.FloatType):
        return False  # a tensor's elements are computed in a dispatch
    if op.name in TO_INTEGER:
        given = op.operands[0]
        return isinstance(given.owner, ir.Block) or given.owner.operation.name not in _INTEGRAL
    return op.name != CMPF or ir.IntegerAttr(op.attributes["predicate"]).value in WRONG_OF_NAN
