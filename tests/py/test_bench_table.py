"""bench.table goes on where it stopped and prints each goal beside its value: without a measurement."""

import json
from dataclasses import replace

from bench.table.__main__ import markdown
from bench.table.compiling import core_counts
from bench.table.kept import Kept, Row, Unit
from bench.table.paired import Cost, ratio


def unit(name, measured, *rows):
    def measure():
        measured.append(name)
        return rows

    return Unit(name, measure)


GOOD = Row("compiling", "check", "conv", "gfx942", 0.25, 0.4, 0.9, 5, 0.25)
BAD = Row("compiling", "repair", "conv", "gfx942", 1.61, 1.7, 1.2, 5, 1.5)
REFUSED = Row("running", "stock", "conv", "vulkan", None, None, note="refused")


def test_what_is_measured_is_kept_for_these_sources(tmp_path):
    place, measured = tmp_path / "deep" / "kept.jsonl", []
    units = [unit("a", measured, GOOD, BAD), unit("b", measured)]
    assert list(Kept(place).rows(units)) == [(GOOD, False), (BAD, False)]
    again = [*units, unit("c", measured, REFUSED)]
    assert list(Kept(place).rows(again, measures=False)) == [(GOOD, True), (BAD, True)]
    assert list(Kept(place).rows(again)) == [(GOOD, True), (BAD, True), (REFUSED, False)]
    assert measured == ["a", "b", "c"]

    line = json.loads(place.read_text().splitlines()[0])
    place.write_text(json.dumps(line | {"version": "of other sources"}) + "\n")
    assert list(Kept(place).rows(units[:1])) == [(GOOD, False), (BAD, False)]


def test_a_goal_stands_beside_its_value():
    text = markdown([GOOD, BAD, REFUSED])
    assert "| check | conv | gfx942 | 0.25 | 0.25 | yes | 0.40 | 0.90 | 5 |" in text
    assert "| repair | conv | gfx942 | 1.61 | 1.50 | no | 1.70 | 1.20 | 5 |" in text
    assert "| conv | vulkan | stock | refused |  |  |  |  |" in text


def test_what_only_noise_puts_above_its_goal_is_met():
    row = Row("running", "every op its own dispatch", "conv", "llvm-cpu", 1.03, 1.1, goal=1.0, noise=1.05)
    assert "| 1.03 | 1.00 | within noise | 1.10 | 1.05 |" in markdown([row])
    assert "| 1.03 | 1.00 | no | 1.10 | 1.01 |" in markdown([replace(row, noise=1.01)])


def test_cores_go_from_one_to_all(monkeypatch):
    for count, wanted in ((1, [0]), (2, [1, 0]), (6, [1, 2, 4, 0]), (8, [1, 2, 4, 0])):
        monkeypatch.setattr("os.sched_getaffinity", lambda _pid, count=count: set(range(count)))
        assert core_counts() == wanted


def test_a_ratio_is_of_neighbours():
    slow, fast = (
        [Cost(wall, wall, 100, 0, "") for wall in walls] for walls in ((2.0, 20.0, 9.0), (1.0, 10.0, 3.0))
    )
    assert (ratio(slow, fast).wall, ratio(slow, fast).rounds) == (2.0, 3)
