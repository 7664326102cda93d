"""Functions of a module in an order in which what is called comes before what calls it."""

from __future__ import annotations

from iree.compiler import ir

from .module import callees_of, functions_of


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
