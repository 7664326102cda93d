"""Loads and stores of globals that IREE moves across a loop or a branch in which the same global is stored or loaded.

IREE 3.13 moves loads up and stores down in each block of a function, forwards what is stored to a load behind it, and drops a store that
another one follows (SimplifyGlobalAccesses). Calls and the ends of blocks stop it; it does not look into loops and branches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.attributes import NEVER_INLINED

from ..dispatch.provenance import place_of
from ..program.private_calls import CALLS, FUNCTIONS
from .accesses import ACCESSES, GlobalAccesses, mutable_globals

_INDIRECT = (iree_ops.UTIL_GLOBAL_LOAD_INDIRECT, iree_ops.UTIL_GLOBAL_STORE_INDIRECT)
WHILE = "scf.while"
LOAD, STORE, REGION, END = "load", "store", "region", "end"


@dataclass(frozen=True)
class MovedAccess:
    """``access`` loads or stores ``name``, and IREE moves it across ``around``, a loop or a branch inside of which ``name`` is accessed; or the
    end of a while loop's condition, which is where the loop starts once IREE has the condition before it."""

    around: ir.Operation
    access: ir.Operation
    name: str
    place: Place | None
    around_at: Place | None


@dataclass(frozen=True)
class _Event:
    """An access of the global ``name``; a loop or a branch that loads and stores globals; or what nothing is moved across."""

    kind: str
    op: ir.Operation
    name: str = ""
    loads: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()


def moved_accesses(module: ir.Operation) -> list[MovedAccess]:
    """Those of ``module`` at phase input."""
    if not mutable_globals(module):
        return []
    bodies = [op.operation for op in module.regions[0].blocks[0].operations]
    functions = [op for op in bodies if op.name in (*FUNCTIONS, iree_ops.UTIL_INITIALIZER)]
    program = _Program(GlobalAccesses.of_module(module))
    found: dict[MovedAccess, None] = {}
    for function in functions:
        for block in function.regions[0].blocks:
            found.update(dict.fromkeys(_moved(program.events(block))))
            for loop in (op.operation for op in block if op.operation.name == WHILE):
                found.update(dict.fromkeys(_moved_behind(loop, program)))
    return list(found)


@dataclass(frozen=True)
class _Program:
    accesses: GlobalAccesses

    def events(self, block: ir.Block, inside: tuple[str, ...] = ()) -> list[_Event]:
        """What happens in ``block``, with functions that IREE inlines, in order."""
        found = []
        for op in (o.operation for o in block.operations):
            if op.name in ACCESSES:
                kind = LOAD if op.name == iree_ops.UTIL_GLOBAL_LOAD else STORE
                found.append(_Event(kind, op, text_of(op, "global")))
            elif op.name in _INDIRECT:
                found.append(_Event(END, op))
            elif op.name in CALLS:
                found += self._called(op, inside)
            elif any(len(region.blocks) for region in op.regions):
                accessed = self.accesses.of(op, inside)
                if accessed:
                    found.append(_Event(REGION, op, loads=accessed.loads, stores=accessed.stores))
        return found

    def _called(self, call: ir.Operation, inside: tuple[str, ...]) -> list[_Event]:
        name = text_of(call, "callee")
        function = self.accesses.functions.get(name)
        if function is None or name in inside or any(one in function.attributes for one in NEVER_INLINED):
            return [_Event(END, call)]
        blocks = list(function.regions[0].blocks)
        return self.events(blocks[0], (*inside, name)) if len(blocks) == 1 else [_Event(END, call)]


def _moved(events: list[_Event]) -> Iterable[MovedAccess]:
    """Between two ends, for each loop or branch: the last store of a global before it, which goes behind it, and the first access behind
    it, where that is a load, which goes before it or reads what has been loaded or stored there."""
    for i, region in enumerate(events):
        if region.kind != REGION:
            continue
        stores: dict[str, _Event] = {}
        for one in _until_end(reversed(events[:i])):
            if one.kind == STORE and one.name in region.loads | region.stores:
                stores.setdefault(one.name, one)
        first: dict[str, _Event] = {}
        for one in _until_end(events[i + 1 :]):
            if one.kind in (LOAD, STORE):
                first.setdefault(one.name, one)
        loads = [one for name, one in first.items() if one.kind == LOAD and name in region.stores]
        yield from (_moved_access(region, one) for one in (*stores.values(), *loads))


def _moved_behind(loop: ir.Operation, program: _Program) -> Iterable[MovedAccess]:
    """The last store of each global in the condition of ``loop``. IREE computes the condition once before the loop and then at the end of
    each iteration, so what it stores there stands before the loop."""
    condition = loop.regions[0].blocks[0]
    end = condition.operations[len(condition.operations) - 1].operation
    stores: dict[str, _Event] = {}
    for one in _until_end(reversed(program.events(condition))):
        if one.kind == STORE:
            stores.setdefault(one.name, one)
    for one in stores.values():
        yield MovedAccess(end, one.op, one.name, place_of(one.op), place_of(loop))


def _until_end(events: Iterable[_Event]) -> list[_Event]:
    found = []
    for one in events:
        if one.kind == END:
            break
        found.append(one)
    return found


def _moved_access(region: _Event, access: _Event) -> MovedAccess:
    return MovedAccess(region.op, access.op, access.name, place_of(access.op), place_of(region.op))
