"""The examples for CI do what they say: their own lines are run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from programs import run_program
from small_programs import ADD

CI = Path(__file__).parents[3] / "examples" / "ci"
BAD = "func.func @main() { %x = not.an_op }"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "check_models.sh").symlink_to(CI / "check_models.sh")
    (tmp_path / "good.mlir").write_text(ADD)
    (tmp_path / "bad.mlir").write_text(BAD)
    return tmp_path


def bash(command: str, folder: Path):
    return run_program(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_hook_refuses_a_commit_with_a_model_that_fails(folder):
    entry = re.search(r"entry: (.*)", (CI / "pre-commit-config.yaml").read_text())[1]
    assert bash(f"{entry} good.mlir", folder).returncode == 0
    done = bash(f"{entry} bad.mlir good.mlir", folder)
    assert done.returncode == 1 and "error[FIS406]" in done.stdout, "a good model after it hides nothing"


def test_the_workflow_annotates_and_writes_sarif_of_a_model_that_fails(folder):
    workflow = (CI / "github-workflow.yml").read_text()
    steps = re.findall(r"run: (fissile .*)", workflow)
    assert len(steps) == 2 and all(shlex.split(step)[1] == "check" for step in steps)
    done = [bash(f"MODEL=bad.mlir; {step}", folder) for step in steps]
    assert [one.returncode for one in done] == [1, 1]
    (log,) = [folder / name for name in re.findall(r"sarif_file: (.*)", workflow)]
    (result,) = json.loads(log.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "FIS406"
    assert (
        done[1].stdout.startswith("::error file=bad.mlir,line=1,") and len(done[1].stdout.splitlines()) == 1
    )


def test_the_pytorch_job_runs_targets_that_the_makefile_has():
    root = CI.parents[1]
    commands = re.findall(r"run: (make .*)", (CI / "pytorch-workflow.yml").read_text())
    assert [shlex.split(command)[1] for command in commands] == ["walk-torch", "test-torch"]
    wanted = ["examples/walk_torch.py", "tests/py/importers/test_exported_programs.py"]
    for command, file in zip(commands, wanted, strict=True):
        planned = bash(f"{command} --dry-run", root)
        assert planned.returncode == 0 and file in planned.stdout, planned.stderr
        assert (root / file).exists()
