"""References that a branch of the VM's code passes more than once, and those that IREE's register allocation loses."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

_VM_OPS = "vm."
_BRANCHES = (iree_ops.VM_BR, iree_ops.VM_COND_BR)


@dataclass(frozen=True)
class Repeated:
    """``branch`` has the same reference as several operands for one successor: ``operands`` are all of them but the first."""

    branch: ir.Operation
    operands: tuple[int, ...]


def carries_references(module: ir.Operation) -> bool:
    """Whether a function of ``module``, in the stream dialect, has a branch with two resources or timepoints: others need no look."""
    return any(
        sum(not isinstance(value.type, (ir.IntegerType, ir.IndexType)) for value in end.operands) > 1
        for function in module.regions[0].blocks[0].operations
        if function.operation.name in (iree_ops.UTIL_FUNC, iree_ops.UTIL_INITIALIZER)
        for region in function.operation.regions
        if len(region.blocks) > 1
        for block in region.blocks
        for end in [block.operations[len(block.operations) - 1].operation]
        if len(end.successors)
    )


def repeated_operands(module: ir.Operation) -> list[Repeated]:
    """All of ``module``, in the VM dialect, in program order."""
    return [
        Repeated(branch, tuple(again))
        for branch in branches(module)
        if (again := [number for values in _by_successor(branch) for number in _again(branch, values)])
    ]


def lost_operands(module: ir.Operation) -> list[bool]:
    """Of each branch of ``module``, in program order: whether an argument of a block does not have the reference that it was passed.

    ``module`` is annotated with the registers of IREE's allocation (`--iree-vm-bytecode-module-output-format=annotated-mlir-text`).
    The moves of a branch are done in their order: what is moved out of a register is gone. IREE 3.13 leaves out the move of a
    reference that is where it belongs, and does not see that another one of the same branch takes it away.
    """
    return [_loses(branch) for branch in branches(module)]


def branches(module: ir.Operation) -> list[ir.Operation]:
    """Those of ``module`` that pass two values, in program order."""
    return [op for op in ops_of(module, _VM_OPS) if op.name in _BRANCHES and len(op.operands) > 1]


def _by_successor(branch: ir.Operation) -> list[range]:
    """The numbers of the operands for each successor."""
    if branch.name == iree_ops.VM_BR:
        return [range(len(branch.operands))]
    _condition, if_true, if_false = ir.DenseI32ArrayAttr(branch.attributes["operandSegmentSizes"])
    return [range(1, 1 + if_true), range(1 + if_true, 1 + if_true + if_false)]


def _again(branch: ir.Operation, numbers: range) -> list[int]:
    seen: list[ir.Value] = []
    again = []
    for number in numbers:
        value = branch.operands[number]
        if not str(value.type).startswith(iree_ops.VM_REF_TYPE) or _is_null(value):
            continue
        if value in seen:
            again.append(number)
        else:
            seen.append(value)
    return again


def _is_null(value: ir.Value) -> bool:
    """Whether ``value`` is known to be empty: there is nothing to lose."""
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == iree_ops.VM_CONST_REF_ZERO


def _loses(branch: ir.Operation) -> bool:
    registers = _words(branch.attributes[iree_ops.OPERAND_REGISTERS])
    remapped = ir.ArrayAttr(branch.attributes[iree_ops.REMAPPED_REGISTERS])
    for numbers, successor, moves in zip(_by_successor(branch), branch.successors, remapped, strict=True):
        held: dict[str, ir.Value | None] = {}
        for number in numbers:
            held.setdefault(registers[number].lower(), branch.operands[number])
        for move in _words(moves):
            source, target = move.split("->")
            held[target.lower()] = held.get(source.lower())
            if source.startswith("R"):
                held[source.lower()] = None
        arguments = _words(successor.operations[0].operation.attributes[iree_ops.BLOCK_REGISTERS])
        for number, register in zip(numbers, arguments, strict=True):
            value = branch.operands[number]
            if register.startswith("r") and not _is_null(value):
                there = held.get(register)
                if there is None or there != value:
                    return True
    return False


def _words(attribute: ir.Attribute) -> list[str]:
    return [ir.StringAttr(one).value for one in ir.ArrayAttr(attribute)]
