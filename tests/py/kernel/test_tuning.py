"""Producers computed again for every use: reported always, cut off with --tune, and measured where a runtime is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from programs import run_program
from small_programs import ADD, TARGETS, quantised_conv

from bench.speed import transposed_forms

BIN = Path(sys.executable).parent


def compiled(source, *words):
    done = run_program(
        [BIN / "fissile", "compile", *TARGETS["llvm-cpu"], "--format=json", *map(str, words), source],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def conv(tmp_path):
    (tmp_path / "conv.mlir").write_text(quantised_conv(channels=8, filters=8))
    return tmp_path / "conv.mlir"


def test_a_slow_program_is_told_and_left_as_it_is(conv, tmp_path):
    status, report = compiled(conv, "-o", tmp_path / "a.vmfb")
    run_program([BIN / "iree-compile", *TARGETS["llvm-cpu"], conv, "-o", tmp_path / "stock.vmfb"], check=True)
    assert status == 0 and [(f["code"], f["severity"]) for f in report["findings"]] == [("FIS140", "note")]
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


def test_tuned_it_computes_each_producer_once_and_the_same_numbers(conv, tmp_path):
    status, report = compiled(conv, "--fusion=tune", "--verify", "-o", tmp_path / "a.vmfb")
    (finding,) = report["findings"]
    assert status == 0 and (finding["code"], finding["severity"]) == ("FIS140", "repaired")
    assert report["facts"]["certificate"]["agrees"]
    assert report["facts"]["edits"] == ["fissile-place-boundaries 0", "fissile-place-boundaries 1"]


@pytest.mark.parametrize("name", ["oihw_3_b1_28", "ohwi_3_b1_28", "gradient_14"])
def test_a_transposition_that_ends_a_convolutions_vectorisation_is_reported_and_kept_apart(tmp_path, name):
    source = tmp_path / "conv.mlir"
    source.write_text(transposed_forms.programs()[name])
    status, report = compiled(source, "-o", tmp_path / "a.vmfb")
    assert status == 0 and [(f["code"], f["severity"]) for f in report["findings"]] == [("FIS140", "note")]
    status, report = compiled(source, "--fusion=tune", "--verify", "-o", tmp_path / "b.vmfb")
    (finding,) = report["findings"]
    assert status == 0 and (finding["code"], finding["severity"]) == ("FIS140", "repaired")
    assert report["facts"]["certificate"]["agrees"]


@pytest.mark.parametrize("name", ["hwio_3_b1_28", "oihw_1_b1_28"])
def test_a_convolution_that_is_vectorised_is_left_as_it_is(tmp_path, name):
    source = tmp_path / "conv.mlir"
    source.write_text(transposed_forms.programs()[name])
    status, report = compiled(source, "--fusion=tune", "-o", tmp_path / "a.vmfb")
    assert status == 0 and report["findings"] == [] and "edits" not in report["facts"]


def test_nothing_to_tune_is_stock(tmp_path):
    (tmp_path / "add.mlir").write_text(ADD)
    status, report = compiled(tmp_path / "add.mlir", "--fusion=tune", "-o", tmp_path / "a.vmfb")
    run_program(
        [BIN / "iree-compile", *TARGETS["llvm-cpu"], tmp_path / "add.mlir", "-o", tmp_path / "s.vmfb"],
        check=True,
    )
    assert status == 0 and report["findings"] == []
    assert (tmp_path / "a.vmfb").read_bytes() == (tmp_path / "s.vmfb").read_bytes()


@pytest.mark.slow  # two functions, one with nothing to draw, are timed below
def test_every_function_is_timed_and_verified(conv, tmp_path):
    text = conv.read_text()
    conv.write_text(text + text.replace("@main", "@second"))
    status, report = compiled(conv, "--fusion=tune", "--tune", "--verify", "-o", tmp_path / "a.vmfb")
    assert status == 0 and len(report["facts"]["tuned"]) >= 2, report
    assert report["facts"]["artifact"]["agrees"] and len(report["facts"]["artifact"]["checks"]) == 2


def test_what_no_data_can_be_made_for_is_not_timed_and_compiled(conv, tmp_path):
    conv.write_text(
        conv.read_text() + "func.func @opaque(%x: !hal.buffer_view) -> !hal.buffer_view {\n"
        "  return %x : !hal.buffer_view\n}\n"
    )
    status, report = compiled(conv, "--fusion=tune", "--tune", "--verify", "-o", tmp_path / "a.vmfb")
    assert status == 0 and "!hal.buffer_view" in report["facts"]["tuned"]
    assert report["facts"]["artifact"]["agrees"] and "@opaque" in " ".join(
        report["facts"]["artifact"]["skipped"]
    )


def test_candidates_are_timed_and_the_fastest_is_taken(conv, tmp_path):
    status, report = compiled(conv, "--tune", "-o", tmp_path / "a.vmfb")
    timed = report["facts"]["tuned"]
    assert status == 0 and len(timed) >= 2 and all(isinstance(seconds, float) for seconds in timed.values())
    assert f"took {min(timed, key=timed.get)}" in " ".join(report["findings"][0]["notes"])
