"""The smallest part of a program that IREE still refuses, around the op that its message names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from .compiler import Compiler, Outcome
from .isolation import CannotIsolate, Isolated, isolate_slice, producer_of
from .units import Unit, units

DEEPEST_SLICE = 8
"""Steps from an op to its producers that are tried."""
MOST_STARTS = 4
_LINE = re.compile(r'"?(?P<file>[^"\n:]+)"?:(?P<line>\d+):\d+')


@dataclass(frozen=True)
class Slice:
    """The ops that are refused together, in program order; ``outcome`` is what becomes of ``program``."""

    ops: tuple[Unit, ...]
    program: Isolated
    outcome: Outcome


def smallest_refused(
    compiler: Compiler, module: ir.Operation, failed: Outcome, flags: Sequence[str], start: str
) -> Slice | None:
    """The first of growing parts around the ops that ``failed`` names which IREE refuses as well; None where none is."""
    everything = list(units(module))
    position = {hash(unit.op): number for number, unit in enumerate(everything)}
    for unit in _named(everything, failed.text)[:MOST_STARTS]:
        taken: list[ir.Operation] = [unit.op]
        for _depth in range(DEEPEST_SLICE):
            grown = _grown(taken, position)
            if len(grown) == len(taken):
                break
            taken = sorted(grown, key=lambda op: position[hash(op)])
            try:
                program = isolate_slice(taken, unit.function)
            except CannotIsolate:
                continue
            outcome = compiler.compile(program.text, flags, failed.failed, start)
            if not outcome.ok:
                return Slice(tuple(everything[position[hash(op)]] for op in taken), program, outcome)
    return None


def _named(everything: Sequence[Unit], text: str) -> list[Unit]:
    """The ops at the lines that a diagnostic names, in the order of the diagnostic."""
    lines = list(dict.fromkeys((m["file"].strip(), int(m["line"])) for m in _LINE.finditer(text)))
    at: dict[tuple[str, int], list[Unit]] = {}
    for unit in everything:
        if unit.place is not None:
            at.setdefault((unit.place.file, unit.place.line), []).append(unit)
    return [unit for line in lines for unit in at.get(line, ())]


def _grown(taken: Sequence[ir.Operation], position: dict[int, int]) -> list[ir.Operation]:
    """``taken`` with the ops whose results they read."""
    found = {hash(op): op for op in taken}
    for op in taken:
        for value in op.operands:
            producer = producer_of(value)
            if producer is not None and hash(producer) in position:
                found.setdefault(hash(producer), producer)
    return list(found.values())
