"""How large a size can be: intervals of terms under the bounds that facts give their symbols and
functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .conditions import All, Any, Compare, Condition
from .size_terms import DIMENSION_LIMIT, INDEX_BITS, Apply, Atom, Symbol, Term, apply, term

Interval = tuple[int, int]
"""Both ends included; every symbol has a finite range, so every term has one."""

ROUNDS = 6
"""How often facts are used to narrow bounds; enough for chains of arguments, and a fixed price."""

MAX_CHOICES = 24
"""Facts of the form *this or that* that narrow bounds."""


class Bounds:
    """What is known of atoms: intervals, narrowed by facts. Without facts, the ranges of the symbols'
    types."""

    def __init__(self, facts: Iterable[Condition] = ()) -> None:
        self._known: dict[Atom, Interval] = {}
        self._cache: dict[Atom, Interval] = {}
        self.contradictory = False
        """True where the facts exclude each other: what they guard is never reached."""
        pending, choices = _conjuncts(facts)
        for _ in range(ROUNDS):
            changed = False
            for compare in pending:
                changed |= self._narrow(compare)
            if not self.contradictory:
                for choice in choices[:MAX_CHOICES]:
                    changed |= self._narrow_choice(choice)
            if not changed or self.contradictory:
                break

    def of(self, t: Term) -> Interval:
        """The interval of ``t``."""
        low = high = 0
        for monomial, factor in t.monomials.items():
            ends = self._of_monomial(monomial)
            low += min(factor * ends[0], factor * ends[1])
            high += max(factor * ends[0], factor * ends[1])
        return low, high

    def _of_monomial(self, monomial: tuple[Atom, ...]) -> Interval:
        low, high = 1, 1
        for atom in monomial:
            low, high = _corners((low, high), self._of_atom(atom))
        if len(monomial) > 1 and low >= 0 and len(set(monomial)) == len(monomial):
            tensors = {a.tensor if isinstance(a, Symbol) else None for a in monomial}
            if len(tensors) == 1 and None not in tensors:  # elements of one tensor
                high = min(high, DIMENSION_LIMIT - 1)
        return low, high

    def _of_atom(self, atom: Atom) -> Interval:
        if atom not in self._cache:
            natural = (atom.low, atom.high) if isinstance(atom, Symbol) else self._of_function(atom)
            known = self._known.get(atom)
            self._cache[atom] = (
                natural if known is None else (max(natural[0], known[0]), min(natural[1], known[1]))
            )
        return self._cache[atom]

    def _of_function(self, atom: Apply) -> Interval:
        ranges = [self.of(a) for a in atom.arguments]
        if atom.function == "wrap":
            limits = (-(1 << (atom.parameter - 1)), (1 << (atom.parameter - 1)) - 1)
            return ranges[0] if limits[0] <= ranges[0][0] and ranges[0][1] <= limits[1] else limits
        if atom.function == "min":
            return min(r[0] for r in ranges), min(r[1] for r in ranges)
        if atom.function == "max":
            return max(r[0] for r in ranges), max(r[1] for r in ranges)
        (low, high), (first, last) = ranges
        if atom.function in ("udiv", "urem"):
            return _unsigned_quotient(atom.function, low, high, first, last)
        if first <= 0 <= last:  # the divisor may be 0: then nothing runs that is defined
            first, last = (1, last) if first == 0 and last else (first, last)
        if first <= 0:
            size = max(abs(low), abs(high), abs(first), abs(last))  # a mod may be as large as its divisor
            return -size, size
        if atom.function == "mod":
            return 0, min(last - 1, high) if low >= 0 else last - 1
        if atom.function == "trem":
            size = last - 1
            return (0 if low >= 0 else max(-size, low)), (min(size, high) if high > 0 else 0)
        quotients = [apply(atom.function, a, b).constant for a in (low, high) for b in (first, last)]
        known = [quotient for quotient in quotients if quotient is not None]  # all: of constants
        return min(known), max(known)

    def _narrow(self, compare: Compare) -> bool:
        """Uses ``compare`` to bound each atom that stands alone in a monomial. True where it changed
        a bound."""
        changed = False
        low, high = self.of(compare.term)
        if (compare.relation == "<=" and low > 0) or (compare.relation == "==" and not low <= 0 <= high):
            self.contradictory = True
            return False
        for monomial, factor in compare.term.monomials.items():
            if len(monomial) != 1:
                continue
            atom = monomial[0]
            rest = self.of(compare.term - Term({monomial: factor}))
            now = self._of_atom(atom)
            if compare.relation == "!=":
                changed |= self._exclude(atom, factor, rest, now)
                continue
            # factor * atom <= -rest for some value of rest: at most -rest[0]; for `==` also at least
            # -rest[1].
            bounds = _solve(factor, None if compare.relation == "<=" else -rest[1], -rest[0])
            changed |= self._set(atom, bounds, now)
        return changed

    def _narrow_choice(self, choice: Any) -> bool:
        """Uses a fact of which one part holds: an atom lies between the ends that the parts that can hold give it."""
        found: list[Bounds] = []
        for part in choice.parts:
            case = Bounds()
            case._known = dict(self._known)
            compares, _ = _conjuncts([part])
            for _ in range(2):
                if not case.contradictory and not any([case._narrow(c) for c in compares]):
                    break
            if not case.contradictory:
                found.append(case)
        if not found:
            self.contradictory = True
            return False
        changed = False
        for atom in found[0]._known:
            if all(atom in case._known for case in found[1:]):
                ends = [case._of_atom(atom) for case in found]
                now = self._of_atom(atom)
                changed |= self._set(atom, (min(e[0] for e in ends), max(e[1] for e in ends)), now)
        return changed

    def _exclude(self, atom: Atom, factor: int, rest: Interval, now: Interval) -> bool:
        """An end of the interval that a `!=` takes away."""
        if rest[0] != rest[1] or rest[0] % factor:
            return False
        hole = -rest[0] // factor
        low, high = now
        return self._set(atom, (low + (hole == low), high - (hole == high)), now)

    def _set(self, atom: Atom, bounds: tuple[int | None, int | None], now: Interval) -> bool:
        low = now[0] if bounds[0] is None else max(now[0], bounds[0])
        high = now[1] if bounds[1] is None else min(now[1], bounds[1])
        if low > high:
            self.contradictory = True
            return False
        if (low, high) == now:
            return False
        self._known[atom] = (low, high)
        self._cache.clear()
        return True


def always_holds(condition: Condition) -> bool:
    """Whether the ranges of types alone prove ``condition``."""
    if not isinstance(condition, Compare):
        return (all if isinstance(condition, All) else any)(always_holds(p) for p in condition.parts)
    low, high = Bounds().of(condition.term)
    if condition.relation == "<=":
        return high <= 0
    return low == high == 0 if condition.relation == "==" else low > 0 or high < 0


def wrapped(t: Term, bits: int = INDEX_BITS, bounds: Bounds | None = None) -> Term:
    """What a machine integer of ``bits`` holds after computing ``t``: ``t`` itself where it cannot wrap."""
    low, high = (bounds or Bounds()).of(t)
    if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1):
        return t
    return apply("wrap", t, parameter=bits)


def _conjuncts(facts: Iterable[Condition]) -> tuple[list[Compare], list[Any]]:
    """The comparisons that hold all together, and the choices of which one part holds."""
    found: list[Compare] = []
    choices: list[Any] = []
    pending = list(facts)[::-1]
    while pending:
        fact = pending.pop()
        if isinstance(fact, Compare):
            found.append(fact)
        elif isinstance(fact, All):
            pending.extend(fact.parts[::-1])
        else:
            choices.append(fact)
    return found, choices


def choices_of(facts: Iterable[Condition]) -> list[Any]:
    """The facts, and parts of facts, of which one part holds."""
    return _conjuncts(facts)[1]


def _unsigned_quotient(function: str, low: int, high: int, first: int, last: int) -> Interval:
    """A quotient or rest of 64-bit numbers, a negative one of which counts as a huge one."""
    if low < 0:
        low, high = 0, 2**INDEX_BITS - 1
    if first <= 0:
        first, last = 1, 2**INDEX_BITS - 1
    return (low // last, high // first) if function == "udiv" else (0, min(high, last - 1))


def _corners(a: Interval, b: Interval) -> Interval:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _solve(factor: int, low: int | None, high: int) -> tuple[int | None, int | None]:
    """The integers x with low <= factor * x <= high."""
    if factor > 0:
        return (None if low is None else -(-low // factor)), high // factor
    return -(-high // factor), (None if low is None else low // factor)


def of_unsigned(name: str, terms: Sequence[Term], bits: int) -> Term | None:
    """A quotient, rest, minimum or maximum of unsigned numbers that may be negative as signed ones."""
    if bits < INDEX_BITS:
        return wrapped(apply(name, *(apply("mod", t, 1 << bits) for t in terms)), bits)
    function = {"tdiv": "udiv", "trem": "urem"}.get(name)
    return wrapped(apply(function, *terms), bits) if function else None


def unwrapped(t: Term, bounds: Bounds) -> Term:
    """``t`` without the wraps that cannot happen under ``bounds``, innermost first."""
    if not any(isinstance(a, Apply) for m in t.monomials for a in m):
        return t
    result = term(0)
    for monomial, factor in t.monomials.items():
        part = term(factor)
        for atom in monomial:
            part = part * _unwrapped_atom(atom, bounds)
        result = result + part
    return result


def _unwrapped_atom(atom: Atom, bounds: Bounds) -> Term:
    if isinstance(atom, Symbol):
        return term(atom)
    inner = [unwrapped(a, bounds) for a in atom.arguments]
    if atom.function == "wrap":
        return wrapped(inner[0], atom.parameter, bounds)
    return apply(atom.function, *inner, parameter=atom.parameter)


def bounds_as_text(bounds: Bounds, symbols: Mapping[int, Symbol]) -> str:
    """What is known of ``symbols``, for evidence: `0 <= %m <= 10`."""
    shown = []
    for symbol in symbols.values():
        low, high = bounds.of(term(symbol))
        shown.append(f"{low} <= {symbol.text} <= {high}")
    return ", ".join(shown)
