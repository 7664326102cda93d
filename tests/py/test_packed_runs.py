"""bench.packed_runs without a device: packed for llvm-cpu, run where no compiler is, and what it reports of a wrong module."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_programs import ADD

from bench.packed_runs import MANIFEST, Outcome, pack, run_packed, show
from fissile.errors import UsageError
from fissile.pipelines.tune.timing import Timed

ROOT = Path(__file__).resolve().parents[2]
RUN_WITHOUT_COMPILER = """
import runpy, sys
sys.modules["iree.compiler"] = None  # an import of it fails
runpy.run_module("bench.packed_runs", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    (folder / "add.mlir").write_text(ADD)
    (folder / "broken.mlir").write_text("func.func @f( {")
    assert pack(folder / "pack", [folder / "add.mlir", folder / "broken.mlir"], "llvm-cpu") == 0
    return folder / "pack"


def test_a_pack_holds_modules_and_expected_results(packed):
    (entry,) = json.loads((packed / MANIFEST).read_text())  # what is no program is left out by name
    assert entry["program"] == "add" and entry["identical"] and not entry["stock"]["error"]
    assert sorted(path.name for path in (packed / "add").iterdir()) == ["0.0.expected", "stock.vmfb"]


def test_the_machine_with_the_device_needs_no_compiler(packed, tmp_path):
    words = ["run", packed, "--on", "local-task", "--json", tmp_path / "runs.json"]
    done = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT_COMPILER, *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (row,) = json.loads((tmp_path / "runs.json").read_text())
    assert Outcome(**row).stock == Outcome(**row).fissile == "right"
    assert "stock    1 right, 0 wrong" in done.stdout and "worse than stock: 0" in done.stdout


def test_a_module_that_computes_something_else_is_wrong_and_worse_than_stock(packed, tmp_path, capsys):
    folder = shutil.copytree(packed, tmp_path / "pack")
    (entry,) = json.loads((folder / MANIFEST).read_text())
    entry["identical"] = False
    (folder / MANIFEST).write_text(json.dumps([entry]))
    (folder / "add" / "fissile.vmfb").write_bytes(b"no module")
    (outcome,) = run_packed(folder, "local-task", False)
    assert outcome.stock == "right" and outcome.fissile.startswith("not run") and show([outcome]) == 1
    (folder / "add" / "0.0.expected").write_bytes(b"\x7f" * (folder / "add" / "0.0.expected").stat().st_size)
    (outcome,) = run_packed(folder, "local-task", False)
    assert outcome.stock.startswith("wrong: result 0") and not outcome.is_worse
    assert "worse than stock: 1" in capsys.readouterr().out


def test_both_modules_are_timed_where_they_differ(packed, tmp_path, monkeypatch):
    seconds = {"stock": 0.004, "fissile": 0.002}
    monkeypatch.setattr(
        "fissile.pipelines.tune.timing.time_in_turns",
        lambda programs, *_: [Timed(name, seconds[name]) for name, _ in programs],
    )
    folder = shutil.copytree(packed, tmp_path / "pack")
    (entry,) = json.loads((folder / MANIFEST).read_text())
    entry["identical"] = False
    (folder / MANIFEST).write_text(json.dumps([entry]))
    shutil.copyfile(folder / "add" / "stock.vmfb", folder / "add" / "fissile.vmfb")
    (outcome,) = run_packed(folder, "local-task", True)
    assert (outcome.ratio, outcome.stock_ms, outcome.fissile_ms) == (0.5, 4.0, 2.0)


def test_modules_are_packed_for_any_target_that_fissile_names(tmp_path):
    (tmp_path / "add.mlir").write_text(ADD)
    assert pack(tmp_path / "pack", [tmp_path / "add.mlir"], "sm_80") == 0
    (entry,) = json.loads((tmp_path / "pack" / MANIFEST).read_text())
    assert not entry["stock"]["error"] and b"cuda" in (tmp_path / "pack" / "add" / "stock.vmfb").read_bytes()
    with pytest.raises(UsageError, match="sm_42"):
        pack(tmp_path / "none", [tmp_path / "add.mlir"], "sm_42")
    assert not (tmp_path / "none").exists()
    with pytest.raises(UsageError, match="--jobs"):
        run_packed(tmp_path / "pack", "local-task", False, 0)
