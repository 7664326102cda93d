"""What a program costs that stock IREE compiles as it is: what is loaded for it, and which phases IREE runs. Counted, not timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fissile.passes.iree.late_imports import DIALECTS

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "bench/front_ends/tosa_conv_rescale.mlir"
"""Its convolution subtracts a zero point from each element, as one would that a producer was folded into. Its weights are an argument: a note."""
COMPILE = """
import json, sys
from fissile.start.late_modules import begin_lightly, is_late
begin_lightly()
from fissile.start.quick_dataclasses import make_dataclasses_quickly
make_dataclasses_quickly()
from pathlib import Path
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.process import worker
from fissile.pipelines.process.job import CompileJob

worker.load_late()
source, folder = sys.argv[1:]
request = parse_command_line([source, "--target=llvm-cpu", "--no-cache", "-o", f"{folder}/out.vmfb"])
from fissile.pipelines.session import Session
phases, run = [], Session.run
Session.run = lambda self, module, to: (phases.append(to), run(self, module, to))[1]
answered = worker.answer(CompileJob(folder, request, f"{folder}/out.vmfb"))
Path(folder, "seen.json").write_text(json.dumps({
    "error": answered.error and answered.error.message,
    "findings": [f.code for f in answered.report.findings] if answered.report else [],
    "phases": phases,
    "loaded": [name for name in sys.modules if not is_late(name) and (name.startswith(("fissile.", "iree.")) or "." not in name)],
}))
sys.stdout.flush()
import os
os._exit(0)
"""
NEVER_LOADED = (
    "fissile.pipelines.repair.after_failure",
    "fissile.pipelines.repair.loop",
    "fissile.pipelines.repair.trials",
    "fissile.pipelines.probe.probe_pool",
    "fissile.pipelines.pass_runner",
    "fissile.pipelines.contracts",
    "fissile.passes.remedies.decompose",
    "fissile.passes.remedies.fusion",
    "fissile.passes.remedies.narrow",
    "fissile.passes.remedies.host",
    "fissile.passes.remedies.entry",
    "fissile.passes.remedies.storage.element_status",
    "fissile.passes.remedies.storage.term_ops",
    "fissile.passes.analysis.memory.predict_spirv",
    "fissile.passes.analysis.memory.predict_llvmgpu",
    "fissile.cli",
    "rich",
    "sqlite3",
    "z3",
    "email",
    # Python's own, and what IREE's package has beside its bindings.
    "inspect",
    "tokenize",
    "typing_extensions",
    "difflib",
    "zipfile",
    "numpy",
    "iree.compiler.tools",
    *DIALECTS,
)
"""Packages and modules that only a failure, another target or a person who waits needs."""


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("healthy")
    subprocess.run([sys.executable, "-c", COMPILE, PROGRAM, folder], check=True, capture_output=True)
    return json.loads((folder / "seen.json").read_text())


def test_nothing_is_loaded_that_only_a_failure_needs(seen):
    assert seen["error"] is None and seen["findings"] == ["FIS140"]
    loaded = [name for name in seen["loaded"] for never in NEVER_LOADED if f"{name}.".startswith(f"{never}.")]
    assert not loaded


def test_iree_runs_each_phase_once(seen):
    assert seen["phases"] == ["input", "global-optimization", "executable-configurations", "end"]
