"""Remainders of absolute values, with the sign of the dividend."""

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
    """Replaces, in the bodies of linalg ops, a signed remainder by the unsigned one of the absolute values, negated where the dividend is
    less than 0.

    For SPIR-V, where the remainder of the lowest number of a type has the wrong sign (FIS196). ``ops`` chooses source ops by index;
    without it, every op with a remainder whose dividend may be that number. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-sign-remainders"
    order: ClassVar[int] = 47
    cures: ClassVar[tuple[str, ...]] = ("FIS196",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "computes signed remainders of absolute values, and negates them where the dividend is negative"
    )
    repairs: ClassVar[str] = "remainders of the lowest integer on Vulkan (FIS196)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = "MLIR's conversion to SPIR-V has no other form."
    done: ClassVar[str] = "computed remainders in {ops} by magnitude and sign"
    advice: ClassVar[str] = "compute remainders in {ops} by magnitude and sign"
    refusal: ClassVar[str] = "{op} has no remainder to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a remainder")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if remainders_in(op) else Match("its body has none of a number that may be the lowest")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for remainder in remainders_in(op):
                with ir.InsertionPoint(remainder), remainder.location:
                    remainder.results[0].replace_all_uses_with(_signed_remainder(remainder))
                remainder.erase()


def _signed_remainder(remainder: ir.Operation) -> ir.Value:
    dividend, divisor = dividend_and_divisor(remainder)
    zero = arith.constant(dividend.type, 0)

    def negated_if(negative: ir.Value, value: ir.Value) -> ir.Value:
        return arith.select(negative, arith.subi(zero, value), value)

    is_negative = arith.cmpi(arith.CmpIPredicate.slt, dividend, zero)
    below = arith.cmpi(arith.CmpIPredicate.slt, divisor, zero)
    return negated_if(is_negative, arith.remui(negated_if(is_negative, dividend), negated_if(below, divisor)))
