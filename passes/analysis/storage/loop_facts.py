"""What holds of the integers that a loop carries, in every round and behind it, by induction."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.verdict import Answer

from ..bounds.conditions import Condition, at_most, equal, replace
from ..bounds.extents import Extents
from ..bounds.size_terms import ZERO, Apply, Symbol, symbols_of
from .proof import decide


def invariants(
    extents: Extents, rows: Iterable[tuple[ir.Value, ir.Value, ir.Value]], facts: list[Condition]
) -> dict[ir.Value, list[Condition]]:
    """Bounds of integers that a loop carries (argument, what it starts from, what a round hands on) that hold in every
    round: what each starts from where it only grows, or only falls, and that it is not negative."""
    found: dict[ir.Value, list[Condition]] = {}
    for argument, start, next_ in rows:
        if (
            not isinstance(argument.type, (ir.IndexType, ir.IntegerType))
            or getattr(argument.type, "width", 64) == 1
        ):
            continue
        own, first, handed = (extents.value(v) for v in (argument, start, next_))
        if own.atom is None or isinstance(own.atom, Apply):
            continue
        for low, high in ((first, own), (own, first), (ZERO, own)):
            bound = at_most(low, high)
            by = {own.atom.ident: handed}
            known = [*facts, bound]
            holds_at_first = low is not ZERO or _cheaply(
                at_most(ZERO, first), facts + extents.facts_about(symbols_of(first))
            )
            if holds_at_first and _cheaply(
                replace(bound, by), known + extents.facts_about(symbols_of(handed))
            ):
                found.setdefault(argument, []).append(bound)
    return found


def of_results(
    extents: Extents, kept: dict[ir.Value, list[Condition]], results: dict[ir.Value, ir.Value]
) -> list[Condition]:
    """The invariants of a loop's arguments, stated for its results."""
    found: list[Condition] = []
    for argument, facts in kept.items():
        atom = extents.value(argument).atom
        assert isinstance(atom, Symbol)  # else nothing would be known of it
        by = {atom.ident: extents.value(results[argument])}
        found += [replace(fact, by) for fact in facts]
    return found


def equal_integers(extents: Extents, some: Iterable[ir.Value], others: Iterable[ir.Value]) -> list[Condition]:
    """That values which a loop hands on are what it handed."""
    return [
        equal(extents.value(a), extents.value(b))
        for a, b in zip(some, others, strict=False)
        if isinstance(a.type, (ir.IndexType, ir.IntegerType)) and getattr(a.type, "width", 64) > 1
    ]


def _cheaply(condition: Condition, facts: list[Condition]) -> bool:
    """Whether ``facts`` prove ``condition`` without a solver."""
    return decide(condition, facts, 0).verdict.answer is Answer.PROVED
