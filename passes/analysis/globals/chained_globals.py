"""Globals that IREE takes for another one, because every store of the program stores what that one holds.

IREE 3.13 renames such a global (FoldGlobals): it does not look at what the global holds before the first store, nor at what is stored in the
other one since. A tensor constant is a global as well, from phase flow on (OutlineConstants).
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of

MUTABLE, VISIBILITY, INITIAL = "is_mutable", "sym_visibility", "initial_value"


@dataclass(frozen=True)
class ChainedGlobal:
    """``held`` is a global that the program loads; what it stores there, at ``place``, is always what the global ``other`` holds ("" for
    a constant), or (``fused``) what the stores put there that IREE looks at."""

    held: ir.Operation
    name: str
    other: str
    place: Place | None
    fused: bool = False


def globals_that_change(module: ir.Operation) -> dict[str, ir.Operation]:
    """The private globals of ``module`` that are stored at run time, by name."""
    known = _globals(module)
    return {name: op for name, op in known.items() if _may_change(op)}


def chained_globals(module: ir.Operation) -> list[ChainedGlobal]:
    """Those of ``module``, up to phase global-optimization, that may differ from the other one."""
    changing = globals_that_change(module)
    if not changing:
        return []
    known = _globals(module)
    loaded, stores = _accesses(module)
    found = []
    for name, op in changing.items():
        if name not in loaded or name not in stores:
            continue
        other = _other(op, name, stores[name], known)
        if other is not None:
            found.append(ChainedGlobal(op, name, other, place_of(stores[name][0])))
    return found


def _globals(module: ir.Operation) -> dict[str, ir.Operation]:
    return {
        text_of(op.operation, "sym_name"): op.operation
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == iree_ops.UTIL_GLOBAL
    }


def _may_change(op: ir.Operation) -> bool:
    private = VISIBILITY in op.attributes and str(op.attributes[VISIBILITY]) == '"private"'
    return private and MUTABLE in op.attributes


def _accesses(module: ir.Operation) -> tuple[set[str], dict[str, list[ir.Operation]]]:
    """The globals that are loaded, and the stores of each."""
    loaded: set[str] = set()
    stores: dict[str, list[ir.Operation]] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.UTIL_GLOBAL_LOAD:
            loaded.add(text_of(op, "global"))
        elif op.name == iree_ops.UTIL_GLOBAL_STORE:
            stores.setdefault(text_of(op, "global"), []).append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return loaded, stores


def _other(
    held: ir.Operation, name: str, stores: list[ir.Operation], known: dict[str, ir.Operation]
) -> str | None:
    """The global that IREE takes for ``held``, "" for a constant; None where it takes none, or the two are always equal."""
    makers = [
        None if isinstance(v.owner, ir.Block) else v.owner.operation
        for v in (op.operands[0] for op in stores)
    ]
    if any(maker is None for maker in makers):
        return None
    if all(maker.name == "arith.constant" for maker in makers if maker is not None):
        constants = {maker.attributes["value"] for maker in makers if maker is not None}
        is_tensor = isinstance(stores[0].operands[0].type, ir.RankedTensorType)
        differs = INITIAL in held.attributes and held.attributes[INITIAL] not in constants
        return "" if is_tensor and len(constants) == 1 and differs else None
    others = {
        text_of(m, "global") if m.name == iree_ops.UTIL_GLOBAL_LOAD else "" for m in makers if m is not None
    }
    if len(others) != 1 or not (other := others.pop()) or other == name or other not in known:
        return None
    return other if MUTABLE in known[other].attributes or INITIAL in held.attributes else None
