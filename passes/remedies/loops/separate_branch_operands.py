"""Gives a branch of the VM's code a reference of its own for each argument of a block, where the program needs the reference once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.loops.branch_operands import branches, copied_operands, mixed_blocks
from fissile.passes.analysis.loops.registers import passed_operands
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

_INT, _FLOAT = "i32", "f32"


@register_pass
@dataclass(frozen=True)
class SeparateBranchOperands(Remedy):
    """Selects a reference anew that a branch passes twice, or passes while another block reads it, into a register of its own (FIS173), and
    passes numbers of 32 bits as integers of 64 bits to a block that takes numbers of 64 bits as well (FIS197).

    The condition of a selection is whether the reference is empty, which nothing folds. Run it on the output of phase vm.
    """

    name: ClassVar[str] = "fissile-separate-branch-operands"
    cures: ClassVar[tuple[str, ...]] = ("FIS173", "FIS197")
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "copies references that a branch of the VM's code passes and the program needs once more, and passes numbers of one width (at phase vm)"
    )
    repairs: ClassVar[str] = (
        "loops of which a call fails, or does not wait: the VM drops a buffer or a fence (FIS173); loops and branches that begin with "
        "another number (FIS197)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "passed a reference of its own for each argument, and numbers of one width"
    advice: ClassVar[str] = "pass a reference of its own for each argument, and numbers of one width"
    dialects: ClassVar[tuple[str, ...]] = ("vm",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for found in copied_operands(op):
            for number in found.operands:
                value = found.branch.operands[number]
                with ir.InsertionPoint(found.branch), found.branch.location:
                    found.branch.operands[number] = _copied(value)
        every = branches(op)
        for block in mixed_blocks(op):
            for branch in every:
                for successor, passed in zip(branch.successors, passed_operands(branch), strict=True):
                    if successor == block:
                        _widen_operands(branch, passed)
            for argument in block.arguments:
                _widen_argument(block, argument)


def _copied(value: ir.Value) -> ir.Value:
    flag = ir.IntegerType.get_signless(32)
    there = ir.Operation.create(iree_ops.VM_CMP_NZ_REF, [flag], [value]).results[0]
    null = ir.Operation.create(iree_ops.VM_CONST_REF_ZERO, [value.type], []).results[0]
    return ir.Operation.create(iree_ops.VM_SELECT_REF, [value.type], [there, value, null]).results[0]


def _widen_operands(branch: ir.Operation, numbers: range) -> None:
    """Passes the numbers of 32 bits among those operands as integers of 64 bits."""
    with ir.InsertionPoint(branch), branch.location:
        for number in numbers:
            value = branch.operands[number]
            if str(value.type) not in (_INT, _FLOAT):
                continue
            if str(value.type) == _FLOAT:
                value = _made(iree_ops.VM_FLOAT_TO_BITS, 32, value)
            branch.operands[number] = _made(iree_ops.VM_EXTEND, 64, value)


def _widen_argument(block: ir.Block, argument: ir.BlockArgument) -> None:
    """Takes ``argument`` as an integer of 64 bits, and what it was at the begin of ``block``."""
    type_ = argument.type
    if str(type_) not in (_INT, _FLOAT):
        return
    with ir.InsertionPoint.at_block_begin(block), block.operations[0].location:
        argument.set_type(ir.IntegerType.get_signless(64))
        narrow = value = _made(iree_ops.VM_TRUNCATE, 32, argument)
        if str(type_) == _FLOAT:
            value = ir.Operation.create(iree_ops.VM_BITS_TO_FLOAT, [type_], [narrow]).results[0]
    argument.replace_all_uses_except(value, narrow.owner.operation)


def _made(name: str, bits: int, value: ir.Value) -> ir.Value:
    return ir.Operation.create(name, [ir.IntegerType.get_signless(bits)], [value]).results[0]
