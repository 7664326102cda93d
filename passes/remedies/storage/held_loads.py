"""Keeps what is computed from an element of a tensor behind the check of that element.

IREE copies a `tensor.extract` into the dispatch that needs its value (3.13). Such a dispatch loads its
offset itself, depends on nothing that the host has loaded, and runs ahead of any check. An
optimisation barrier on the value stays on the host: its users depend on it, and it stands behind the
check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.analysis.bounds.conditions import Condition, symbols
from fissile.passes.analysis.bounds.extents import Extents, is_argument
from fissile.passes.iree import ops as iree_ops

BARRIER = iree_ops.UTIL_OPTIMIZATION_BARRIER


@dataclass(frozen=True)
class HeldLoad:
    """A loaded ``value``, the op ``behind`` it and its ``users`` as (op, operand number), as they were
    before any check was written: checks stand before ``behind``."""

    value: ir.Value
    behind: ir.Operation
    users: tuple[tuple[ir.Operation, int], ...]

    def hold(self) -> ir.Operation:
        """Puts the barrier, which it returns, behind the checks and before all users."""
        with self.value.owner.operation.location:
            held = ir.Operation.create(
                BARRIER, [self.value.type], [self.value], ip=ir.InsertionPoint(self.behind)
            )
        for op, number in self.users:
            op.operands[number] = held.results[0]
        return held


def held_loads(extents: Extents, conditions: Iterable[Condition]) -> list[HeldLoad]:
    """The loaded values that ``conditions`` are about, each once. Call it before the conditions are
    written."""
    found: dict[ir.Value, HeldLoad] = {}
    for condition in conditions:
        for value in loads_of(extents, condition):
            if value in found:
                continue
            behind = ir.InsertionPoint.after(value.owner.operation).ref_operation.operation
            users = tuple((use.owner.operation, use.operand_number) for use in value.uses)
            found[value] = HeldLoad(value, behind, users)
    return list(found.values())


def loads_of(extents: Extents, condition: Condition) -> list[ir.Value]:
    """The values of ``condition`` that the host loads from tensors."""
    values = [extents.handle(symbol).value for symbol in symbols(condition).values()]
    return [v for v in values if not is_argument(v) and v.owner.operation.name == "tensor.extract"]
