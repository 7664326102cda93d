"""Where control flow gives storage another name: arguments of blocks and regions, results of ops with regions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.views import view_of

from .aliases import chosen_from
from .kinds import is_storage_like
from .sizes import constant
from .ways_on import branches_of

ONCE = (
    "scf.if",
    "scf.index_switch",
    "scf.execute_region",
    "affine.if",
    "memref.alloca_scope",
    "fissile.group",
)
"""Ops of which at most one region runs, once, and yields the results."""


@dataclass(frozen=True)
class Entry:
    """Op ``by`` gives the value ``value`` to a name; ``enters`` is the loop that this edge enters from outside."""

    by: ir.Operation
    value: ir.Value
    enters: ir.Operation | None = None


def joins_of(function: ir.Operation) -> dict[ir.Value, list[Entry]]:
    """Each name of storage that edges make, with all that may come in."""
    found: dict[ir.Value, list[Entry]] = {}
    for op in _inside(function):
        for new, entry in edges_of(op):
            if is_storage_like(new.type):
                found.setdefault(new, []).append(entry)
    return found


def tensor_joins(ops: Iterable[ir.Operation]) -> dict[ir.Value, list[Entry]]:
    """Each tensor that edges between ``ops``, or a choice, give another name, with all that may come in."""
    found: dict[ir.Value, list[Entry]] = {}
    for op in ops:
        for new, entry in edges_of(op):
            if isinstance(new.type, ir.RankedTensorType):
                found.setdefault(new, []).append(entry)
        if chosen_from(op) is not None and isinstance(op.results[0].type, ir.RankedTensorType):
            found[op.results[0]] = [Entry(op, value) for value in choices(op)]
    return found


def choices(op: ir.Operation) -> tuple[ir.Value, ...]:
    """The operands that a select may be: one where its condition is a constant."""
    choice = chosen_from(op)
    if choice is None:
        return ()
    decided = constant(choice[0])
    return choice[1:] if decided is None else (choice[1] if decided else choice[2],)


def edges_of(op: ir.Operation) -> Iterator[tuple[ir.Value, Entry]]:
    """The names that ``op`` gives values where control goes on, with what comes in."""
    if op.name in ONCE:
        for end in ends_of(op):
            yield from ((r, Entry(end, v)) for r, v in zip(op.results, end.operands, strict=False))
    elif op.name in ("scf.for", "affine.for"):
        inits = list(view_of(op).initArgs) if op.name == "scf.for" else list(view_of(op).inits)
        arguments = list(op.regions[0].blocks[0].arguments)
        carried = arguments[len(arguments) - len(inits) :]
        for argument, result, init in zip(carried, op.results, inits, strict=False):
            yield argument, Entry(op, init, op)
            yield result, Entry(op, init, op)
        for end in ends_of(op):
            for argument, result, value in zip(carried, op.results, end.operands, strict=False):
                yield argument, Entry(end, value)
                yield result, Entry(end, value)
    elif op.name == "scf.forall":
        inits = list(view_of(op).outputs)
        arguments = list(op.regions[0].blocks[0].arguments)
        shared = arguments[len(arguments) - len(inits) :]
        for argument, result, init in zip(shared, op.results, inits, strict=False):
            yield argument, Entry(op, init, op)
            yield result, Entry(op, init, op)
    elif op.name == "scf.while":
        before, after = (list(r.blocks[0].arguments) for r in op.regions)
        yield from ((a, Entry(op, v, op)) for a, v in zip(before, op.operands, strict=False))
        for end in ends_of(op):
            if end.name == "scf.condition":
                for argument, result, value in zip(after, op.results, view_of(end).args, strict=False):
                    yield argument, Entry(end, value)
                    yield result, Entry(end, value)
            else:
                yield from ((a, Entry(end, v)) for a, v in zip(before, end.operands, strict=False))
    elif op.successors:
        for way in branches_of(op):
            yield from ((a, Entry(op, v)) for a, v in zip(way.block.arguments, way.values, strict=False))


def ends_of(op: ir.Operation) -> list[ir.Operation]:
    """The ops that leave the regions of ``op``."""
    found = []
    for region in op.regions:
        for block in region.blocks:
            operations = list(block.operations)
            last = operations[-1].operation if operations else None
            if last is not None and not last.successors:
                found.append(last)
    return found


def _inside(root: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
