"""The `stablehlo.select_and_scatter` ops of which IREE takes another one of equal elements than the program."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.places import ops_of

from .stablehlo_ops import COMPARE, NOT, SELECT_AND_SCATTER


def tied_selections(module: ir.Operation) -> list[ir.Operation]:
    """Those in ``module`` (phase start), in program order.

    The selection gets the element that is selected so far and the next one, and says whether the first stays. IREE 3.13 gives it the
    two the other way round, and takes the next one where it says yes: of equal elements the last instead of the first, if the
    selection is a comparison with GE. A selection that is the negated comparison of the second value with the first is written for
    IREE, and no such op.
    """
    return [op for op in ops_of(module, SELECT_AND_SCATTER) if not is_exchanged(op.regions[0].blocks[0])]


def is_exchanged(selection: ir.Block) -> bool:
    """Whether ``selection`` is as `fissile-swap-selections` leaves a comparison."""
    rows = [row.operation for row in selection.operations]
    if [row.name for row in rows[:-1]] != [COMPARE, NOT]:
        return False
    return list(rows[0].operands) == list(reversed(list(selection.arguments)))
