"""Globals that IREE makes one of, because the stores that it looks at put the same into both.

IREE 3.13 fuses private globals with one initial value that are stored together in every block of a function (FuseGlobals). It sees neither
the stores inside of loops and branches, nor what is loaded between the two stores.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from ..program.private_calls import CALLS, FUNCTIONS
from .accesses import holds_tensor, tensor_globals
from .chained_globals import INITIAL, ChainedGlobal, globals_that_change


def fused_globals(module: ir.Operation) -> list[ChainedGlobal]:
    """Those of ``module``, up to phase global-optimization, that may differ: the first of two, by their order in the module."""
    known = globals_that_change(module)
    if len(known) < 2:
        return []
    bodies = [op.operation for op in module.regions[0].blocks[0].operations]
    functions = [op for op in bodies if op.name in (*FUNCTIONS, iree_ops.UTIL_INITIALIZER)]
    together = _stored_together([block for op in functions for block in op.regions[0].blocks])
    blocks = _blocks(functions)
    found = []
    for one, other in combinations(known, 2):
        if other not in together.get(one, ()) or one not in together.get(other, ()):
            continue
        if _initial(known[one]) == _initial(known[other]) and not all(
            _stay_equal(block, one, other) for block in blocks
        ):
            place = next(place_of(op) for block in blocks for op in _stores(block) if _held(op) == one)
            found.append(ChainedGlobal(known[one], one, other, place, fused=True))
    return found


def _initial(op: ir.Operation) -> str:
    return str(op.attributes[INITIAL]) if INITIAL in op.attributes else ""


def _held(op: ir.Operation) -> str:
    return text_of(op, "global")


def _stores(block: ir.Block) -> list[ir.Operation]:
    return [op.operation for op in block.operations if op.operation.name == iree_ops.UTIL_GLOBAL_STORE]


def _stored_together(blocks: list[ir.Block]) -> dict[str, set[str]]:
    """The globals that each one is stored together with, in ``blocks`` of functions, as IREE sees it."""
    together: dict[str, set[str]] = {}
    for block in blocks:
        of_value: dict[ir.Value, set[str]] = {}
        for store in _stores(block):
            of_value.setdefault(store.operands[0], set()).add(_held(store))
        for names in of_value.values():
            for name in names:
                together[name] = together[name] & names if name in together else set(names)
    return together


def _blocks(functions: list[ir.Operation]) -> list[ir.Block]:
    """All of ``functions`` that run on the host, with those of loops and branches."""
    found: list[ir.Block] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("linalg."):
            return ir.WalkResult.SKIP
        found.extend(block for region in op.regions for block in region.blocks)
        return ir.WalkResult.ADVANCE

    for function in functions:
        function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _stay_equal(block: ir.Block, one: str, other: str) -> bool:
    """Whether what ``one`` and ``other`` hold is the same at each op of ``block`` that may read them, if it is before."""
    stored: dict[str, int] = {}
    for op in (o.operation for o in block.operations):
        if op.name == iree_ops.UTIL_GLOBAL_STORE and _held(op) in (one, other):
            stored[_held(op)] = hash(op.operands[0])
        elif stored.get(one) != stored.get(other) and _may_read(op, (one, other)):
            return False
    return len(stored) in (0, 2) and stored.get(one) == stored.get(other)


def _may_read(op: ir.Operation, names: tuple[str, str]) -> bool:
    if op.name == iree_ops.UTIL_GLOBAL_LOAD:
        return _held(op) in names
    return op.name in CALLS or (op.name.startswith("scf.") and len(op.regions) > 0)


def may_fuse_late(module: ir.Operation) -> bool:
    """Whether ``module``, at phase flow, has two globals with tensors, and a loop or a branch stores one that changes.

    IREE fuses globals again once their tensors are parts of buffers: globals that start in one buffer, or are stored from one, have the same
    values then, whatever loops and branches store.
    """
    if not tensors_that_change(module) or len(tensor_globals(module)) < 2:
        return False
    bodies = [op.operation for op in module.regions[0].blocks[0].operations]
    functions = [op for op in bodies if op.name in (*FUNCTIONS, iree_ops.UTIL_INITIALIZER)]
    top = [block for op in functions for block in op.regions[0].blocks]
    return any(block not in top and _stores(block) for block in _blocks(functions))


def tensors_that_change(module: ir.Operation) -> dict[str, ir.Operation]:
    """The private globals of ``module`` that hold a tensor and are stored at run time, by name."""
    return {name: op for name, op in globals_that_change(module).items() if holds_tensor(op)}


def fused_with_constant(module: ir.Operation) -> list[ChainedGlobal]:
    """Those that IREE may make one of with a constant: it does not say which."""
    found = tensors_that_change(module)
    bodies = [op.operation for op in module.regions[0].blocks[0].operations]
    blocks = _blocks([op for op in bodies if op.name in FUNCTIONS])
    stores = [op for block in blocks for op in _stores(block)]
    return [
        ChainedGlobal(
            op, name, "", next((place_of(one) for one in stores if _held(one) == name), None), fused=True
        )
        for name, op in found.items()
    ]


def fused_late(module: ir.Operation, pairs: Iterable[tuple[str, str]]) -> list[ChainedGlobal]:
    """Those of ``pairs`` (global, and what the schedule has instead) that may differ in ``module``, at phase flow."""
    known = globals_that_change(module)
    bodies = [op.operation for op in module.regions[0].blocks[0].operations]
    blocks = _blocks([op for op in bodies if op.name in (*FUNCTIONS, iree_ops.UTIL_INITIALIZER)])
    found = []
    for one, other in pairs:
        if one in known and other in known and not all(_stay_equal(block, one, other) for block in blocks):
            place = next(
                (place_of(op) for block in blocks for op in _stores(block) if _held(op) == one), None
            )
            found.append(ChainedGlobal(known[one], one, other, place, fused=True))
    return found
