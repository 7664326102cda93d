"""Copies the tensors that a loop starts with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.loop_inits import passed_on
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.fusion.lower_boundaries import dynamic_sizes
from fissile.passes.remedies.remedy import Exactness, Remedy

from ..host.held_tensors import held_copy


@register_pass
@dataclass(frozen=True)
class CopyBeforeLoops(Remedy):
    """Copies what loops start with, and what they yield from outside (FIS172); ``constants``: constants as well.

    The copies are transient storage, which a loop may pass on in any order. Run it after global optimisation. It changes loops
    that IREE compiles, too: it is for a program that IREE has rejected.
    """

    name: ClassVar[str] = "fissile-copy-before-loops"
    cures: ClassVar[tuple[str, ...]] = ("FIS172",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "copies the tensors that loops start with"
    repairs: ClassVar[str] = (
        "loops that pass a constant and an argument on to each other, and others for which IREE finds no storage (FIS172)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "copied the tensor that the loop starts with"
    advice: ClassVar[str] = "copy the tensor that the loop starts with"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "linalg", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    constants: bool = option(False, "copy constants as well")

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in passed_on(op, self.constants):
            value = found.user.operands[found.operand]
            with ir.InsertionPoint(found.loop), found.loop.location:
                copy = held_copy(value, dynamic_sizes(value))
            found.user.operands[found.operand] = copy
