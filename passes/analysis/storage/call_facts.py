"""What a private function knows of its arguments: what all of its calls agree on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from iree.compiler import ir

from ..bounds.conditions import Condition, any_of, at_most, equal, symbols
from ..bounds.extents import Extents
from ..bounds.intervals import Bounds
from ..bounds.shaped_values import is_shaped, rank_of, static_dimension
from ..bounds.size_terms import Term, term
from .proof import follows

MOST_COMPARED = 12
"""Arguments and sizes that are compared with each other; a function with more has its first ones compared."""

Row = tuple[Term, list[Term]]
"""An integer argument or a dynamic size of one, and what each call gives for it."""


def agreed_by_calls(
    extents: Extents, function: ir.Operation, calls: Sequence[ir.Operation]
) -> list[Condition]:
    """Of each argument and size: the constants that it may be, or the range that it lies in. Of two of them: that they are
    equal, or which one is not larger, in every call."""
    rows = list(_rows(extents, function, calls))
    found = [fact for parameter, given in rows for fact in _range(parameter, given)]
    open_rows = [row for row in rows if not all(g.constant is not None for g in row[1])]
    for (first, a), (second, b) in combinations(open_rows[:MOST_COMPARED], 2):
        if a == b:
            found.append(equal(first, second))
        elif _never_larger(extents, a, b):
            found.append(at_most(first, second))
        elif _never_larger(extents, b, a):
            found.append(at_most(second, first))
    return found


def _never_larger(extents: Extents, small: list[Term], large: list[Term]) -> bool:
    conditions = [at_most(a, b) for a, b in zip(small, large, strict=True)]
    return all(follows(c, extents.facts_about(symbols(c))) for c in conditions)


def _rows(extents: Extents, function: ir.Operation, calls: Sequence[ir.Operation]) -> Iterator[Row]:
    for number, argument in enumerate(function.regions[0].blocks[0].arguments):
        given = [call.operands[number] for call in calls]
        if isinstance(argument.type, (ir.IndexType, ir.IntegerType)):
            yield term(extents.symbol(argument)), [extents.value(v) for v in given]
        elif is_shaped(argument):
            for i in range(rank_of(argument)):
                if static_dimension(argument.type, i) is None:
                    yield extents.dimension(argument, i), [extents.dimension(v, i) for v in given]


def _range(parameter: Term, given: list[Term]) -> list[Condition]:
    if all(g.constant is not None for g in given):
        return [any_of(equal(parameter, g) for g in given)]
    ends = [Bounds().of(g) for g in given]
    return [
        at_most(min(low for low, _ in ends), parameter),
        at_most(parameter, max(high for _, high in ends)),
    ]
