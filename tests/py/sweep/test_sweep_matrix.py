"""What a sweep compiles, keeps and compares, without IREE."""

import json

import pytest

from fissile.errors import ExitCode, UsageError
from fissile.pipelines.process.child import Ended
from fissile.pipelines.report.sweep_report import document_of, page_of, text_of
from fissile.pipelines.sweep.cells import find_models, matrix
from fissile.pipelines.sweep.changes import changes_between, summary_of
from fissile.pipelines.sweep.entry import Sweep
from fissile.pipelines.sweep.environments import Environment
from fissile.pipelines.sweep.outcome import Outcome, Verdict, outcome_of
from fissile.pipelines.sweep.sources import digest_of
from fissile.pipelines.sweep.store import Store

HERE = Environment("/env/bin/python", "0.1.0+abc", "3.13.0")
OTHER = Environment("/other/bin/python", "0.1.0+abc", "3.12.0")


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.mlir").write_text("module {}")
    (folder / "deep" / "b.onnx").write_bytes(b"onnx")
    (folder / "notes.txt").write_text("no model")
    return folder


def finding(code, severity, message="a message"):
    return {"code": code, "severity": severity, "message": message}


def test_models_are_found_by_suffix_and_named_below_their_folder(models):
    assert [model.name for model in find_models([str(models)])] == ["a.mlir", "deep/b.onnx"]
    assert [model.name for model in find_models([str(models / "notes.txt")])] == ["notes.txt"]


def test_what_is_no_model_is_refused(models, tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        find_models([str(tmp_path / "absent")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no model in"):
        find_models([str(tmp_path / "empty")])
    with pytest.raises(UsageError, match="unknown target"):
        matrix(find_models([str(models)]), ["gfx42x"], [HERE], [])


def test_a_cell_is_known_by_its_content_and_not_by_its_place(models, tmp_path):
    cells = matrix(
        find_models([str(models)]), ["llvm-cpu", "ampere", "llvm-cpu"], [HERE, OTHER], [(), ("--tune",)]
    )
    assert len(cells) == len({cell.key for cell in cells}) == 2 * 2 * 2 * 2
    assert cells[0].label == "a.mlir llvm-cpu IREE 3.13.0"
    moved = tmp_path / "moved.mlir"
    moved.write_text("module {}")
    (again,) = matrix(find_models([str(moved)]), ["llvm-cpu"], [Environment("/x", "0.1.0+abc", "3.13.0")], [])
    assert again.key == cells[0].key
    suffixes = [tmp_path / "moved.onnx", tmp_path / "MOVED.MLIR"]  # what reads the bytes, and what does not
    for other in suffixes:
        other.write_text("module {}")
    keys = [matrix(find_models([str(file)]), ["llvm-cpu"], [HERE], [])[0].key for file in suffixes]
    assert (keys[0] == cells[0].key, keys[1] == cells[0].key) == (False, True)
    moved.write_text("module { }")
    assert matrix(find_models([str(moved)]), ["llvm-cpu"], [HERE], [])[0].key != cells[0].key


def test_the_digest_of_the_sources_is_the_same_in_a_checkout_and_installed(tmp_path):
    for file in (
        "checkout/fissile/a.py",
        "checkout/passes/b.py",
        "site/fissile/a.py",
        "site/fissile/passes/b.py",
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(file[-4:])

    def digest(root, passes):
        return digest_of({"fissile": [tmp_path / root], "fissile.passes": [tmp_path / passes]})

    before = digest("checkout/fissile", "checkout/passes")
    assert before == digest("site/fissile", "site/fissile/passes")
    (tmp_path / "site/fissile/passes/b.py").write_text("other")
    assert before != digest("site/fissile", "site/fissile/passes")


@pytest.mark.parametrize(
    ("status", "findings", "verdict"),
    [
        (0, [], Verdict.BUILT),
        (0, [finding("FIS202", "warning")], Verdict.BUILT),
        (0, [finding("FIS101", "repaired")], Verdict.REPAIRED),
        (1, [finding("FIS101", "error")], Verdict.REFUSED),
        (2, [], Verdict.USAGE),
        (3, [], Verdict.INTERNAL),
        (-9, [], Verdict.INTERNAL),
        (None, [], Verdict.ENDLESS),
    ],
)
def test_verdicts(status, findings, verdict):
    outcome = outcome_of(
        Ended(status, "", "fissile: error: why", 5.0), {"findings": findings}, b"", 1.0, "here"
    )
    assert outcome.verdict is verdict
    assert bool(outcome.why) is not verdict.is_well


def test_a_result_is_kept_and_found_and_a_damaged_one_is_not(models, tmp_path):
    store = Store(str(tmp_path / "out"))
    cell = matrix(find_models([str(models)]), ["llvm-cpu"], [HERE], [])[0]
    assert store.find(cell) is None
    outcome = Outcome(
        Verdict.REPAIRED, {"repaired": {"FIS101": 2}}, module="ab", module_bytes=3, report={"findings": []}
    )
    store.keep(cell, outcome, b"abc")
    assert store.find(cell) == outcome
    assert (tmp_path / "out" / "modules" / "ab.vmfb").read_bytes() == b"abc"
    kept = tmp_path / "out" / "cells" / f"{cell.key}.json"
    wrong = [
        {"format": 1, "key": cell.key, "outcome": outcome}
        for outcome in ({}, [], {"verdict": "built", "codes": 5})
    ]
    for damage in ("", "{", "[]", '{"format": 0}', *map(json.dumps, wrong), "[" * 10**5):
        kept.write_text(damage)
        assert store.find(cell) is None, damage


@pytest.mark.parametrize("place", ["cells/{key}.json", "modules/ab.vmfb"])
def test_a_folder_in_place_of_a_result_is_an_error_with_a_way_out(place, models, tmp_path):
    store = Store(str(tmp_path / "out"))
    cell, other = matrix(find_models([str(models)]), ["llvm-cpu"], [HERE], [])
    folder = tmp_path / "out" / place.format(key=cell.key)
    folder.mkdir()
    with pytest.raises(UsageError, match=f"{folder.name} is a folder") as raised:
        store.find(cell)  # before anything is compiled
        store.keep(cell, Outcome(Verdict.BUILT, module="ab"), b"abc")
    assert raised.value.hint == "remove it, or name another folder: --out"
    assert store.find(other) is None and folder.is_dir()


def test_runs_are_numbered_and_the_newest_that_can_be_read_counts(tmp_path):
    store = Store(str(tmp_path))
    assert store.last_run() is None
    for number in range(3):
        store.keep_run({"finished": str(number), "cells": {}})
    assert store.last_run()["finished"] == "2"
    for damage in (
        "",
        '{"format": 1, "cells": []}',
        '{"format": 1, "cells": {"a": {"verdict": 5}}}',
        '{"format": 1, "cells": {"a": 5}}',
    ):
        (tmp_path / "runs" / "000003.json").write_text(damage)
        assert store.last_run()["finished"] == "1"


def test_changes_are_sorted_with_the_worst_first():
    built, repaired = (
        Outcome(Verdict.BUILT, module="m"),
        Outcome(Verdict.REPAIRED, {"repaired": {"FIS101": 1}}),
    )
    refused = Outcome(Verdict.REFUSED, {"error": {"FIS107": 1}}, "FIS107: why")
    before = {"a": built, "b": refused, "c": built, "d": built, "e": repaired}
    now = {"a": refused, "b": repaired, "c": Outcome(Verdict.BUILT, module="n"), "d": built, "f": built}
    now["e"] = Outcome(Verdict.REPAIRED, {"repaired": {"FIS101": 2}})
    del before["e"], now["e"]
    found = changes_between(*({label: summary_of(o) for label, o in run.items()} for run in (before, now)))
    assert [(change.label, change.kind) for change in found] == [
        ("a", "worse"),
        ("b", "better"),
        ("c", "module"),
        ("f", "new"),
    ]
    assert [c.kind for c in changes_between({"x": summary_of(built)}, {})] == ["gone"]


@pytest.fixture
def sweep(models):
    cells = matrix(find_models([str(models)]), ["llvm-cpu", "gfx942"], [HERE], [])
    refused = Outcome(Verdict.REFUSED, {"error": {"FIS107": 1}}, "FIS107: <script>\x1b[31m")
    outcomes = [
        Outcome(Verdict.BUILT),
        Outcome(Verdict.REPAIRED, {"repaired": {"FIS101": 1}}),
        refused,
        refused,
    ]
    summaries = {"a.mlir llvm-cpu IREE 3.13.0": summary_of(refused)}
    now = {cell.label: summary_of(outcome) for cell, outcome in zip(cells, outcomes, strict=True)}
    changes = tuple(changes_between(summaries, now))
    return Sweep(dict(zip(cells, outcomes, strict=True)), changes, "yesterday", 1, 2.5, "out")


def test_the_three_reports_hold_the_same(sweep):
    text, page, document = text_of(sweep), page_of(sweep), document_of(sweep, 1)
    assert "deep/b.onnx (llvm-cpu, gfx942): refused: FIS107: <script>" in text and "\x1b" not in text
    assert "a.mlir       built     repaired" in text
    assert "better    a.mlir llvm-cpu IREE 3.13.0: refused -> built" in text
    assert "<script>" not in page and "\x1b" not in page and "http" not in page
    assert document["counts"] == {"built": 1, "refused": 2, "repaired": 1} and len(document["cells"]) == 4
    for sentence in ("1 of them from earlier runs", "1 built, 1 repaired, 2 refused"):
        assert sentence in text and sentence in page


def test_exit_status(sweep):
    assert sweep.exit_code() is ExitCode.FINDINGS
    assert sweep.exit_code("worse") is ExitCode.CLEAN
    key = next(iter(sweep.outcomes))
    sweep.outcomes[key] = Outcome(Verdict.INTERNAL)
    assert sweep.exit_code("worse") is ExitCode.INTERNAL
