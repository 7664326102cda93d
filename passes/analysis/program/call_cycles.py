"""Functions that call themselves, directly or through others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Place

from .private_calls import CALLS

_PRIVATE = "private"


@dataclass(frozen=True)
class CallCycle:
    """``functions`` call each other in this order, and the last calls the first; ``places`` are those of the calls."""

    functions: tuple[str, ...]
    places: tuple[Place, ...]


def call_cycles(module: ir.Operation) -> list[CallCycle]:
    """A cycle of the calls that a public function or an initialiser of ``module`` reaches, for each set of functions that has one."""
    calls: dict[str, dict[str, ir.Operation]] = defaultdict(dict)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in CALLS and "callee" in op.attributes:
            callee = op.attributes["callee"]
            if isinstance(callee, ir.FlatSymbolRefAttr):
                calls[_caller(op, module)].setdefault(callee.value, op)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    if not calls:
        return []
    found, covered = [], set[str]()
    for name in _reached(calls, _roots(module, calls)):
        if name not in covered and (cycle := _cycle(calls, name)):
            covered |= _reached(calls, cycle).keys()
            places = [
                place_of(calls[one][after]) for one, after in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
            ]
            found.append(CallCycle(cycle, tuple(p for p in places if p is not None)))
    return found


def _caller(op: ir.Operation, module: ir.Operation) -> str:
    """The name of the module's own op that ``op`` stands in; empty where it has none."""
    while op.parent is not None and op.parent != module:
        op = op.parent.operation
    return _name(op)


def _name(op: ir.Operation) -> str:
    symbol = op.attributes["sym_name"] if "sym_name" in op.attributes else None
    return symbol.value if isinstance(symbol, ir.StringAttr) else ""


def _roots(module: ir.Operation, calls: Mapping[str, object]) -> list[str]:
    """What calls, and runs without a call of the module's own: what is not private."""
    roots = [""]
    for op in module.regions[0].blocks[0].operations:
        visible = op.attributes["sym_visibility"] if "sym_visibility" in op.attributes else None
        if not (isinstance(visible, ir.StringAttr) and visible.value == _PRIVATE):
            roots.append(_name(op.operation))
    return [root for root in roots if root in calls]


def _reached(calls: Mapping[str, Mapping[str, object]], roots: Sequence[str]) -> dict[str, str]:
    """The functions that ``roots`` reach, themselves included; each with the one that it was reached from."""
    reached, left = dict.fromkeys(roots, ""), list(roots)
    while left:
        name = left.pop()
        for callee in calls.get(name, ()):
            if callee not in reached:
                reached[callee] = name
                left.append(callee)
    return reached


def _cycle(calls: Mapping[str, Mapping[str, object]], name: str) -> tuple[str, ...]:
    """The functions of a cycle of calls through ``name``, from it on; none where it does not call itself."""
    callees = list(calls.get(name, ()))
    reached = _reached(calls, callees)
    last = next((one for one in reached if name in calls.get(one, ())), None)
    if name in callees:
        return (name,)
    if last is None:
        return ()
    way = [last]
    while reached[way[-1]]:
        way.append(reached[way[-1]])
    return (name, *reversed(way))
