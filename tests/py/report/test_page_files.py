"""`--report` of compile, check and verify, and `fissile report`: the page is written, and says what the JSON says."""

from __future__ import annotations

import argparse
import copy
import json
import random
from contextlib import suppress

import pytest
from programs import run_program
from report_documents import check_document, compile_document, verify_document

import fissile
from fissile.cli.commands import report
from fissile.errors import UsageError

ADD = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "add.mlir"
    file.write_text(ADD)
    return file


def run(*words, cwd=None) -> tuple[int, str, str]:
    done = run_program(["fissile", *words], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def test_compile_writes_a_page_beside_the_module(tmp_path, source):
    page = tmp_path / "out.html"
    status, _out, err = run("compile", source, "-o", tmp_path / "out.vmfb", *CPU, f"--report={page}")
    assert status == 0, err
    assert page.read_text().startswith("<!DOCTYPE html>") and "no findings" in page.read_text()


def test_check_writes_a_page_with_memory_and_the_same_from_its_json(tmp_path, source):
    page, results, again = tmp_path / "out.html", tmp_path / "out.json", tmp_path / "again.html"
    status, out, err = run(
        "check", source, "--target=llvm-cpu", f"--report={page}", "--format=json", f"--report-file={results}"
    )
    assert status == 0, err
    assert "dispatches on llvm-cpu" in page.read_text()
    assert run("report", results, "-o", again)[0] == 0
    target = json.loads(results.read_text())["facts"]["targets"][0]
    assert run("report", results, "-o", "-", cwd=tmp_path) == (0, again.read_text(), "")
    assert not (tmp_path / "-").exists()
    for text in (page.read_text(), again.read_text()):
        assert target["dispatches"][0]["name"] in text and str(source) in text


def test_verify_writes_a_page(tmp_path, source):
    page = tmp_path / "out.html"
    status, _out, err = run("verify", source, "--on=local-task", f"--report={page}")
    assert status == 0 and "Numerics" in page.read_text(), err


@pytest.mark.parametrize("text", ["", "{}", "[]", "7", '{"findings": [{}]}', "\xff", '{"command": "check"}'])
def test_what_is_no_report_is_refused(tmp_path, text):
    file = tmp_path / "out.json"
    file.write_bytes(text.encode("latin-1"))
    status, _out, err = run("report", file)
    assert status == 2 and "is not a report of this fissile" in err


def _changed(document, seed):
    """``document`` with one value anywhere in it left out, or of another type."""
    draw, value = random.Random(seed), copy.deepcopy(document)
    place = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw.choice(keys)
        if not isinstance(place[key], dict | list) or not place[key] or draw.random() < 0.3:
            break
        place = place[key]
    if draw.random() < 0.4:
        del place[key]
    else:
        place[key] = draw.choice((None, 5, "x", [], {}, [None], -1e308))
    return value


@pytest.mark.parametrize("document", [compile_document(), check_document(2), verify_document()])
def test_a_damaged_report_is_a_page_or_no_report(document, tmp_path):
    for seed in range(60):
        file = tmp_path / "report.json"
        file.write_text(json.dumps(_changed(document, seed)))
        with suppress(UsageError):
            assert report.run(argparse.Namespace(results=str(file), output=None)) == 0


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_compiled(tmp_path, source):
    status, _out, err = run("check", source, "--target=llvm-cpu", f"--report={tmp_path}/none/out.html")
    assert status == 2 and "cannot write --report=" in err


@pytest.mark.parametrize("command", [
    ["check", "add.mlir", "--target=llvm-cpu"], ["compile", "add.mlir", *CPU, "-o", "out"], ["verify", "add.mlir"],
    ["sweep", "add.mlir", "--target=llvm-cpu", "--out=results"],
])  # fmt: skip
def test_a_page_beside_a_report_needs_a_file(command, tmp_path, source):
    status, _out, err = run(*command, "--report=-", cwd=tmp_path)
    assert status == 2 and "--report does not write to standard output" in err
    assert [file.name for file in tmp_path.iterdir()] == [source.name]


def test_a_result_shows_the_page_in_a_notebook():
    result = fissile.check(ADD, "llvm-cpu")
    assert result.html().startswith("<!DOCTYPE html>")
    frame = result._repr_html_()
    assert frame.startswith("<iframe") and "&lt;!DOCTYPE html&gt;" in frame and "<script" not in frame


def test_bytes_over_time_are_printed_only_where_asked_for():
    """The page alone needs them: `--report` prints no more than the command without it."""
    from fissile.cli.commands.check import _without_memory
    from fissile.report import Report

    report = Report("check", facts={"targets": [{"name": "gfx942", "memory": [{"peak": 9}]}], "contract": {}})
    assert _without_memory(report).facts == {"targets": [{"name": "gfx942"}], "contract": {}}
    assert _without_memory(Report("check")).facts == {}


def test_a_report_of_another_schema_is_refused(tmp_path):
    file = tmp_path / "report.json"
    file.write_text(json.dumps({**compile_document(), "schema": 2}))
    with pytest.raises(UsageError, match="is not a report of this fissile"):
        report.run(argparse.Namespace(results=str(file), output=None))
    assert not (tmp_path / "report.html").exists()
