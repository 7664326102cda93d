"""Wrong releases made from right ones: dropped, doubled, moved before a use, of a constant, in a pure region."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from iree.compiler import ir

from fissile.dialect import ops_of

GLOBAL = 'memref.global "private" constant @constant : memref<8xf32> = dense<1.0>\n'
"""What a mutated module needs besides its functions."""
EXPECTED = {
    "dropped": {"FIS301", "FIS304"},
    "doubled": {"FIS302"},
    "moved": {"FIS303"},
    "constant": {"FIS306"},
    "pure region": {"FIS305"},
}
"""Mutation -> one of these must be found."""


def mutations(releases: int) -> Iterator[tuple[str, int]]:
    """Every mutation of every one of that many releases."""
    for number in range(releases):
        for kind in EXPECTED:
            yield kind, number


def mutate(module: ir.Operation, kind: str, number: int, seed: int = 0) -> bool:
    """Applies one mutation to release ``number`` of ``module``, in place. False where this release has no place for it."""
    return _MUTATIONS[kind](ops_of(module, "memref.dealloc")[number], random.Random(seed))


def _dropped(op: ir.Operation, _: random.Random) -> bool:
    op.erase()
    return True


def _doubled(op: ir.Operation, _: random.Random) -> bool:
    op.clone(ip=ir.InsertionPoint.after(op))
    return True


def _moved(op: ir.Operation, chosen: random.Random) -> bool:
    """Before an op of the same block that uses the same name."""
    value = op.operands[0]
    users = {use.owner.operation for use in value.uses}
    before = [
        other
        for other in _before(op)
        if other in users and other.name not in ("memref.subview", "memref.cast")
    ]
    if not before:
        return False
    op.move_before(chosen.choice(before))
    return True


def _constant(op: ir.Operation, _: random.Random) -> bool:
    if str(op.operands[0].type) != "memref<8xf32>":
        return False
    with op.context, op.location:
        made = ir.Operation.create(
            "memref.get_global",
            results=[op.operands[0].type],
            attributes={"name": ir.FlatSymbolRefAttr.get("constant")},
            ip=ir.InsertionPoint(op),
        )
    op.operands[0] = made.results[0]
    return True


def _pure_region(op: ir.Operation, chosen: random.Random) -> bool:
    bodies = [other for other in _before(op) if other.name == "linalg.generic"]
    if not bodies or not _dominates(op.operands[0], bodies[-1]):
        return False
    body = bodies[-1].regions[0].blocks[0]
    op.move_before(body.operations[0].operation)
    return True


def _before(op: ir.Operation) -> list[ir.Operation]:
    found = []
    for view in op.block.operations:
        if view.operation == op:
            return found
        found.append(view.operation)
    return found


def _dominates(value: ir.Value, op: ir.Operation) -> bool:
    if isinstance(value.owner, ir.Block) or value.owner.operation.block != op.block:
        return True
    return value.owner.operation.is_before_in_block(op)


_MUTATIONS: dict[str, Callable[[ir.Operation, random.Random], bool]] = {
    "dropped": _dropped,
    "doubled": _doubled,
    "moved": _moved,
    "constant": _constant,
    "pure region": _pure_region,
}
