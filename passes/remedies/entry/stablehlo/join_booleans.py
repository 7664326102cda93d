"""Sums of booleans as StableHLO defines them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.analysis.imports.boolean_sums import is_boolean_sum
from fissile.passes.analysis.imports.stablehlo_ops import ADD, OR
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FRONT_END_OP, FrontEndRemedy


@register_pass
@dataclass(frozen=True)
class JoinBooleans(FrontEndRemedy):
    """Writes a `stablehlo.add` of booleans as `stablehlo.or`, which is what StableHLO defines it as, in bodies of reductions as well.

    IREE 3.13 adds them as integers of one bit: true and true is false (FIS195). Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-join-booleans"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS195")
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (ADD,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = "replaces a `stablehlo.add` of booleans by `stablehlo.or` (in the input)"
    repairs: ClassVar[str] = "sums of booleans: wrong numbers on every target (FIS195)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "replaced the sum by a disjunction"
    advice: ClassVar[str] = "replace the sum by a disjunction"

    def fits(self, op: ir.Operation) -> bool:
        return is_boolean_sum(op)

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        return [ir.Operation.create(OR, results=[op.results[0].type], operands=list(op.operands)).result]
