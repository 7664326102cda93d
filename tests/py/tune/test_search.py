"""Which candidate is taken: without IREE, by a timer that reads times from a table."""

import pytest

from fissile.pipelines.repair.edits import CUT, FOLD, Edit, edits
from fissile.pipelines.tune.candidates import one_by_one
from fissile.pipelines.tune.search import MODELS_CHOICE, TOGETHER, Candidate, search
from fissile.pipelines.tune.timing import Timed

CHOICE = Candidate(MODELS_CHOICE, edits(CUT, (1, 2, 3)))
FIRST, SECOND, THIRD = (
    Candidate(f"without {op}", edits(CUT, {1, 2, 3} - {op}), edits(CUT, (op,))) for op in (1, 2, 3)
)


class Bench:
    """Builds by name and times by a table of seconds; remembers what stood side by side. No seconds: it does not run."""

    def __init__(self, **seconds):
        self.seconds = {name.replace("_", " "): value for name, value in seconds.items()}
        self.rounds = []

    def build(self, candidates):
        return [(c.name, f"{c.name}.vmfb") for c in candidates if c.name in self.seconds]

    def time(self, programs):
        self.rounds.append([name for name, _ in programs])
        rows = [
            Timed(name, self.seconds[name], "" if self.seconds[name] else "crashed") for name, _ in programs
        ]
        return sorted(rows, key=lambda row: (row.seconds is None, row.seconds or 0.0))

    def search(self, *candidates, passes=lambda _edits: True):
        timed, known = search(candidates, self.build, self.time, passes)
        return timed, known[timed[0].name]


def bench(choice, first, second, third=None, together=None):
    one = Bench()
    one.seconds = {MODELS_CHOICE: choice, FIRST.name: first, SECOND.name: second}
    one.seconds |= {THIRD.name: third} if third else {}
    one.seconds |= {TOGETHER: together} if together else {}
    return one


def test_the_fastest_is_taken_and_all_are_timed_side_by_side():
    one = bench(1.0, 0.5, 1.2)
    timed, wanted = one.search(CHOICE, FIRST, SECOND)
    assert wanted == FIRST.edits and [row.name for row in timed] == [FIRST.name, MODELS_CHOICE, SECOND.name]
    assert one.rounds == [[MODELS_CHOICE, FIRST.name, SECOND.name]]


def test_what_is_faster_one_by_one_is_timed_together_against_the_best():
    one = bench(1.0, 0.7, 0.8, 0.99, together=0.5)  # the third is within noise
    timed, wanted = one.search(CHOICE, FIRST, SECOND, THIRD)
    assert one.rounds[1:] == [[FIRST.name, TOGETHER]]
    assert timed[0].name == TOGETHER and wanted == edits(CUT, (3,))


def test_together_is_not_taken_where_it_is_slower_or_does_not_pass_or_build():
    assert bench(1.0, 0.7, 0.8, together=0.9).search(CHOICE, FIRST, SECOND)[1] == FIRST.edits
    assert bench(1.0, 0.7, 0.8).search(CHOICE, FIRST, SECOND)[1] == FIRST.edits
    one = bench(1.0, 0.7, 0.8, together=0.1)
    assert one.search(CHOICE, FIRST, SECOND, passes=lambda _edits: False)[1] == FIRST.edits
    assert len(one.rounds) == 1


def test_what_does_not_run_or_build_is_last_or_left_out():
    one = bench(1.0, None, 0.9)
    timed, wanted = one.search(CHOICE, FIRST, SECOND)
    assert wanted == SECOND.edits and (timed[-1].name, timed[-1].why) == (FIRST.name, "crashed")
    del one.seconds[SECOND.name]
    assert one.search(CHOICE, FIRST, SECOND)[1] == CHOICE.edits


def test_a_boundary_is_placed_or_removed_family_by_family():
    chosen = (*edits(CUT, (1, 4)), Edit(FOLD, 7))
    found = one_by_one(chosen, [("%a", (1, 4)), ("%b", (2,)), ("%c", (7, 8)), ("%b", (3,))])
    assert [c.name for c in found] == [
        "%a left in its dispatch",
        "%b computed separately",
        "%b computed separately (3)",
    ]
    assert set(found[0].edits) == {Edit(FOLD, 7)} and found[0].changed == edits(CUT, (1, 4))
    assert set(found[1].edits) == {*chosen, Edit(CUT, 2)} and found[1].changed == edits(CUT, (2,))


@pytest.mark.parametrize("placed", [(1,), ()])
def test_equal_dispatches_are_changed_alike(placed):
    (one,) = one_by_one(edits(CUT, placed), [("%a", (1, 4))])
    assert set(one.edits) == {*edits(CUT, (1, 4))}
