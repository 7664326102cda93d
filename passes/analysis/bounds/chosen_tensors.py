"""Tensors that a condition chooses: `arith.select` with one scalar, `scf.if`. Their sizes are known before the choice is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iree.compiler import ir

from ..program.defined_before import exists_before
from .conditions import FALSE, TRUE, all_of, any_of, equal, negation
from .shaped_values import is_argument, last_of
from .size_terms import Term, symbols_of, term

if TYPE_CHECKING:
    from .extents import Extents


@dataclass(frozen=True)
class Choice:
    """``op`` gives ``yes`` where ``condition`` (an i1) holds, else ``no``."""

    op: ir.Operation
    condition: ir.Value
    yes: ir.Value
    no: ir.Value


def choice_of(value: ir.Value) -> Choice | None:
    """The choice that ``value`` is the outcome of."""
    if is_argument(value):
        return None
    op, number = value.owner.operation, ir.OpResult(value).result_number
    if op.name == "arith.select" and isinstance(op.operands[0].type, ir.IntegerType):
        return Choice(op, *op.operands)
    if op.name == "scf.if" and all(len(region.blocks) for region in op.regions):
        yes, no = (last_of(region).operands[number] for region in op.regions)
        return Choice(op, op.operands[0], yes, no)
    return None


def dimension(extents: Extents, op: ir.Operation, number: int, index: int) -> Term | None:
    """The size of dimension ``index`` of a chosen tensor: one of two."""
    choice = choice_of(op.results[number])
    if choice is None:
        return extents.dimension(op.operands[1], index) if op.name == "arith.select" else None
    yes, no = extents.dimension(choice.yes, index), extents.dimension(choice.no, index)
    condition = extents.condition(choice.condition)
    if yes == no or condition == TRUE:
        return yes
    if condition == FALSE:
        return no
    chosen = extents.symbol(op.results[number], index)
    if sizes_before(extents, choice, index) is not None:
        cases = (
            all_of((condition, equal(term(chosen), yes))),
            all_of((negation(condition), equal(term(chosen), no))),
        )
        extents.define(chosen, any_of(cases))
    return term(chosen)


def sizes_before(extents: Extents, choice: Choice, index: int) -> tuple[Term, Term] | None:
    """The sizes of dimension ``index`` of both tensors, where the values that they are computed from exist before the choice."""
    both = extents.dimension(choice.yes, index), extents.dimension(choice.no, index)
    known = all(
        symbol.ident >= 0 and exists_before(extents.handle(symbol).value, choice.op)
        for size in both
        for symbol in symbols_of(size).values()
    )
    return both if known else None
