"""References that a branch of the VM's code passes, and that the program needs once more; and numbers of different widths."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

from .registers import is_null, passed_operands

_VM_OPS = "vm."
_SINGLE = ("i1", "i8", "i16", "i32", "f32")
"""Numbers of one register of the VM."""
_DOUBLE = ("index", "i64", "f64")


@dataclass(frozen=True)
class Copied:
    """``branch`` passes a reference that has to stay where it is: ``operands`` are those that have been passed to the same successor before,
    and those that another block reads."""

    branch: ir.Operation
    operands: tuple[int, ...]


def carries_references(module: ir.Operation) -> bool:
    """Whether a function of ``module``, in the stream dialect, has a branch with two resources or timepoints, or with numbers of 32 and of 64
    bits: others need no look."""
    return any(
        sum(not isinstance(value.type, (ir.IntegerType, ir.IndexType)) for value in end.operands) > 1
        or _mixes_widths([str(value.type) for value in end.operands])
        for function in module.regions[0].blocks[0].operations
        if function.operation.name in (iree_ops.UTIL_FUNC, iree_ops.UTIL_INITIALIZER)
        for region in function.operation.regions
        if len(region.blocks) > 1
        for block in region.blocks
        for end in [block.operations[len(block.operations) - 1].operation]
        if len(end.successors)
    )


def copied_operands(module: ir.Operation) -> list[Copied]:
    """All of ``module``, in the VM dialect, in program order."""
    return [
        Copied(branch, numbers)
        for branch in branches(module)
        if (numbers := tuple(n for passed in passed_operands(branch) for n in _to_copy(branch, passed)))
    ]


def mixed_blocks(module: ir.Operation) -> list[ir.Block]:
    """The blocks of ``module``, in the VM dialect, whose arguments are numbers of 32 and of 64 bits.

    IREE orders the moves of a branch by first registers alone, and a number of 64 bits lies in two.
    """
    found: list[ir.Block] = []
    for branch in branches(module):
        for block, passed in zip(branch.successors, passed_operands(branch), strict=True):
            if _mixes_widths([str(branch.operands[number].type) for number in passed]) and block not in found:
                found.append(block)
    return found


def passes_numbers(branch: ir.Operation) -> bool:
    """Whether ``branch``, of the VM dialect, passes numbers of both widths, and no reference that has to be copied."""
    passed = passed_operands(branch)
    mixed = any(_mixes_widths([str(branch.operands[number].type) for number in one]) for one in passed)
    return mixed and not any(_to_copy(branch, one) for one in passed)


def branches(module: ir.Operation) -> list[ir.Operation]:
    """Those of ``module`` that pass values, in program order."""
    return [op for op in ops_of(module, _VM_OPS) if any(len(one) for one in passed_operands(op))]


def _mixes_widths(types: list[str]) -> bool:
    return any(one in _SINGLE for one in types) and any(one in _DOUBLE for one in types)


def _to_copy(branch: ir.Operation, numbers: range) -> list[int]:
    seen: list[ir.Value] = []
    copied = []
    for number in numbers:
        value = branch.operands[number]
        if not str(value.type).startswith(iree_ops.VM_REF_TYPE) or is_null(value):
            continue
        if value in seen or any(use.owner.operation.block != branch.block for use in value.uses):
            copied.append(number)
        seen.append(value)
    return copied
