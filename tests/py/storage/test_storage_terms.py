"""Size terms, intervals and verdicts, held against brute force. No IREE."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fissile.passes.analysis.bounds.conditions import (
    FALSE,
    TRUE,
    all_of,
    any_of,
    at_most,
    different,
    equal,
    holds,
    less,
    negation,
)
from fissile.passes.analysis.bounds.intervals import Bounds, wrapped
from fissile.passes.analysis.bounds.size_terms import (
    Symbol,
    Undefined,
    apply,
    evaluate,
    product,
    term,
    wrap_integer,
)
from fissile.passes.analysis.storage import proof, smt
from fissile.passes.analysis.storage.proof import decide
from fissile.verdict import Answer

A, B, N = Symbol(0, "a", -4, 6), Symbol(1, "b", 0, 5), Symbol(2, "n")
VALUES = [{0: a, 1: b} for a, b in itertools.product(range(-4, 7), range(0, 6))]
FUNCTIONS = ("floordiv", "ceildiv", "mod", "tdiv", "trem", "min", "max")


@st.composite
def terms(draw, depth: int = 2):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([term(A), term(B), term(draw(st.integers(-3, 9)))]))
    left, right = draw(terms(depth=depth - 1)), draw(terms(depth=depth - 1))
    kind = draw(st.sampled_from(["+", "-", "*", "wrap", *FUNCTIONS]))
    if kind in "+-*":
        return {"+": left + right, "-": left - right, "*": left * right}[kind]
    if kind == "wrap":
        return apply("wrap", left, parameter=4)
    if kind in ("min", "max"):
        return apply(kind, left, right)
    return apply(kind, left, draw(st.integers(1, 4)))


@st.composite
def conditions(draw):
    compare = draw(st.sampled_from([at_most, less, equal, different]))
    one = compare(draw(terms()), draw(terms()))
    other = compare(draw(terms(depth=1)), draw(terms(depth=1)))
    return draw(st.sampled_from([one, all_of((one, other)), any_of((one, other)), negation(one)]))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(terms())
def test_an_interval_contains_every_value(t):
    low, high = Bounds().of(t)
    assert all(low <= evaluate(t, v) <= high for v in VALUES)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(terms(), conditions())
def test_an_interval_under_facts_contains_every_value_that_meets_them(t, fact):
    bounds = Bounds([fact])
    low, high = bounds.of(t)
    meeting = [v for v in VALUES if holds(fact, v)]
    assert not (bounds.contradictory and meeting)
    assert all(low <= evaluate(t, v) <= high for v in meeting)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(conditions())
def test_a_negation_holds_where_the_condition_does_not(condition):
    assert all(holds(condition, v) != holds(negation(condition), v) for v in VALUES)


@pytest.mark.parametrize("timeout_ms", [0, 2000])
@settings(max_examples=70, derandomize=True, deadline=None)
@given(condition=conditions(), fact=conditions())
def test_a_verdict_is_what_trying_all_values_says(timeout_ms, condition, fact):
    meeting = [v for v in VALUES if holds(fact, v)]
    assume(meeting)
    results = {holds(condition, v) for v in meeting}
    decision = decide(condition, [fact], timeout_ms)
    answer = decision.verdict.answer
    if answer is Answer.PROVED:
        assert results == {True}
    elif answer is Answer.REFUTED:
        assert results == {False}
    elif timeout_ms and not decision.timed_out:
        assert results == {True, False}
    if decision.values:
        reported = {s.ident: v for s, v in decision.values}
        assert any(reported.items() <= v.items() and not holds(condition, v) for v in meeting)


def test_the_normal_form_makes_equal_sizes_equal():
    a, b = term(A), term(B)
    assert (a + 1) * 4 - b == b * -1 + 4 + a * 4
    assert product([a, b, 2]) == b * (a * 2)
    assert a * b != a * a
    assert str(a * 2 + b - 3) == "2 * a + b - 3"


def test_division_by_zero_is_no_number():
    with pytest.raises(Undefined):
        evaluate(apply("floordiv", term(A), term(B)), {0: 1, 1: 0})


@pytest.mark.parametrize(
    ("function", "a", "b", "expected"),
    [
        ("floordiv", -7, 2, -4),
        ("ceildiv", -7, 2, -3),
        ("tdiv", -7, 2, -3),
        ("trem", -7, 2, -1),
        ("mod", -7, 2, 1),
    ],
)
def test_divisions_round_as_mlir_says(function, a, b, expected):
    assert apply(function, a, b).constant == expected


def test_machine_arithmetic_wraps_only_where_it_can():
    assert wrapped(term(B) + 1) == term(B) + 1
    assert wrapped(term(N) + 1) != term(N) + 1
    assert wrap_integer(2**63, 64) == -(2**63) and wrap_integer(-129, 8) == 127


def test_an_offset_near_the_largest_index_is_not_taken_to_fit():
    """n + 1 <= 10 is no bound on n: the sum wraps at the largest index."""
    n = term(N)
    assert decide(at_most(n, 9), [at_most(wrapped(n + 1), 10)]).verdict.answer is Answer.UNKNOWN
    assert decide(at_most(n, 9), [at_most(n + 1, 10)]).verdict.answer is Answer.PROVED


@pytest.mark.parametrize(
    ("condition", "facts", "answer", "tier"),
    [
        (TRUE, [], Answer.PROVED, "constants"),
        (FALSE, [], Answer.REFUTED, "constants"),
        (at_most(term(B), 5), [], Answer.PROVED, "intervals"),
        (at_most(term(N), 7), [at_most(term(N), 6)], Answer.PROVED, "intervals"),
        (at_most(term(N), 7), [less(7, term(N))], Answer.REFUTED, "intervals"),
        (at_most(term(N) + 1, term(A)), [at_most(term(N), term(A) - 1)], Answer.PROVED, "intervals"),
        (different(term(N), 3), [equal(apply("mod", term(N), 2), 0)], Answer.PROVED, "smt"),
        (at_most(term(N), 7), [], Answer.UNKNOWN, "tried"),
    ],
)
def test_the_cheapest_tier_that_can_decides(condition, facts, answer, tier):
    verdict = decide(condition, facts).verdict
    assert (verdict.answer, verdict.tier) == (answer, tier)


def test_facts_that_exclude_each_other_prove_everything():
    facts = [at_most(term(N), 3), at_most(5, term(N))]
    assert decide(FALSE, facts).verdict.answer is Answer.PROVED
    assert decide(at_most(term(N), 0), facts).verdict.answer is Answer.PROVED


def test_without_a_solver_what_only_it_proves_is_unknown(monkeypatch):
    condition, facts = different(term(N), 3), [equal(apply("mod", term(N), 2), 0)]
    monkeypatch.setattr(smt, "available", lambda: False)
    verdict = decide(condition, facts).verdict
    assert verdict.answer is Answer.UNKNOWN and "no solver (z3) is installed" in verdict.evidence


def test_a_counterexample_is_small():
    ((symbol, value),) = decide(at_most(term(N), 10)).values
    assert (symbol, value) == (N, 11)


def test_a_time_out_is_unknown(monkeypatch):
    class Slow:
        def __init__(self, *_args):
            pass

        def satisfiable(self, *_conditions):
            return smt.Found.UNDECIDED, {}

    monkeypatch.setattr(proof.smt, "Solver", Slow)
    decision = decide(different(term(N), 3), [equal(apply("mod", term(N), 2), 0)])
    assert decision.timed_out and decision.verdict.answer is Answer.UNKNOWN


def test_the_cases_of_a_module_have_a_limit():
    """Of the sum only the cases know that one part is 0 where the other is 5."""
    either = all_of((equal(term(N), 0), equal(term(B), 5))), all_of((equal(term(N), 5), equal(term(B), 0)))
    condition, facts, effort = at_most(term(N) + term(B), 5), [any_of(either)], proof.Effort()
    assert decide(condition, facts, 0, effort).verdict.answer is Answer.PROVED
    assert 0 <= effort.left < proof.MAX_FACTS
    effort.left = 0
    assert decide(condition, facts, 0, effort).verdict.answer is Answer.UNKNOWN
    assert decide(at_most(term(B), 5), facts, 0, effort).verdict.answer is Answer.PROVED


@pytest.mark.parametrize("divisor", [1, 2, 3, 7])
@pytest.mark.parametrize("function", ["floordiv", "ceildiv"])
def test_a_quotient_times_its_divisor_is_near_what_was_divided(function, divisor):
    """The last window of a pooling lies inside its image; a limit that is smaller by one is not proved."""
    n = term(N)
    whole = apply(function, n, divisor) * divisor
    most = 0 if function == "floordiv" else divisor - 1
    least = divisor - 1 if function == "floordiv" else 0
    for condition in (at_most(whole, n + most), at_most(n - least, whole)):
        assert decide(condition, [], 0).verdict.answer is Answer.PROVED
    for condition in (at_most(whole, n + most - 1), at_most(n - least + 1, whole)):
        assert decide(condition, [], 0).verdict.answer is not Answer.PROVED


def test_a_long_fact_costs_more_than_a_short_one():
    """A term counts all that it would print, what it has twice twice: comparing and narrowing take as long."""
    long = term(N)
    for divisor in range(3, 9):
        long = apply("min", apply("floordiv", long, divisor), apply("mod", long, divisor))
    assert long.atoms > 2**6 and term(N).atoms == 1
    left = []
    for fact in (term(N), long):
        effort = proof.Effort()
        effort.spend([at_most(fact, 5)])
        left.append(proof.MAX_FACTS - effort.left)
    assert left[0] == 1 and left[1] > 4
