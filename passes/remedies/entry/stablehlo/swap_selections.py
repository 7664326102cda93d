"""Selections that take of equal elements the one that the program means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.stablehlo_ops import NOT, SELECT_AND_SCATTER
from fissile.passes.analysis.imports.tied_selections import is_exchanged
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class SwapSelections(FrontEndRemedy):
    """Exchanges the two values that the selection of a `stablehlo.select_and_scatter` compares, and negates its result.

    IREE 3.13 calls the selection with the two exchanged (FIS170), so that the result is the program's. Run it once, on the program as it
    was imported.
    """

    name: ClassVar[str] = "fissile-swap-selections"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS170")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (SELECT_AND_SCATTER,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "exchanges the values that a `stablehlo.select_and_scatter` compares, and negates the result (in the input)"
    )
    repairs: ClassVar[str] = (
        "the gradient of a maximum over windows with equal elements: wrong numbers on every target (FIS170)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "exchanged the values that the selection compares"
    advice: ClassVar[str] = "exchange the values that the selection compares"

    def fits(self, op: ir.Operation) -> bool:
        return not is_exchanged(op.regions[0].blocks[0])

    def named(self, op: ir.Operation) -> str:
        return op.name

    def replace(self, found: Iterable[ir.Operation]) -> None:
        """The ops stay, with other selections."""
        for one in found:
            block = one.regions[0].blocks[0]
            uses = [
                (use.owner.operation, use.operand_number, other)
                for value, other in zip(block.arguments, reversed(list(block.arguments)), strict=True)
                for use in value.uses
            ]
            for owner, number, other in uses:
                owner.operands[number] = other
            end = block.operations[len(block.operations) - 1].operation
            with ir.InsertionPoint(end), end.location:
                result = end.operands[0]
                end.operands[0] = ir.Operation.create(NOT, results=[result.type], operands=[result]).result
