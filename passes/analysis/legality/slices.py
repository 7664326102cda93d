"""The smallest part of a program that IREE still refuses, around the op that its message names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Place

from .compiler import Compiler, Outcome
from .isolation import CannotIsolate, Isolated, captured, isolate_slice, producer_of
from .units import Unit, units

DEEPEST_SLICE = 8
"""Steps from an op to its producers that are tried."""
MOST_STARTS = 4
_LINE = re.compile(r'"?(?P<file>[^"\n:]+)"?:(?P<line>\d+):\d+')


@dataclass(frozen=True)
class Slice:
    """The ops that are refused together, in program order, by name and place; ``outcome`` is what becomes of ``program``.

    It outlives the module that the ops are of.
    """

    ops: tuple[tuple[str, Place | None], ...]
    program: Isolated
    outcome: Outcome


def smallest_refused(
    compiler: Compiler,
    module: ir.Operation,
    failed: Outcome,
    flags: Sequence[str],
    start: str,
    nameless: Collection[str] = (),
) -> Slice | None:
    """The first of growing parts around the ops that ``failed`` names which IREE refuses as well; None where none is."""
    everything = list(units(module))
    position = {hash(unit.op): number for number, unit in enumerate(everything)}

    def refused(ops: list[ir.Operation]) -> Slice | None:
        ordered = sorted(ops, key=lambda op: position[hash(op)])
        try:
            function = everything[position[hash(ordered[0])]].function
            program = isolate_slice(ordered, function, nameless)
        except CannotIsolate:
            return None
        outcome = compiler.compile(program.text, flags, failed.failed, start)
        if outcome.ok:
            return None
        part = (everything[position[hash(op)]] for op in ordered)
        return Slice(tuple((unit.name, unit.place) for unit in part), program, outcome)

    for unit in named_units(everything, failed.text)[:MOST_STARTS]:
        taken: list[ir.Operation] = [unit.op]
        for _depth in range(DEEPEST_SLICE):
            wider = [_with(taken, ops, position) for ops in (_producers(taken), _users(taken))]
            wider.append(_with(wider[0], _users(taken), position))
            grown = [ops for ops in wider if len(ops) > len(taken)]
            if not grown:
                break
            for ops in grown:
                if (found := refused(ops)) is not None:
                    return found
            taken = grown[-1]
    return None


def named_units(everything: Sequence[Unit], text: str) -> list[Unit]:
    """The ops at the lines that a diagnostic names, or in whose bodies these are, in the order of the diagnostic."""
    lines = list(dict.fromkeys((m["file"].strip(), int(m["line"])) for m in _LINE.finditer(text)))
    at: dict[tuple[str, int], list[Unit]] = {}
    for unit in everything:
        for place in dict.fromkeys(_places(unit.op)):
            at.setdefault(place, []).append(unit)
    return list({hash(unit.op): unit for line in lines for unit in at.get(line, ())}.values())


def _places(op: ir.Operation) -> list[tuple[str, int]]:
    """File and line of ``op`` and of the ops in it."""
    found: list[tuple[str, int]] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if (place := place_of(inner)) is not None:
            found.append((place.file, place.line))
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _producers(taken: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The ops whose results ``taken`` read."""
    made = (producer_of(value) for op in taken for value in captured(op))
    return [op for op in made if op is not None]


def _users(taken: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The ops that read results of ``taken``."""
    return [use.owner.operation for op in taken for result in op.results for use in result.uses]


def _with(
    taken: Sequence[ir.Operation], more: Sequence[ir.Operation], position: dict[int, int]
) -> list[ir.Operation]:
    """``taken`` and those of ``more`` that are units, each once."""
    found = {hash(op): op for op in taken}
    for op in more:
        if hash(op) in position:
            found.setdefault(hash(op), op)
    return list(found.values())
