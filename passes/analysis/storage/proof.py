"""Whether a condition holds always, never or sometimes: constants first, then intervals and cases, then values that are tried,
and SMT where none of them breaks it.

A verdict is PROVED where the condition holds for all values that the facts allow, REFUTED where it
fails for all of them, and UNKNOWN otherwise: then only the run can tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fissile.verdict import Answer, Verdict

from ..bounds.conditions import (
    FALSE,
    TRUE,
    All,
    Any,
    Compare,
    Condition,
    all_of,
    compares,
    holds,
    negation,
    symbols,
)
from ..bounds.intervals import MAX_CHOICES, Bounds, always_holds, bounds_as_text, choices_of, unwrapped
from ..bounds.size_terms import Apply, Symbol, Term, Undefined, term
from . import smt

SMT_TIMEOUT_MS = 500
CONSTANTS, INTERVALS, TRIED, SMT = "constants", "intervals", "tried", "smt"

Values = tuple[tuple[Symbol, int], ...]


@dataclass(frozen=True)
class Decision:
    """``verdict`` as the report shows it, and ``values`` for symbols: a counterexample where REFUTED,
    and where UNKNOWN values for which the condition fails, if any were found."""

    verdict: Verdict
    values: Values = ()
    timed_out: bool = False
    fails_if_run: bool = False
    """It fails for all values, and the op runs only in some calls."""
    missed_solver: bool = False
    """No solver is installed, and one might have proved it: no values that break it were found by trying."""


class Effort:
    """How many facts the cases of all questions about a module may still look at; a fact that two cases have counts twice, and a long one
    for several (ATOMS_OF_A_FACT).

    Beyond it conditions are not decided: they are checked at run time instead.
    """

    def __init__(self) -> None:
        self.left = MAX_FACTS

    def spend(self, facts: Sequence[Condition]) -> None:
        """Counts the facts that bounds are drawn from. Each part of a choice looks at what is known of all of them again."""
        parts = sum(len(fact.parts) for fact in choices_of(facts)[:MAX_CHOICES])
        self.left -= sum(_weight(fact) for fact in facts) + parts * len(facts) // FACTS_OF_A_PART


def decide(
    condition: Condition,
    facts: Sequence[Condition] = (),
    timeout_ms: int = SMT_TIMEOUT_MS,
    effort: Effort | None = None,
) -> Decision:
    """Decides ``condition`` under ``facts``. ``timeout_ms`` limits each SMT question; 0 skips that tier."""
    if condition == TRUE:
        return _decision(Answer.PROVED, CONSTANTS, "the sizes are constants and fit")
    if FALSE in facts:
        return _decision(Answer.PROVED, CONSTANTS, "the op is never reached")
    if always_holds(condition):
        return _decision(
            Answer.PROVED, INTERVALS, f"holds for {bounds_as_text(Bounds(), symbols(condition))}"
        )
    effort = effort or Effort()
    if effort.left < 0:
        return _decision(
            Answer.UNKNOWN, INTERVALS, "the program has too many conditions on sizes to look at each"
        )
    near = smt.relevant(facts, condition) if condition != FALSE else list(facts)
    effort.spend(near)
    bounds = Bounds(near)
    if bounds.contradictory:
        return _decision(Answer.PROVED, INTERVALS, "the op is never reached")
    if condition == FALSE:
        return _refuted(CONSTANTS, "the sizes are constants and do not fit", condition, near, timeout_ms)
    known = bounds_as_text(bounds, symbols(condition))
    answer = _by_cases(condition, bounds, near, effort)
    if answer is Answer.PROVED:
        return _decision(answer, INTERVALS, f"holds for {known}" if known else "the two sides are equal")
    if answer is Answer.REFUTED:
        return _refuted(INTERVALS, f"fails for {known}", condition, near, timeout_ms)
    if effort.left < 0:
        timeout_ms = 0
    failing = _sample(negation(condition), near)
    if failing and _sample(condition, near):
        return _decision(Answer.UNKNOWN, TRIED, "some values meet it, others break it", failing)
    if timeout_ms <= 0 or not smt.available():
        why = "the solver is switched off" if timeout_ms <= 0 else "no solver (z3) is installed"
        verdict = Verdict(Answer.UNKNOWN, INTERVALS, f"intervals do not decide it, and {why}")
        return Decision(verdict, failing, missed_solver=timeout_ms > 0 and not failing)
    return _by_smt(condition, near, timeout_ms, failing)


def follows(condition: Condition, facts: Sequence[Condition] = ()) -> bool:
    """Whether intervals and cases prove ``condition`` under ``facts``: a cheap question."""
    return always_holds(condition) or _by_cases(condition, Bounds(facts), facts, Effort()) is Answer.PROVED


def _by_intervals(condition: Condition, bounds: Bounds, facts: Iterable[Condition]) -> Answer:
    if isinstance(condition, Compare):
        return _compare_by_intervals(condition, bounds, facts)
    answers = [_by_intervals(part, bounds, facts) for part in condition.parts]
    decides, otherwise = (
        (Answer.REFUTED, Answer.PROVED) if isinstance(condition, All) else (Answer.PROVED, Answer.REFUTED)
    )
    if decides in answers:
        return decides
    return otherwise if all(a is otherwise for a in answers) else Answer.UNKNOWN


CASE_DEPTH, MAX_CASES = 3, 48
"""How many facts of the form *this or that* are split one inside another, and how many cases one question may take."""
MAX_FACTS = 80_000
"""Of a module. BERT with a dynamic batch and sequence takes 2,700, in 3 layers and in 12. Where cases alone were counted, half as many, DeBERTa took
12,000 (7 s of a processor), Whisper 17,000, and a mixture of experts whose rows are counted by the program 135,000 and 140 s."""

FACTS_OF_A_PART = 16
"""A part of a choice takes one fact's time for so many facts."""
ATOMS_OF_A_FACT = 16
"""A fact with more symbols and functions counts for several."""


def _weight(fact: Condition) -> int:
    if isinstance(fact, Compare):
        return 1 + fact.term.atoms // ATOMS_OF_A_FACT
    return sum(_weight(part) for part in fact.parts)


def _by_cases(condition: Condition, bounds: Bounds, facts: Sequence[Condition], effort: Effort) -> Answer:
    """Intervals, then intervals for each case of a select, a branch or a size that may be 0."""
    answer = _by_intervals(condition, bounds, facts)
    if answer is not Answer.UNKNOWN:
        return answer
    return _Cases(effort).answer(condition, list(facts), CASE_DEPTH)


class _Cases:
    """Splits facts and conditions into cases, up to MAX_CASES in all."""

    def __init__(self, effort: Effort) -> None:
        self._left = MAX_CASES if effort.left > 0 else 0
        self._effort = effort

    def answer(
        self, condition: Condition, facts: list[Condition], depth: int, about: frozenset[int] = frozenset()
    ) -> Answer:
        """``about`` are symbols that cases taken before are about, besides those of ``condition``."""
        self._left -= 1
        self._effort.spend(facts)
        if self._effort.left < 0:
            return Answer.UNKNOWN
        bounds = Bounds(facts)
        if bounds.contradictory:
            return Answer.PROVED
        found = _by_intervals(condition, bounds, facts)
        if found is not Answer.UNKNOWN or not depth:
            return found
        if isinstance(condition, All):
            answers = [self.answer(part, facts, depth) for part in condition.parts]
            if all(a is Answer.PROVED for a in answers):
                return Answer.PROVED
            return Answer.UNKNOWN
        if isinstance(condition, Any):  # one part holds where the others do not
            for part in condition.parts[::-1]:
                others = [negation(p) for p in condition.parts if p is not part]
                if self._left > 0 and self.answer(part, [*facts, *others], depth - 1) is Answer.PROVED:
                    return Answer.PROVED
        about = about | set(symbols(condition))
        for choice in choices_of(facts):
            if self._left <= 0:
                return Answer.UNKNOWN
            if not about & set(symbols(choice)) or len(choice.parts) > MAX_CASES // 4:
                continue
            rest = [fact for fact in facts if fact is not choice]
            if all(
                self.answer(condition, [part, *rest], depth - 1, about | set(symbols(part))) is Answer.PROVED
                for part in choice.parts
            ):
                return Answer.PROVED
        return Answer.UNKNOWN


def _compare_by_intervals(compare: Compare, bounds: Bounds, facts: Iterable[Condition]) -> Answer:
    t = unwrapped(compare.term, bounds)
    low, high = bounds.of(t)
    if compare.relation == "<=":
        if high <= 0:
            return Answer.PROVED
        if low > 0:
            return Answer.REFUTED
    else:
        apart, same = (low > 0 or high < 0), low == high == 0
        if apart or same:
            return Answer.PROVED if same == (compare.relation == "==") else Answer.REFUTED
    if compare.relation == "<=" and bounds.of(_largest_undivided(t))[1] <= 0:
        return Answer.PROVED
    if compare.relation == "<=" and any(bounds.of(larger)[1] <= 0 for larger in _never_smaller(t, bounds)):
        return Answer.PROVED
    for fact in facts:  # the same comparison, or a stronger one, may be a fact already
        for known in fact.parts if isinstance(fact, All) else (fact,):
            if isinstance(known, Compare) and _implies(known, t, compare.relation, bounds):
                return Answer.PROVED
    return Answer.UNKNOWN


def _largest_undivided(t: Term) -> Term:
    """A term that is never smaller than ``t``: a quotient times its divisor is no more than what was divided, and less by no
    more than the rest."""
    result = t
    for monomial, factor in t.monomials.items():
        atom = monomial[0] if len(monomial) == 1 else None
        if not isinstance(atom, Apply) or atom.function not in ("floordiv", "ceildiv"):
            continue
        divided, divisor = atom.arguments[0], atom.arguments[1].constant
        if divisor is None or divisor <= 0 or factor % divisor:
            continue
        times = factor // divisor
        rest = (divisor - 1) * abs(times) if (times < 0) == (atom.function == "floordiv") else 0
        result = result - Term({monomial: factor}) + divided * times + rest
    return result


MAX_LARGER = 24
"""Terms that are tried in the place of one."""
_QUOTIENTS, _RESTS = ("floordiv", "ceildiv", "tdiv", "udiv"), ("mod", "trem", "urem")


def _never_smaller(t: Term, bounds: Bounds) -> Iterator[Term]:
    """Terms that are never smaller than ``t``: a minimum is no more than each of its parts, a maximum no less, a quotient or
    a rest of what is not negative no more than that."""
    pending, made = [t], 0
    while pending and made < MAX_LARGER:
        current = pending.pop(0)
        for monomial, factor in current.monomials.items():
            atom = monomial[0] if len(monomial) == 1 else None
            if not isinstance(atom, Apply):
                continue
            for other in _ends(atom, factor > 0, bounds):
                larger = current - Term({monomial: factor}) + other * factor
                made += 1
                pending.append(larger)
                yield larger


def _ends(atom: Apply, upper: bool, bounds: Bounds) -> Sequence[Term]:
    """Terms that ``atom`` is never above, or never below."""
    if atom.function in ("min", "max"):
        return atom.arguments if upper == (atom.function == "min") else ()
    if not upper or atom.function not in (*_QUOTIENTS, *_RESTS):
        return ()
    divided, divisor = atom.arguments
    if bounds.of(divided)[0] < 0 or bounds.of(divisor)[0] < 1:
        return ()
    return (divided,) if atom.function in _QUOTIENTS else (divided, divisor - 1)


def _implies(known: Compare, t: Term, relation: str, bounds: Bounds) -> bool:
    k = unwrapped(known.term, bounds)
    if relation == "<=":  # t = k + (t - k) with k <= 0
        return (known.relation == "<=" and bounds.of(t - k)[1] <= 0) or (
            known.relation == "==" and (bounds.of(t - k)[1] <= 0 or bounds.of(t + k)[1] <= 0)
        )
    return known.relation == relation and (k == t or k == -t)


def _by_smt(condition: Condition, facts: Sequence[Condition], timeout_ms: int, failing: Values) -> Decision:
    solver = smt.Solver(facts, timeout_ms)
    if not failing:
        found, values = solver.satisfiable(negation(condition))
        if found is smt.Found.NO:
            return _decision(Answer.PROVED, SMT, "no values that the facts allow break it (z3)")
        if found is smt.Found.UNDECIDED:
            verdict = Verdict(Answer.UNKNOWN, SMT, f"z3 did not decide it within {timeout_ms} ms")
            return Decision(verdict, timed_out=True)
        failing = _named(values, condition, facts)
    if solver.satisfiable(condition)[0] is smt.Found.NO:
        evidence = "no values that the facts allow meet it (z3)"
        return Decision(
            Verdict(Answer.REFUTED, SMT, evidence, tuple((s.text, v) for s, v in failing)), failing
        )
    return _decision(Answer.UNKNOWN, SMT, "some values meet it, others break it", failing)


def _refuted(
    tier: str, evidence: str, condition: Condition, facts: Sequence[Condition], timeout_ms: int
) -> Decision:
    values = _sample(negation(condition), facts)
    if not values and smt.available() and timeout_ms > 0:
        found, model = smt.Solver(facts, timeout_ms).satisfiable(negation(condition))
        if found is smt.Found.NO:
            return _decision(Answer.PROVED, SMT, "the op is never reached (z3)")
        values = _named(model, condition, facts)
    return Decision(Verdict(Answer.REFUTED, tier, evidence, tuple((s.text, v) for s, v in values)), values)


def _decision(answer: Answer, tier: str, evidence: str, values: Values = ()) -> Decision:
    return Decision(Verdict(answer, tier, evidence), values)


def _all_symbols(condition: Condition, facts: Iterable[Condition]) -> dict[int, Symbol]:
    found = symbols(condition)
    for fact in facts:
        found.update(symbols(fact))
    return dict(sorted(found.items()))


def _named(values: dict[int, int], condition: Condition, facts: Iterable[Condition]) -> Values:
    return tuple((s, values[i]) for i, s in _all_symbols(condition, facts).items() if i in values and i >= 0)


MAX_SAMPLES = 4000


def _sample(wanted: Condition, facts: Sequence[Condition]) -> Values:
    """Small values for which the facts and ``wanted`` hold, found by trying; empty where none of
    those tried do."""
    found = _all_symbols(wanted, facts)
    if not found:
        return ()
    bounds = Bounds([*facts, wanted])
    if bounds.contradictory:
        return ()
    constants = {
        abs(v) for c in compares(all_of([*facts, wanted])) for m, v in c.term.monomials.items() if not m
    }
    near = sorted({v + d for v in constants if v < 2**31 for d in (-1, 0, 1)} | {0, 1, 2, 3, 5})
    choices = []
    for symbol in found.values():
        low, high = bounds.of(term(symbol))
        tried = [
            v for v in dict.fromkeys([*(v for v in near if v > 0), low, 0, -1, high]) if low <= v <= high
        ]
        choices.append([v for v in tried if abs(v) < 2**31] or tried)
    both = all_of([*facts, wanted])
    for row in itertools.islice(_smallest_first(choices), MAX_SAMPLES):
        values = dict(zip(found, row, strict=True))
        try:
            if holds(both, values):
                return tuple((found[i], v) for i, v in values.items() if i >= 0)
        except Undefined:
            continue
    return ()


def _smallest_first(choices: list[list[int]]):
    """Rows of one choice each, those that take early choices first."""
    most = sum(len(c) - 1 for c in choices)
    for total in range(most + 1):
        yield from _rows(choices, total)


def _rows(choices: list[list[int]], total: int):
    if not choices:
        if total == 0:
            yield ()
        return
    for i in range(min(total, len(choices[0]) - 1) + 1):
        for rest in _rows(choices[1:], total - i):
            yield (choices[0][i], *rest)
