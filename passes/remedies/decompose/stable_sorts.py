"""Keeps the order of equal keys in a sort."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.finding import Finding
from fissile.passes.analysis.program.stable_sorts import STRICT, comparison_of, unstable_sorts
from fissile.passes.definition import Contract, register_pass
from fissile.passes.remedies.remedy import ON_TENSORS, Exactness, Remedy

from ..rebuilt_ops import copy_into


@register_pass
@dataclass(frozen=True)
class StableSorts(Remedy):
    """Makes the comparator of each sort of several tensors hold of equal keys: IREE's sort leaves these where they are then.

    `a < b` becomes `a <= b`. A comparator of more than one op becomes `compare(a, b) or not compare(b, a)`, which is false only if b
    must stand before a. What is sorted keeps its bits. Run it on the output of phase input.
    """

    name: ClassVar[str] = "fissile-stable-sorts"
    cures: ClassVar[tuple[str, ...]] = ("FIS146",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "makes the comparator of a sort hold of equal keys, which keeps their order"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a stable sort exchanges what belongs to equal keys (FIS146)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "made the comparator hold of equal keys, so that the sort is stable"
    advice: ClassVar[str] = "make the comparator hold of equal keys, so that the sort is stable"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)
    contract: ClassVar[Contract] = ON_TENSORS

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in unstable_sorts(op):
            _keep_equal_keys(found.op)


def _keep_equal_keys(sort: ir.Operation) -> None:
    comparison = comparison_of(sort)
    if comparison is not None:
        predicate = ir.IntegerAttr(comparison.attributes["predicate"])
        if (weaker := STRICT[comparison.name].get(predicate.value)) is not None:
            comparison.attributes["predicate"] = ir.IntegerAttr.get(predicate.type, weaker)
            return
    block = sort.regions[0].blocks[0]
    last = block.operations[len(block.operations) - 1].operation
    arguments = list(block.arguments)
    other = dict(zip(arguments, (arguments[i ^ 1] for i in range(len(arguments))), strict=True))
    with ir.InsertionPoint(last), sort.location:
        for inner in [o.operation for o in block.operations][:-1]:
            copy_into(inner, other)
        true = arith.constant(ir.IntegerType.get_signless(1), 1)
        first = last.operands[0]
        last.operands[0] = arith.ori(first, arith.xori(other.get(first, first), true))
