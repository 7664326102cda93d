"""The order in which sets of producers are tried. Pure."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fissile.pipelines.repair.cut_search import MAX_TRIALS, Candidate, translate, trial_sets


def candidate(tag, blamed=0, crossing=100, racing=False, upstream=True):
    return Candidate(tag, blamed, crossing, racing, upstream)


def test_the_producer_to_blame_comes_first():
    sets = list(trial_sets([candidate(0, blamed=10), candidate(1, blamed=900)], excess=500))
    assert sets[0] == (1,)
    assert (0,) in sets and (0, 1) in sets


def test_a_single_boundary_is_preferred_to_two():
    sets = list(trial_sets([candidate(0, blamed=900), candidate(1, blamed=900)], excess=500))
    assert sets[:2] == [(0,), (1,)]


def test_the_cheaper_of_two_equals_comes_first():
    sets = list(trial_sets([candidate(0, 900, crossing=2000), candidate(1, 900, crossing=10)], excess=500))
    assert sets[0] == (1,)


def test_racing_producers_belong_together():
    sets = list(trial_sets([candidate(0, 900, racing=True), candidate(1, 10, racing=True)], excess=500))
    assert sets[0] == (0, 1)


def test_an_endless_dispatch_is_taken_apart_first():
    sets = list(trial_sets([candidate(0), candidate(1), candidate(2)], excess=0, largest_first=True))
    assert sets[0] == (0, 1, 2)


def test_of_many_producers_all_upstream_and_all_come_last():
    many = [candidate(i, upstream=i < 13) for i in range(15)]
    sets = list(trial_sets(many, excess=0))
    assert len(sets) == MAX_TRIALS and sets[-2:] == [tuple(range(13)), tuple(range(15))]


def test_ops_upstream_of_the_root_come_before_the_root():
    sets = list(trial_sets([candidate(3, crossing=1, upstream=False), candidate(0, crossing=1000)], excess=0))
    assert sets[0] == (0,)


def test_no_candidates_no_sets():
    assert list(trial_sets([], excess=1)) == []


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.integers(0, 10**6), st.booleans(), st.booleans()), max_size=14
    ),
    st.integers(0, 2000),
)
def test_sets_are_distinct_bounded_and_deterministic(rows, excess):
    candidates = [Candidate(i, *row) for i, row in enumerate(rows)]
    sets = list(trial_sets(candidates, excess))
    assert sets == list(trial_sets(list(reversed(candidates)), excess))
    assert len(sets) == len(set(sets)) <= MAX_TRIALS
    assert all(tags == tuple(sorted(set(tags))) and tags for tags in sets)
    if candidates:
        assert sets, "every dispatch with a producer gets a trial"


def test_translate_maps_positions():
    assert translate((3, 0), (2, 0, 1, 3), (12, 10, 11, 13)) == (13, 10)


def test_translate_drops_what_the_other_body_lacks():
    assert translate((9,), (2, 0), (12, 10)) == ()
