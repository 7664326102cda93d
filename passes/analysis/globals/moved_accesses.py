"""Loads and stores of globals that IREE moves across a loop or a branch in which the same global is stored or loaded.

IREE 3.13 moves loads up and stores down in each block of a function, forwards what is stored to a load behind it, and drops a store that
another one follows (SimplifyGlobalAccesses). Calls and the ends of blocks stop it; it does not look into loops and branches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.attributes import NEVER_INLINED

from ..dispatch.provenance import place_of
from ..program.private_calls import CALLS, FUNCTIONS

_ACCESSES = (iree_ops.UTIL_GLOBAL_LOAD, iree_ops.UTIL_GLOBAL_STORE)
_INDIRECT = (iree_ops.UTIL_GLOBAL_LOAD_INDIRECT, iree_ops.UTIL_GLOBAL_STORE_INDIRECT)
_MUTABLE = "is_mutable"
LOAD, STORE, REGION, END = "load", "store", "region", "end"


@dataclass(frozen=True)
class MovedAccess:
    """``access`` loads or stores ``name``, and IREE moves it across ``around``, a loop or a branch inside of which ``name`` is accessed."""

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
    bodies = [op.operation for op in module.regions[0].blocks[0].operations]
    if not any(op.name == iree_ops.UTIL_GLOBAL and _MUTABLE in op.attributes for op in bodies):
        return []
    functions = [op for op in bodies if op.name in (*FUNCTIONS, iree_ops.UTIL_INITIALIZER)]
    program = _Program({text_of(op, "sym_name"): op for op in functions if op.name in FUNCTIONS})
    found: dict[MovedAccess, None] = {}
    for function in functions:
        for block in function.regions[0].blocks:
            found.update(dict.fromkeys(_moved(program.events(block))))
    return list(found)


@dataclass(frozen=True)
class _Program:
    functions: dict[str, ir.Operation]
    accessed: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def events(self, block: ir.Block, inside: tuple[str, ...] = ()) -> list[_Event]:
        """What happens in ``block``, with functions that IREE inlines, in order."""
        found = []
        for op in (o.operation for o in block.operations):
            if op.name in _ACCESSES:
                kind = LOAD if op.name == iree_ops.UTIL_GLOBAL_LOAD else STORE
                found.append(_Event(kind, op, text_of(op, "global")))
            elif op.name in _INDIRECT:
                found.append(_Event(END, op))
            elif op.name in CALLS:
                found += self._called(op, inside)
            elif any(len(region.blocks) for region in op.regions):
                loads, stores = self._inside(op, inside)
                if loads or stores:
                    found.append(_Event(REGION, op, loads=loads, stores=stores))
        return found

    def _called(self, call: ir.Operation, inside: tuple[str, ...]) -> list[_Event]:
        name = text_of(call, "callee")
        function = self.functions.get(name)
        if function is None or name in inside or any(one in function.attributes for one in NEVER_INLINED):
            return [_Event(END, call)]
        blocks = list(function.regions[0].blocks)
        return self.events(blocks[0], (*inside, name)) if len(blocks) == 1 else [_Event(END, call)]

    def _inside(self, op: ir.Operation, inside: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
        """The globals that the regions of ``op`` load and store, the functions that they call included."""
        loads: set[str] = set()
        stores: set[str] = set()
        called: list[str] = []

        def visit(one: ir.Operation) -> ir.WalkResult:
            if one.name in _ACCESSES:
                (loads if one.name == iree_ops.UTIL_GLOBAL_LOAD else stores).add(text_of(one, "global"))
            elif one.name in CALLS:
                called.append(text_of(one, "callee"))
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        for name in dict.fromkeys(called):
            function = self.functions.get(name)
            if function is None or name in inside or not len(function.regions[0].blocks):
                continue
            if name not in self.accessed:
                self.accessed[name] = self._inside(function, (*inside, name))
            more_loads, more_stores = self.accessed[name]
            loads |= more_loads
            stores |= more_stores
        return frozenset(loads), frozenset(stores)


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


def _until_end(events: Iterable[_Event]) -> list[_Event]:
    found = []
    for one in events:
        if one.kind == END:
            break
        found.append(one)
    return found


def _moved_access(region: _Event, access: _Event) -> MovedAccess:
    return MovedAccess(region.op, access.op, access.name, place_of(access.op), place_of(region.op))
