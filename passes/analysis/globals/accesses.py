"""Which globals an op loads and stores: itself, in its regions, and in the functions that it calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..program.private_calls import CALLS, FUNCTIONS

ACCESSES = (iree_ops.UTIL_GLOBAL_LOAD, iree_ops.UTIL_GLOBAL_STORE)
_MUTABLE = "is_mutable"


@dataclass(frozen=True)
class Accesses:
    """The names of globals that are loaded and stored."""

    loads: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.loads or self.stores)

    def conflict(self, other: Accesses) -> bool:
        """Whether the order of the two counts: one stores what the other one loads or stores."""
        return bool(self.stores & (other.loads | other.stores) or other.stores & self.loads)

    def only(self, names: frozenset[str]) -> Accesses:
        return Accesses(self.loads & names, self.stores & names)


def mutable_globals(module: ir.Operation) -> frozenset[str]:
    return frozenset(
        text_of(op.operation, "sym_name")
        for op in module.regions[0].blocks[0]
        if op.operation.name == iree_ops.UTIL_GLOBAL and _MUTABLE in op.operation.attributes
    )


def tensor_globals(module: ir.Operation) -> frozenset[str]:
    """The globals that hold tensors."""
    return frozenset(
        text_of(op.operation, "sym_name")
        for op in module.regions[0].blocks[0]
        if op.operation.name == iree_ops.UTIL_GLOBAL and holds_tensor(op.operation)
    )


def holds_tensor(held: ir.Operation) -> bool:
    return isinstance(ir.TypeAttr(held.attributes["type"]).value, ir.RankedTensorType)


def mutable_tensors(module: ir.Operation) -> frozenset[str]:
    return mutable_globals(module) & tensor_globals(module)


@dataclass(frozen=True)
class GlobalAccesses:
    """What the ops of a module with these functions access."""

    functions: dict[str, ir.Operation]
    _known: dict[str, Accesses] = field(default_factory=dict)

    @staticmethod
    def of_module(module: ir.Operation) -> GlobalAccesses:
        ops = (op.operation for op in module.regions[0].blocks[0])
        return GlobalAccesses({text_of(op, "sym_name"): op for op in ops if op.name in FUNCTIONS})

    def of(self, op: ir.Operation, inside: tuple[str, ...] = ()) -> Accesses:
        """Of ``op``; calls of the functions ``inside`` add nothing."""
        loads: set[str] = set()
        stores: set[str] = set()
        called: list[str] = []

        def visit(one: ir.Operation) -> ir.WalkResult:
            if one.name in ACCESSES:
                (loads if one.name == iree_ops.UTIL_GLOBAL_LOAD else stores).add(text_of(one, "global"))
            elif one.name in CALLS:
                called.append(text_of(one, "callee"))
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        for name in dict.fromkeys(called):
            function = self.functions.get(name)
            if function is None or name in inside or not len(function.regions[0].blocks):
                continue
            if name not in self._known:
                self._known[name] = self.of(function, (*inside, name))
            loads |= self._known[name].loads
            stores |= self._known[name].stores
        return Accesses(frozenset(loads), frozenset(stores))
