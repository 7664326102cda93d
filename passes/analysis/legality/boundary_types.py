"""Arguments and results of a function whose types IREE takes in no function: each type is compiled in a function of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Place

from .compiler import Compiler, Outcome
from .units import functions, is_passable
from .unranked import is_unranked


@dataclass(frozen=True)
class BoundaryValue:
    """``what`` is `argument 2 of @main`, ``function`` its symbol; ``outcome`` what becomes of a function that takes ``type`` and returns it."""

    what: str
    function: str
    type: str
    place: Place | None
    outcome: Outcome


def refused_boundaries(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str, start: str
) -> list[BoundaryValue]:
    """The arguments and results of ``module``'s functions whose types IREE refuses on the way to phase ``to``."""
    if start != "start":
        return []
    found = []
    for function in functions(module):
        name = text_of(function, "sym_name")
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        values = [(f"argument {n} of @{name}", type_) for n, type_ in enumerate(kind.inputs)]
        values += [(f"result {n} of @{name}", type_) for n, type_ in enumerate(kind.results)]
        for what, type_ in values:
            if is_passable(type_) or is_unranked(type_):
                continue
            outcome = compiler.compile(_program(str(type_)), flags, to)
            if not outcome.ok and compiler.compile(_program(""), flags, to).ok:
                found.append(BoundaryValue(what, name, str(type_), place_of(function), outcome))
    return found


def _program(type_: str) -> str:
    if not type_:
        return "func.func @op() {\n  return\n}\n"
    return f"func.func @op(%a: {type_}) -> {type_} {{\n  return %a : {type_}\n}}\n"
