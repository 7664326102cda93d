"""Remainders of a dividend that is not the lowest number of its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.scalars.lowest_dividends import dividend_and_divisor, remainders_in
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class SignRemainders(OpRemedy):
    """Adds, in the bodies of linalg ops, the divisor's magnitude to the dividend of a signed remainder where that is the lowest number
    of its type. The remainder stays the same.

    For SPIR-V, where the remainder of the lowest number of a type has the wrong sign (FIS196). ``ops`` chooses source ops by index;
    without it, every op with a remainder whose dividend may be that number. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-sign-remainders"
    order: ClassVar[int] = 47
    cures: ClassVar[tuple[str, ...]] = ("FIS196",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "adds the divisor's magnitude to the lowest integer before its remainder is computed"
    )
    repairs: ClassVar[str] = "remainders of the lowest integer on Vulkan (FIS196)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = "MLIR's conversion to SPIR-V has no other form."
    done: ClassVar[str] = "computed no remainder of the lowest integer in {ops}"
    advice: ClassVar[str] = "compute no remainder of the lowest integer in {ops}"
    refusal: ClassVar[str] = "{op} has no remainder to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a remainder")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if remainders_in(op) else Match("its body has none of a number that may be the lowest")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for remainder in remainders_in(op):
                with ir.InsertionPoint(remainder), remainder.location:
                    remainder.operands[0] = _higher_dividend(remainder)


def _higher_dividend(remainder: ir.Operation) -> ir.Value:
    """The dividend, and for the lowest number the sum of it and the divisor's magnitude: not above 0, with the same remainder.

    The lowest number as the divisor is its own magnitude: the sum is 0, as the remainder is. (SPIR-V has no unsigned remainder of a
    vector of one element in IREE 3.13.)
    """
    dividend, divisor = dividend_and_divisor(remainder)
    zero = arith.constant(dividend.type, 0)
    lowest = arith.constant(dividend.type, -(1 << dividend.type.width - 1))
    below = arith.cmpi(arith.CmpIPredicate.slt, divisor, zero)
    magnitude = arith.select(below, arith.subi(zero, divisor), divisor)
    is_lowest = arith.cmpi(arith.CmpIPredicate.eq, dividend, lowest)
    return arith.select(is_lowest, arith.addi(dividend, magnitude), dividend)
