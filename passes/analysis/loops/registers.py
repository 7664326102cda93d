"""What the registers of IREE's VM hold, followed along its code: where a value is read that is not there any more.

A module is annotated with the registers of IREE's allocation (`--iree-vm-bytecode-module-output-format=annotated-mlir-text`). IREE 3.13 gives a
block's argument the register of what a branch passes for it, although that is read later as well, and leaves out the move of a
reference that is where it belongs, although another move of the same branch takes it away.
"""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect import ops_of
from fissile.passes.iree import ops as iree_ops

Held = dict[str, tuple[ir.Value, int]]
"""What each register holds: a value, and which part of it (64-bit integers have two registers)."""


def values_lost(module: ir.Operation) -> list[ir.Operation]:
    """The ops of ``module``, annotated, that read a register which does not hold the operand, and the branches that leave an argument of a
    block without what they pass. An empty reference is never lost."""
    functions = [op for op in ops_of(module, iree_ops.VM_FUNC) if op.name == iree_ops.VM_FUNC]
    return [one for function in functions for one in _Registers(function).lost()]


class _Registers:
    """Of one function: a register holds a value behind a join where it does so on every path."""

    def __init__(self, function: ir.Operation) -> None:
        self._blocks = list(function.regions[0].blocks)
        self._number = {hash(block): i for i, block in enumerate(self._blocks)}
        self._lost: dict[ir.Operation, None] = {}
        self._begin: dict[int, Held] = {}

    def lost(self) -> list[ir.Operation]:
        if not self._blocks:
            return []
        entry: Held = {}
        for register, value in _arguments(self._blocks[0]):
            _put(entry, register, value)
        self._begin[0] = entry
        waiting = [0]
        while waiting:
            for successor, held in self._behind(waiting.pop()):
                known = self._begin.get(successor)
                joined = held if known is None else {k: v for k, v in known.items() if held.get(k) == v}
                if known is None or len(joined) != len(known):
                    self._begin[successor] = joined
                    waiting.append(successor)
        return list(self._lost)

    def _behind(self, number: int) -> list[tuple[int, Held]]:
        """The blocks that may follow, each with what the registers hold there."""
        held = dict(self._begin[number])
        for op in (o.operation for o in self._blocks[number].operations):
            registers = _words(op, iree_ops.OPERAND_REGISTERS)
            pairs = list(zip(registers, op.operands, strict=False))
            passed = passed_operands(op)
            for i, (register, value) in enumerate(pairs):
                if op.name != iree_ops.VM_DISCARD_REFS and not any(i in one for one in passed):
                    self._read(op, held, register, value)
            if len(op.successors):
                return self._branched(op, held, pairs, passed)
            for register, _value in pairs:
                if register.startswith("R") or op.name == iree_ops.VM_DISCARD_REFS:
                    held.pop(register.lower(), None)
            for register, result in zip(_words(op, iree_ops.RESULT_REGISTERS), op.results, strict=False):
                _put(held, register, result)
        return []

    def _branched(
        self, op: ir.Operation, held: Held, pairs: list, passed: list[range]
    ) -> list[tuple[int, Held]]:
        moves = [_texts(one) for one in _parts(op, iree_ops.REMAPPED_REGISTERS)]
        found = []
        for i, successor in enumerate(op.successors):
            after = dict(held)
            for move in moves[i] if i < len(moves) else ():
                source, target = move.split("->")
                taken = [after.get(part) for part in _split(source)]
                for part, one in zip(_split(target), taken, strict=True):
                    _set(after, part, one)
                if source.startswith("R"):
                    after.pop(source.lower(), None)
            arguments = _arguments(successor)
            for n, (register, _argument) in zip(
                passed[i] if i < len(passed) else (), arguments, strict=False
            ):
                self._read(op, after, register, pairs[n][1])
            for register, argument in arguments:
                _put(after, register, argument)
            found.append((self._number[hash(successor)], after))
        return found

    def _read(self, op: ir.Operation, held: Held, register: str, value: ir.Value) -> None:
        there = all(held.get(part) == (value, i) for i, part in enumerate(_split(register)))
        if not there and not is_null(value):
            self._lost[op] = None


def passed_operands(op: ir.Operation) -> list[range]:
    """The numbers of the operands that a branch passes to each successor; none of another op."""
    if op.name == iree_ops.VM_BR:
        return [range(len(op.operands))]
    if op.name != iree_ops.VM_COND_BR:
        return []
    _condition, if_true, if_false = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    return [range(1, 1 + if_true), range(1 + if_true, 1 + if_true + if_false)]


def is_null(value: ir.Value) -> bool:
    """Whether ``value`` is known to be empty: there is nothing to lose."""
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == iree_ops.VM_CONST_REF_ZERO


def _arguments(block: ir.Block) -> list[tuple[str, ir.Value]]:
    if not len(block.arguments):
        return []
    return list(
        zip(_words(block.operations[0].operation, iree_ops.BLOCK_REGISTERS), block.arguments, strict=True)
    )


def _split(register: str) -> list[str]:
    """`i44+45` is two registers; a reference's is written in capitals where it is moved out."""
    first, _plus, second = register.lower().partition("+")
    return [first, f"i{second}"] if second else [first]


def _put(held: Held, register: str, value: ir.Value) -> None:
    for i, part in enumerate(_split(register)):
        held[part] = (value, i)


def _set(held: Held, part: str, one: tuple[ir.Value, int] | None) -> None:
    if one is None:
        held.pop(part, None)
    else:
        held[part] = one


def _parts(op: ir.Operation, name: str) -> list[ir.Attribute]:
    return list(ir.ArrayAttr(op.attributes[name])) if name in op.attributes else []


def _words(op: ir.Operation, name: str) -> list[str]:
    return [ir.StringAttr(one).value for one in _parts(op, name)]


def _texts(attribute: ir.Attribute) -> list[str]:
    return [ir.StringAttr(one).value for one in ir.ArrayAttr(attribute)]
