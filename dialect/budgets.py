"""The budgets that a program states: how many on-chip bytes a dispatch of a function, or with an op, may use.

They stand in attributes (`fissile.budget`), of which IREE's import drops those of functions and its passes those of ops. So each is written
into the locations of the ops that it is about, as the tags of source ops are (`provenance`): `callsite("fz-budget":BYTES:1 at …)`.
"""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.errors import closest
from fissile.finding import Finding

from .ops import BUDGET
from .places import BUDGET_FILE, place_of
from .verify import budget_complaints

_PREFIX = "fissile."
_WRITTEN = re.compile(rf'"{BUDGET_FILE}":(\d+):1\b')
_MOST = (1 << 31) - 1
"""What a line number holds: no target has as many bytes on chip."""


def budget_in(text: str) -> int | None:
    """The smallest budget in a location's text, in bytes; None where it has none."""
    return min(map(int, _WRITTEN.findall(text)), default=None)


def write_budgets(module: ir.Operation) -> tuple[Finding, ...]:
    """Writes the budgets of ``module``, as it was parsed, into the locations of the ops that they are about; returns FIS402 of each that is none.

    Changes locations only, and those only of a program with a budget.
    """
    wrong: list[Finding] = []
    stated: list[tuple[ir.Operation, int]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        for name in op.attributes:
            if not name.startswith(_PREFIX):
                continue
            complaints = (
                list(budget_complaints(op.attributes[name]))
                if name == BUDGET
                else [f"the dialect has no attribute {name}; {closest(name, [BUDGET])}"]
            )
            wrong.extend(_wrong(op, sentence) for sentence in complaints)
            if not complaints:
                stated.append((op, min(ir.IntegerAttr(op.attributes[name]).value, _MOST)))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    for op, budget in stated:
        op.walk(lambda inner, budget=budget: _write(inner, budget))
    return tuple(wrong)


def _write(op: ir.Operation, budget: int) -> ir.WalkResult:
    stated = ir.Location.file(BUDGET_FILE, budget, 1, context=op.context)
    op.location = ir.Location.callsite(stated, [op.location], context=op.context)
    return ir.WalkResult.ADVANCE


def _wrong(op: ir.Operation, sentence: str) -> Finding:
    place = place_of(op)
    return Finding("FIS402", f"{op.name}: {sentence}", subject=op.name, places=(place,) if place else ())
