"""Which ops does an op wait for, since it needs what they compute?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iree.compiler import ir


def awaited_by(ops: Iterable[ir.Operation], position: Mapping[int, int], first: int = 0) -> set[int]:
    """The hashes of the ops at ``position`` ``first`` or later whose results ``ops`` need, directly or through others: in any schedule these
    come before. A loop or a branch is needed with all that is in it."""
    found: set[int] = set()
    pending = list(ops)
    while pending:
        for operand in pending.pop().operands:
            if isinstance(operand.owner, ir.Block):
                continue
            maker = operand.owner.operation
            key = hash(maker)
            if key not in found and position.get(key, -1) >= first:
                found.add(key)
                pending.append(maker)
                inside = _inside(maker, position)
                found.update(map(hash, inside))
                pending += inside
    return found


def _inside(op: ir.Operation, position: Mapping[int, int]) -> list[ir.Operation]:
    """The ops in the regions of ``op`` that have a position."""
    found: list[ir.Operation] = []

    def visit(one: ir.Operation) -> ir.WalkResult:
        if one != op:
            found.append(one)
        return ir.WalkResult.ADVANCE if hash(one) in position else ir.WalkResult.SKIP

    if op.regions:
        op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return [one for one in found if hash(one) in position]
