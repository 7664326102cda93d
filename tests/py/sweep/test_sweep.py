"""`fissile sweep` end to end: on this machine, resumed, and on a cluster that loses a worker."""

import json
import os
import sys
from pathlib import Path

import pytest
from local_cluster import cluster_of_processes

from fissile.cli.main import main
from fissile.passes.iree.version import installed
from fissile.pipelines.sweep.attempt import Limits
from fissile.pipelines.sweep.entry import SweepRequest, run_sweep
from fissile.pipelines.sweep.outcome import Verdict
from fissile.pipelines.sweep.store import Store

ADD = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{ %0 = arith.addf %a, %a : tensor<{n}xf32> return %0 : tensor<4xf32> }}"


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "add.mlir").write_text(ADD.format(n=4))
    (folder / "same.mlir").write_text(ADD.format(n=4))
    (folder / "typo.mlir").write_text(ADD.format(n=5))
    return folder


def document(capsys, models, out, *words):
    status = main(
        ["sweep", str(models), "--target", "llvm-cpu", "--out", str(out), "--format", "json", *words]
    )
    captured = capsys.readouterr()
    return status, json.loads(captured.out), captured.err


def test_sweep_keeps_results_goes_on_and_compares(models, tmp_path, capsys):
    out, page = tmp_path / "out", tmp_path / "sweep.html"
    status, first, _ = document(capsys, models, out, "--keep-modules", "--html", str(page))
    verdicts = {cell["model"]: cell["verdict"] for cell in first["cells"]}
    assert status == 1 and verdicts == {"add.mlir": "built", "same.mlir": "built", "typo.mlir": "refused"}
    assert "typo.mlir" in page.read_text(encoding="utf-8")
    assert len(list((out / "cells").iterdir())) == 2  # two models with the same bytes are one compile
    (module,) = (out / "modules").iterdir()
    assert module.stem == first["cells"][0]["module"]

    (models / "typo.mlir").write_text(ADD.format(n=4) + "\n")
    (models / "same.mlir").unlink()
    status, second, progress = document(capsys, models, out)
    assert status == 0 and second["reused"] == 1 and "1 already done" in progress
    kinds = {change["cell"].split()[0]: change["kind"] for change in second["changes"]}
    assert kinds == {"typo.mlir": "better", "same.mlir": "gone"}


def test_a_compile_without_end_and_one_without_memory_take_only_themselves_down(models, tmp_path):
    def swept(out, **limits):
        request = SweepRequest(
            (str(models / "add.mlir"),), ("llvm-cpu",), str(tmp_path / out), limits=Limits(**limits)
        )
        (outcome,) = run_sweep(request).outcomes.values()
        return outcome

    assert swept("endless", seconds=0.01).verdict is Verdict.ENDLESS
    starved = swept("starved", memory="1M")
    assert not starved.verdict.is_well and starved.why


def test_another_version_of_iree_is_a_column_of_its_own(models, tmp_path, capsys):
    made = sorted(Path(__file__).resolve().parents[3].glob(".venv-iree-*/bin/python"))
    others = [python for python in made if not python.parts[-3].endswith(installed())]
    if not others:
        pytest.skip("no second environment: FISSILE_IREE=3.12.0 tools/setup.sh makes one")
    for name in ("same.mlir", "typo.mlir"):
        (models / name).unlink()
    words = ["--python", sys.executable, "--python", os.path.relpath(others[0])]
    status, found, _ = document(capsys, models, tmp_path / "out", *words)
    versions = [cell["iree"] for cell in found["cells"]]
    assert status == 0 and len({*versions}) == 2 and others[0].parts[-3].endswith(versions[1])
    assert found["cells"][0]["key"] != found["cells"][1]["key"]


def test_wrong_words_are_usage_errors(models, tmp_path, capsys):
    words = ["sweep", str(models), "--target", "llvm-cpu", "--out", str(tmp_path / "out")]
    for more in (
        ["--options", "'"],
        ["--jobs", "0"],
        ["--python", str(tmp_path / "none")],
        ["--target", "nothing"],
    ):
        assert main([*words, *more]) == 2, more
        assert "error:" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main([*words[:-1], str(tmp_path / "file")]) == 2
    assert main([*words, "--scheduler", "tcp://127.0.0.1:1"]) == 2
    assert "no Dask scheduler" in capsys.readouterr().err


def test_a_link_to_no_file_is_reported(models, tmp_path, capsys):
    (models / "gone.mlir").symlink_to(tmp_path / "nowhere")
    (models / "gone.txt").symlink_to(tmp_path / "nowhere")
    (models / "typo.mlir").unlink()
    status, swept, printed = document(capsys, models, tmp_path / "out")
    assert status == 0 and [cell["model"] for cell in swept["cells"]] == ["add.mlir", "same.mlir"]
    assert f"skipped {models / 'gone.mlir'}: it is a link to a file that does not exist" in printed
    assert "gone.txt" not in printed


def test_a_cluster_that_loses_a_worker_loses_no_result(tmp_path):
    models = tmp_path / "tiny"
    models.mkdir()
    for name in ("one", "two"):
        (models / f"{name}.mlir").write_text(f"func.func @{name}() {{ return }}")
    (models / "refused.mlir").write_text("func.func @three() -> i32 { return }")
    alone = run_sweep(SweepRequest((str(models),), ("llvm-cpu",), str(tmp_path / "alone")))
    assert {outcome.verdict for outcome in alone.outcomes.values()} == {Verdict.BUILT, Verdict.REFUSED}
    killed, seen = [], []
    with cluster_of_processes() as (address, workers):

        def kill_a_worker(cell, _outcome, _done, _total):
            seen.append(cell.label)
            if not killed:
                killed.append(workers[0].pid)
                workers[0].kill()

        request = SweepRequest(
            (str(models),), ("llvm-cpu",), str(tmp_path / "out"), scheduler=address, keep_modules=True
        )
        there = run_sweep(request, kill_a_worker)
    assert killed and sorted(seen) == sorted(cell.label for cell in alone.outcomes)
    as_compared = [
        {c.label: (o.verdict, o.codes, o.module) for c, o in s.outcomes.items()} for s in (alone, there)
    ]
    assert as_compared[0] == as_compared[1]
    assert all(Store(request.out).find(cell) for cell in there.outcomes)
