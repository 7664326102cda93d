"""Gives a branch of the VM's code a reference of its own for each argument of a block, where the program needs the reference once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.branch_operands import copied_operands
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class SeparateBranchOperands(Remedy):
    """Selects a reference anew that a branch passes twice, or passes while another block reads it, into a register of its own (FIS173).

    The condition is whether the reference is empty, which nothing folds. Run it on the output of phase vm.
    """

    name: ClassVar[str] = "fissile-separate-branch-operands"
    cures: ClassVar[tuple[str, ...]] = ("FIS173",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "copies references that a branch of the VM's code passes and the program needs once more (at phase vm)"
    )
    repairs: ClassVar[str] = (
        "loops of which a call fails, or does not wait: the VM drops a buffer or a fence (FIS173)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "passed a reference of its own for each argument"
    advice: ClassVar[str] = "pass a reference of its own for each argument"
    dialects: ClassVar[tuple[str, ...]] = ("vm",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in copied_operands(op):
            for number in found.operands:
                value = found.branch.operands[number]
                with ir.InsertionPoint(found.branch), found.branch.location:
                    found.branch.operands[number] = _copied(value)


def _copied(value: ir.Value) -> ir.Value:
    flag = ir.IntegerType.get_signless(32)
    there = ir.Operation.create(iree_ops.VM_CMP_NZ_REF, [flag], [value]).results[0]
    null = ir.Operation.create(iree_ops.VM_CONST_REF_ZERO, [value.type], []).results[0]
    return ir.Operation.create(iree_ops.VM_SELECT_REF, [value.type], [there, value, null]).results[0]
