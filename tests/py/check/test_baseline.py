"""Baselines: what grew, what is new, what belongs to another model."""

from __future__ import annotations

import json

import pytest

from fissile.errors import UsageError
from fissile.pipelines.check.baseline import collect, compare, key_of, read, write

MAIN = ["main: (tensor<4xf32>) -> tensor<4xf32>"]


def facts(*dispatches: tuple[str, int | None], target: str = "gfx942") -> list[dict]:
    return [{"name": target, "dispatches": [{"name": name, "bytes": count} for name, count in dispatches]}]


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "bytes.json"
    write(
        path,
        MAIN,
        facts(("main_dispatch_0_conv", 100), ("main_dispatch_1_conv", 50), ("main_dispatch_2_sum", 0)),
    )
    return path


def codes(path, reported) -> list[str]:
    return [finding.code for finding in compare(read(path, MAIN), reported, path)]


def test_the_same_bytes_are_silent_whatever_the_numbers_of_the_dispatches(recorded):
    moved = facts(("main_dispatch_5_conv", 50), ("main_dispatch_7_sum", 0), ("main_dispatch_9_conv", 100))
    assert codes(recorded, moved) == []


def test_fewer_bytes_are_silent(recorded):
    assert codes(recorded, facts(("main_dispatch_0_conv", 10), ("main_dispatch_2_sum", 0))) == []


@pytest.mark.parametrize("counts", [(101, 50), (100, 51)])
def test_growth_is_an_error_that_says_both(recorded, counts):
    reported = facts(
        ("main_dispatch_0_conv", counts[0]), ("main_dispatch_1_conv", counts[1]), ("main_dispatch_2_sum", 0)
    )
    (finding,) = compare(read(recorded, MAIN), reported, recorded)
    assert finding.code == "FIS150" and finding.severity.value == "error"
    assert str(max(counts[0] - 100, counts[1] - 50) + (100 if counts[0] > 100 else 50)) in finding.message


def test_one_more_of_a_kind_grew_from_nothing(recorded):
    reported = facts(*((f"main_dispatch_{k}_conv", 10) for k in range(3)), ("main_dispatch_9_sum", 0))
    (finding,) = compare(read(recorded, MAIN), reported, recorded)
    assert "from 0 to 10" in finding.message


def test_a_new_dispatch_and_a_new_target_are_notes(recorded):
    assert codes(recorded, facts(("main_dispatch_0_softmax", 9))) == ["FIS151"]
    assert codes(recorded, facts(("main_dispatch_0_conv", 900), target="sm_86")) == ["FIS151"]


def test_unknown_sizes_are_not_recorded():
    assert collect(facts(("main_dispatch_0_conv", None))) == {"gfx942": {}}


def test_writing_again_keeps_other_targets(recorded):
    write(recorded, MAIN, facts(("main_dispatch_0_conv", 7), target="vulkan"))
    assert sorted(read(recorded, MAIN)) == ["gfx942", "vulkan"]
    assert not list(recorded.parent.glob("*.partial"))


def test_another_models_baseline_is_refused_for_reading_and_writing(recorded):
    other = ["main: (tensor<8xf32>) -> tensor<8xf32>"]
    for act in (lambda: read(recorded, other), lambda: write(recorded, other, facts())):
        with pytest.raises(UsageError, match="another model"):
            act()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"fissile_baseline": 99}',
        json.dumps({"fissile_baseline": 1, "model": "x", "bytes": {"gfx942": [1]}}),
        json.dumps({"fissile_baseline": 1, "model": "x", "bytes": {"gfx942": {"a": ["many"]}}}),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path, text):
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(UsageError):
        read(path, MAIN)


def test_a_baseline_that_is_not_there_and_one_that_cannot_be_written(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        read(tmp_path / "none.json", MAIN)
    with pytest.raises(UsageError, match="cannot write"):
        write(tmp_path / "no" / "where.json", MAIN, facts())


def test_keys_keep_what_a_dispatch_is():
    assert key_of("main$async_dispatch_12_conv_64x3_f32") == "main$async_dispatch_conv_64x3_f32"
    assert key_of("main_dispatch_1_conv") != key_of("main_dispatch_1_matmul")
