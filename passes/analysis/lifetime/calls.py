"""Functions of a module in an order in which what is called comes before what calls it."""

from __future__ import annotations

from iree.compiler import ir

from .module import callees_of, functions_of


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
