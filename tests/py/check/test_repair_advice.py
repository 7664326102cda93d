"""What `fissile check` says that `fissile compile` would do: the repair itself where it is cheap to find, else what is tried first."""

from __future__ import annotations

import pytest
from tiled_programs import conv

import fissile
from fissile.finding import Severity
from fissile.pipelines.check import repair_advice
from fissile.pipelines.check.entry import check
from fissile.pipelines.report.footprint_text import render_check
from fissile.rules import RULES

OVER = conv(channels=64, filters=64, size=56, consumer="i8")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    written = tmp_path_factory.mktemp("advice") / "p.mlir"
    written.write_text(OVER)
    return str(written)


@pytest.fixture(scope="module")
def checked(path):
    return {mode: check(path, ["gfx942"], probe=mode) for mode in ("auto", "never")}


def the_help(report):
    (error,) = report.errors
    (help_,) = error.helps
    return help_


def test_check_prints_the_repair_that_compile_makes(path, checked):
    built = fissile.compile(path, target="gfx942", repair="suggest", check=False)
    (wanted,) = (f for f in built.report.findings if f.code == "FIS101")
    (made,) = wanted.helps
    for report in checked.values():
        help_ = the_help(report)
        assert help_.title == made.title == "compute %xd in a separate dispatch, read it back by tile"
        assert not help_.applied and dict(help_.facts)["costs"] == dict(made.facts)["costs"]
        assert dict(help_.facts)["pass"] == dict(made.facts)["pass"]
        assert report.errors[0].severity is Severity.ERROR and report.exit_code == 1


def test_the_bytes_after_it_say_how_they_are_known(checked):
    after = {mode: dict(the_help(report).facts)["after"] for mode, report in checked.items()}
    assert after["never"].startswith("50688 bytes (predicted")
    assert after["auto"].startswith("50688 bytes (exact")


def test_what_does_not_end_is_not_tried_and_the_table_names_what_is_tried_first(path, monkeypatch):
    monkeypatch.setattr(repair_advice, "ENDLESS", ("FIS101",))
    monkeypatch.setattr(repair_advice, "RepairLoop", None)  # nothing is tried
    help_ = the_help(check(path, ["gfx942"], probe="never"))
    assert help_.title == repair_advice.TRIES_THEM
    first = dict(help_.facts)["1."]
    assert first.startswith(
        "compute %xd in a separate dispatch, read it back by tile; 861184 bytes written once"
    )
    assert first.endswith("numbers: the same terms; sums may be added up in another order")


def test_a_repair_that_is_not_found_in_a_few_rounds_is_not_denied(path, monkeypatch):
    monkeypatch.setattr(repair_advice, "MOST_ROUNDS", 1)
    assert the_help(check(path, ["gfx942"], probe="never")).title == repair_advice.TRIES_THEM


def test_a_failure_of_the_advice_leaves_the_findings(path, monkeypatch):
    monkeypatch.setattr(repair_advice, "RepairLoop", None)  # calling it throws
    report = check(path, ["gfx942"], probe="never")
    assert [f.code for f in report.errors] == ["FIS101"] and not report.errors[0].helps
    assert any(f.code == "FIS902" for f in report.findings)


def test_narrow_storage_names_packing(tmp_path):
    bytes_ = tmp_path / "narrow.mlir"
    bytes_.write_text(RULES["FIS110"].example.removeprefix("// vulkan\n"))
    report = check(str(bytes_), ["vulkan"])
    found = [f for f in report.findings if f.code == "FIS110"]
    assert found and all(f.helps and "32-bit words" in f.helps[0].title for f in found)


def test_the_target_is_named_where_the_headline_does_not(checked):
    (error,) = checked["never"].errors
    report = checked["never"]
    assert "= target" not in render_check(report)
    unnamed = error.with_(message="a headline without it")
    assert "     = target   gfx942\n" in render_check(
        fissile.Report("check", (unnamed,), facts={"targets": [{**report.facts["targets"][0]}] * 2})
    )
