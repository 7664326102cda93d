"""bench.table goes on where it stopped and prints each goal beside its value: without a measurement."""

import json
from collections import Counter
from dataclasses import replace

from bench.table import running
from bench.table.__main__ import markdown
from bench.table.compiling import core_counts
from bench.table.kept import Kept, Row, Unit
from bench.table.paired import Cost, ratio
from fissile.pipelines.tune.timing import Timed


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


def test_what_fails_is_named_and_the_rest_is_measured(tmp_path):
    def fails():
        raise OSError("no space")

    kept = Kept(tmp_path / "kept.jsonl")
    assert list(kept.rows([Unit("a", fails), Unit("b", lambda: [GOOD])])) == [(GOOD, False)]
    assert kept.failed == {"a": "OSError: no space"}
    assert [row for row, was_there in Kept(tmp_path / "kept.jsonl").rows([Unit("a", lambda: [BAD])])] == [BAD]


def test_what_there_is_no_time_for_is_left_for_the_next_run(tmp_path):
    measured = []
    units = [unit("a", measured, GOOD), unit("b", measured, BAD)]
    kept = Kept(tmp_path / "kept.jsonl", seconds=0.0)
    assert (list(kept.rows(units)), kept.left, measured) == ([], ["a", "b"], [])
    assert list(Kept(tmp_path / "kept.jsonl", seconds=3600.0).rows(units[:1])) == [(GOOD, False)]
    again = Kept(tmp_path / "kept.jsonl", seconds=0.0)
    assert (list(again.rows(units)), again.left) == ([(GOOD, True)], ["b"])


def test_goals_are_counted():
    same = Row("running", "stock", "pool", "vulkan", None, None, goal=1.0, note=running.SAME)
    text = markdown([GOOD, BAD, REFUSED, same, replace(same, note=running.WRONG)])
    assert "| check | 1 | 0 | 0 |" in text and "| repair | 0 | 0 | 1 |" in text
    assert "| run time, compared with stock | 1 | 0 | 0 |" in text
    assert "| pool | vulkan | stock | the same module | 1.00 | yes |  |  |" in text
    assert "| pool | vulkan | stock | wrong numbers |  |  |  |  |" in text


ADD = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{ %0 = arith.{op} %a, %a : tensor<4xf32> return %0 : tensor<4xf32> }}"


def test_an_alternative_with_wrong_numbers_has_no_time_and_an_equal_one_is_not_timed(tmp_path, monkeypatch):
    source, other = tmp_path / "add.mlir", tmp_path / "other.mlir"
    source.write_text(ADD.format(op="addf"))
    other.write_text(ADD.format(op="mulf"))
    commands = {
        running.OWN: running.fissile(source, "llvm-cpu", tmp_path / "own.vmfb", "--no-cache"),
        "stock": running.stock(source, "llvm-cpu", tmp_path / "stock.vmfb"),
        "another program": running.stock(other, "llvm-cpu", tmp_path / "other.vmfb"),
        "slower": running.stock(
            source, "llvm-cpu", tmp_path / "slow.vmfb", "--iree-hal-executable-debug-level=3"
        ),
        "no option": running.stock(source, "llvm-cpu", tmp_path / "none.vmfb", "--no-such-option"),
    }
    monkeypatch.setattr(running, "alternatives", lambda *_: commands)
    timed = Counter()

    def in_turns(programs, *_):
        timed.update(name for name, _ in programs)
        return [Timed(name, 2.0 if name == "slower" else 1.0, processor=1.0) for name, _ in programs]

    monkeypatch.setattr(running, "time_in_turns", in_turns)
    found = {row.what: row.note or row.wall for row in running._run(source, "llvm-cpu", tmp_path)}
    assert found["stock"] == running.SAME and found["another program"] == running.WRONG
    assert found["no option"] == "refused" and set(timed) <= {running.OWN, running.ITSELF, "slower"}


def test_cores_go_from_one_to_all(monkeypatch):
    for count, wanted in ((1, [0]), (2, [1, 0]), (6, [1, 2, 4, 0]), (8, [1, 2, 4, 0])):
        monkeypatch.setattr("os.sched_getaffinity", lambda _pid, count=count: set(range(count)))
        assert core_counts() == wanted


def test_a_ratio_is_of_neighbours():
    slow, fast = (
        [Cost(wall, wall, 100, 0, "") for wall in walls] for walls in ((2.0, 20.0, 9.0), (1.0, 10.0, 3.0))
    )
    assert (ratio(slow, fast).wall, ratio(slow, fast).rounds) == (2.0, 3)
