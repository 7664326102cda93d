"""Brings the checks that IREE's schedule (the output of phase stream) has put behind a dispatch back before it.

`checks_first` orders the checks of each function as the program came. Then inlining puts the check of a callee behind
the dispatches of its caller, and IREE puts a dispatch where its operands are ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from iree.compiler import ir

from fissile.passes.analysis.bounds.extents import is_argument
from fissile.passes.analysis.program.check_order import SCALARS, Overtaken, overtaken_checks
from fissile.passes.iree import ops as iree_ops

MOVABLE = (*SCALARS, iree_ops.HAL_BUFFER_VIEW_DIM)
"""Ops without side effects, of host values."""


def bring_back(
    module: ir.Operation, functions: Iterable[str], before_change: Callable[[], object] = lambda: None
) -> None:
    """Moves each check that the guard made in ``functions`` before the dispatches of ``module`` that may overtake it.

    ``before_change`` is called before the first move. A dispatch may overtake a check only where it knows all that the
    check compares, so there is always such a place.
    """
    changed = False
    ours = tuple(f"@{name}: " for name in functions)
    for late in overtaken_checks(module):
        needed = _needed(late) if late.message.startswith(ours) else None
        if needed is None:
            continue
        if not changed:
            before_change()
            changed = True
        for op in needed:
            op.move_before(late.execute)


def _needed(late: Overtaken) -> list[ir.Operation] | None:
    """The check and what it is computed from between the execution and it, in program order; None where that can't be moved,
    or was moved before an earlier execution already."""
    rows = [row.operation for row in late.execute.block.operations]
    between = rows[rows.index(late.execute) + 1 :]
    if late.check not in between:
        return None
    position = {op: number for number, op in enumerate(between)}
    kept: set[ir.Operation] = set()
    pending = [late.check]
    while pending:
        op = pending.pop()
        if op in kept:
            continue
        if op != late.check and not op.name.startswith(MOVABLE):
            return None
        kept.add(op)
        for value in op.operands:
            source = None if is_argument(value) else value.owner.operation
            if source in position:
                pending.append(source)
    return sorted(kept, key=position.__getitem__)
