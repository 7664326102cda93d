"""Where the check of an obligation goes: as far out of branches and loops as its sizes allow, at best
to the entry. `order/checks_first.py` then brings it to the front of its block.

Crossing a branch makes the check conditional; crossing a loop replaces the loop's variable by its
worst value.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.analysis.bounds.conditions import (
    FALSE,
    All,
    Any,
    Compare,
    Condition,
    all_of,
    any_of,
    negation,
    replace,
    symbols,
)
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.size_terms import Term, apply, symbols_of
from fissile.passes.analysis.host.on_host import HOST_REGIONS
from fissile.passes.analysis.program.defined_before import exists_before
from fissile.passes.analysis.storage.guards import Branch, Loop
from fissile.passes.analysis.storage.obligations import (
    FUNCTIONS,
    TRANSPARENT,
    Obligation,
    argument_symbols,
)
from fissile.passes.analysis.storage.structured_rules import reads_elements


@dataclass(frozen=True)
class AssertPlace:
    """``condition`` is to be checked before ``anchor``; ``at_entry`` where it depends on the
    arguments alone."""

    anchor: ir.Operation
    condition: Condition
    at_entry: bool


def place_assert(extents: Extents, obligation: Obligation) -> AssertPlace | None:
    """The outermost place for the check, None where it can stand nowhere outside of a dispatch."""
    anchor, condition = obligation.op, obligation.condition
    crossed_all = True
    for guard in reversed(obligation.guards):
        if guard.op == obligation.op and isinstance(guard, Loop):
            outer = _out_of_loop(condition, guard)
            if outer is None:
                return None  # it is about values inside the op itself
            condition = outer
            continue
        outer = _crossed(extents, condition, guard)
        if outer is None and guard.op == obligation.op:
            return None  # a branch in the body of the op
        if outer is None:
            crossed_all = False
            break
        anchor, condition = guard.op, outer
    while (
        anchor.parent is not None
        and anchor.parent.name in TRANSPARENT
        and _available(extents, condition, anchor.parent.operation)
    ):
        anchor = anchor.parent.operation
    if reads_elements(extents, condition) or not _on_host(anchor):
        return None
    function = _function(anchor)
    at_entry = crossed_all and function is not None and argument_symbols(extents, condition)
    return AssertPlace(anchor, condition, at_entry)


def _crossed(extents: Extents, condition: Condition, guard: Branch | Loop) -> Condition | None:
    """``condition`` as it must hold before ``guard.op``, None where it cannot be expressed there."""
    outer: Condition | None
    if isinstance(guard, Branch):
        if guard.condition == FALSE:
            return None
        outer = any_of((negation(guard.condition), condition))
    else:
        outer = _out_of_loop(condition, guard)
    return outer if outer is not None and _available(extents, outer, guard.op) else None


def _out_of_loop(condition: Condition, loop: Loop) -> Condition | None:
    """What ``condition`` requires in all rounds of ``loop`` together."""
    worst = _worst(condition, loop)
    return None if worst is None else any_of((negation(loop.runs), worst))


def _worst(condition: Condition, loop: Loop) -> Condition | None:
    if loop.variable.ident not in symbols(condition):
        return condition
    if isinstance(condition, All):
        parts = [worst for p in condition.parts if (worst := _worst(p, loop)) is not None]
        return all_of(parts) if len(parts) == len(condition.parts) else None
    if isinstance(condition, Any):
        about = [p for p in condition.parts if loop.variable.ident in symbols(p)]
        if len(about) > 1:
            return None
        worst = _worst(about[0], loop)
        return None if worst is None else any_of(worst if p is about[0] else p for p in condition.parts)
    return _worst_compare(condition, loop)


def _worst_compare(compare: Compare, loop: Loop) -> Condition | None:
    variable = (loop.variable,)
    factor = compare.term.monomials.get(variable, 0)
    rest = compare.term - Term({variable: factor})
    if compare.relation != "<=" or not factor or loop.variable.ident in symbols_of(rest):
        return None  # not linear in the loop's variable: there is no one worst round
    if factor < 0:
        worst = loop.low
    elif loop.step.constant == 1:
        worst = loop.high - 1
    elif loop.step.constant is not None:
        worst = loop.low + apply("floordiv", loop.high - 1 - loop.low, loop.step) * loop.step
    else:
        return None
    return replace(compare, {loop.variable.ident: worst})


def _available(extents: Extents, condition: Condition, anchor: ir.Operation) -> bool:
    """Whether every value of ``condition`` exists before ``anchor``."""
    return all(
        symbol.ident >= 0 and exists_before(extents.handle(symbol).value, anchor)
        for symbol in symbols(condition).values()
    )


def _parent(op: ir.Operation) -> ir.Operation | None:
    return op.parent.operation if op.parent is not None else None


def _on_host(anchor: ir.Operation) -> bool:
    outer = _parent(anchor)
    while outer is not None and outer.name != "builtin.module":
        if outer.name not in HOST_REGIONS:
            return False
        outer = _parent(outer)
    return True


def _function(op: ir.Operation) -> ir.Operation | None:
    outer = _parent(op)
    while outer is not None and outer.name not in FUNCTIONS:
        outer = _parent(outer)
    return outer
