"""Shifts of 64-bit integers that leave the number as it is if the amount is 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.scalars.zero_shifts import shifts_in, value_and_amount
from fissile.passes.definition import option, register_pass

from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class GuardShifts(OpRemedy):
    """Puts a select behind each shift of 64-bit integers in the bodies of linalg ops: the number itself if the amount is 0.

    For targets without 64-bit integers (FIS158). ``ops`` chooses source ops by index; without it, every op with such a shift. A chosen op
    without one is FIS114.
    """

    name: ClassVar[str] = "fissile-guard-shifts"
    order: ClassVar[int] = 42
    cures: ClassVar[tuple[str, ...]] = ("FIS158",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "takes the number itself for a 64-bit shift by 0"
    repairs: ClassVar[str] = "64-bit shifts by 0 on Vulkan targets without 64-bit integers (FIS158)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = "MLIR's wide integer emulation has no other form."
    done: ClassVar[str] = "took the number itself for shifts by 0 in {ops}"
    advice: ClassVar[str] = "take the number itself for shifts by 0 in {ops}"
    refusal: ClassVar[str] = "{op} has no shift to change: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such a shift")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return FITS if shifts_in(op) else Match("its body has none of 64 bits by a number that may be 0")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            for shift in shifts_in(op):
                value, amount = value_and_amount(shift)
                (shifted,) = shift.results
                with ir.InsertionPoint.after(shift), shift.location:
                    zero = arith.constant(amount.type, 0)
                    none = arith.cmpi(arith.CmpIPredicate.eq, amount, zero)
                    guarded = arith.select(none, value, shifted)
                shifted.replace_all_uses_except(guarded, guarded.owner.operation)
