"""Functions of a module in an order in which what is called comes before what calls it, and who owns the results of those without one."""

from __future__ import annotations

from collections.abc import Mapping

from iree.compiler import ir

from . import kinds
from .joins import ends_of
from .module import callees_of, functions_of
from .ownership import Bases, Ownership, ownership_of


def in_circles(module: ir.Operation) -> dict[str, ir.Operation]:
    """The functions that call themselves, or each other in a circle."""
    functions = functions_of(module)
    calls = {name: set(callees_of(f)) & functions.keys() for name, f in functions.items()}
    reached = {name: set(called) for name, called in calls.items()}
    changed = True
    while changed:
        changed = False
        for called in reached.values():
            more = set().union(*(calls[name] for name in called)) - called
            called |= more
            changed = changed or bool(more)
    return {name: functions[name] for name, called in reached.items() if name in called}


def callees_first(module: ir.Operation) -> list[tuple[str, ir.Operation]]:
    """Name and op of each function with a body. Functions that call each other in a circle come in program order."""
    functions = functions_of(module)
    done: dict[str, ir.Operation] = {}

    def visit(name: str, around: tuple[str, ...]) -> None:
        if name in done or name in around or name not in functions:
            return
        for callee in callees_of(functions[name]):
            visit(callee, (*around, name))
        done[name] = functions[name]

    for name in functions:
        visit(name, ())
    return list(done.items())


def summaries_of_circles(functions: Mapping[str, ir.Operation]) -> dict[str, Ownership]:
    """Who owns the results of functions that call each other in a circle.

    Each is taken to hand its results to the caller until its body says otherwise: the greatest solution, since a call that never
    comes back hands on nothing at all.
    """
    summaries = {name: Ownership(results=_all_owned(function)) for name, function in functions.items()}
    changed = True
    while changed:
        changed = False
        for name, function in functions.items():
            found = ownership_of(function, summaries)
            before = summaries[name]
            changed = changed or (found.results, found.consumed) != (before.results, before.consumed)
            summaries[name] = found
    return summaries


def _all_owned(function: ir.Operation) -> tuple[Bases | None, ...]:
    return (None,) * max(
        (len(op.operands) for op in ends_of(function) if op.name in kinds.RETURNS), default=0
    )
