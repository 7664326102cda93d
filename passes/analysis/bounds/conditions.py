"""What must hold: conditions over size terms, with negation, evaluation and a sentence form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .size_terms import Symbol, Term, evaluate, substitute, symbols_of, term


@dataclass(frozen=True)
class Compare:
    """``term`` against 0. ``relation`` is `<=`, `==` or `!=`."""

    term: Term
    relation: str
    text: str = ""
    """How a person reads it, where the normal form would hide the sides."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compare) and self.relation == other.relation and self.term == other.term

    def __hash__(self) -> int:
        return hash((self.relation, self.term))

    def __str__(self) -> str:
        return self.text or f"{self.term} {self.relation} 0"


@dataclass(frozen=True)
class All:
    """Holds where every part holds."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(_bracketed(p) for p in self.parts) or "true"


@dataclass(frozen=True)
class Any:
    """Holds where one part holds."""

    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(_bracketed(p) for p in self.parts) or "false"


Condition = Compare | All | Any
TRUE = All(())
FALSE = Any(())


def _bracketed(part: Condition) -> str:
    return str(part) if isinstance(part, Compare) or len(part.parts) < 2 else f"({part})"


def at_most(left: Term | int, right: Term | int) -> Condition:
    """left <= right"""
    return _compare(term(left), "<=", term(right))


def less(left: Term | int, right: Term | int) -> Condition:
    """left < right"""
    return _compare(term(left), "<", term(right))


def equal(left: Term | int, right: Term | int) -> Condition:
    return _compare(term(left), "==", term(right))


def different(left: Term | int, right: Term | int) -> Condition:
    return _compare(term(left), "!=", term(right))


def _compare(left: Term, relation: str, right: Term) -> Condition:
    plain, one = ("<=", 1) if relation == "<" else (relation, 0)
    low, high = left.constant, right.constant
    if low is not None and high is not None:
        return TRUE if _holds(plain, low - high + one) else FALSE
    difference = left - right + one
    if (value := difference.constant) is not None:
        return TRUE if _holds(plain, value) else FALSE
    return Compare(difference, plain, f"{left} {relation} {right}")


def _holds(relation: str, value: int) -> bool:
    return value <= 0 if relation == "<=" else (value == 0) == (relation == "==")


def all_of(parts: Iterable[Condition]) -> Condition:
    flat: dict[Condition, None] = {}
    for part in parts:
        if part == FALSE:
            return FALSE
        flat.update(dict.fromkeys(part.parts if isinstance(part, All) else (part,)))
    return next(iter(flat)) if len(flat) == 1 else All(tuple(flat))


def any_of(parts: Iterable[Condition]) -> Condition:
    flat: dict[Condition, None] = {}
    for part in parts:
        if part == TRUE:
            return TRUE
        flat.update(dict.fromkeys(part.parts if isinstance(part, Any) else (part,)))
    return next(iter(flat)) if len(flat) == 1 else Any(tuple(flat))


def negation(condition: Condition) -> Condition:
    if isinstance(condition, All):
        return any_of(negation(p) for p in condition.parts)
    if isinstance(condition, Any):
        return all_of(negation(p) for p in condition.parts)
    if condition.relation == "<=":  # t <= 0 becomes 1 - t <= 0
        return Compare(-condition.term + 1, "<=", f"not {condition.text}" if condition.text else "")
    return Compare(condition.term, "!=" if condition.relation == "==" else "==")


def holds(condition: Condition, values: Mapping[int, int]) -> bool:
    """Whether ``condition`` holds for these values of its symbols. Raises Undefined on a division by 0."""
    if isinstance(condition, All):
        return all(holds(p, values) for p in condition.parts)
    if isinstance(condition, Any):
        return any(holds(p, values) for p in condition.parts)
    return _holds(condition.relation, evaluate(condition.term, values))


def compares(condition: Condition) -> list[Compare]:
    """The comparisons inside ``condition``."""
    if isinstance(condition, Compare):
        return [condition]
    return [inner for part in condition.parts for inner in compares(part)]


def symbols(condition: Condition) -> dict[int, Symbol]:
    found: dict[int, Symbol] = {}
    for compare in compares(condition):
        found.update(symbols_of(compare.term))
    return found


def replace(condition: Condition, replacements: Mapping[int, Term]) -> Condition:
    """``condition`` with symbols replaced by terms."""
    if isinstance(condition, Compare):
        changed = substitute(condition.term, replacements)
        value = changed.constant
        if value is not None:
            return TRUE if _holds(condition.relation, value) else FALSE
        return Compare(changed, condition.relation, condition.text if changed == condition.term else "")
    parts = [replace(p, replacements) for p in condition.parts]
    return all_of(parts) if isinstance(condition, All) else any_of(parts)
