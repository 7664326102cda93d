"""mypy finds no error in the package, of which no module is excused."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
sys.path.insert(0, str(ROOT / "tools"))
import types_check  # noqa: E402


def test_the_types_fit():
    done = types_check.check()
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_is_excused():
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    assert not [name for override in overrides for name in override["module"] if name.startswith("fissile")]


USERS = """\
from typing import Any

import numpy as np
import fissile


def build(model: str) -> "np.ndarray[Any, Any]":
    try:
        built: fissile.Result = fissile.compile(model, target="gfx942", guard="check")
    except fissile.errors.UsageError as wrong:
        raise SystemExit(f"{wrong}: {wrong.hint}") from wrong
    except fissile.CompileError as refused:
        report: fissile.Report = refused.report
        raise SystemExit(str(report.errors)) from refused
    findings: tuple[fissile.Finding, ...] = built.findings
    targets: list[str | fissile.Target] = ["gfx942", "vulkan"]
    assert fissile.check(model, targets, budget="64K").ok, findings
    x = np.ones(4, np.float32)
    same = fissile.verify(built, inputs=[x], expected=[x + x], on="local-task", tolerance=1e-6, seeds=range(3))
    assert same.agrees and same.sentence
    built.save("model.vmfb")
    return np.asarray(built.run(np.zeros(4), function="main"))
"""
PUBLIC = ("__init__.py", "errors.py", "target.py", "api")


def test_the_public_face_and_a_users_script_pass_strict_mypy(tmp_path):
    types_check.lay_out(tmp_path)
    script = tmp_path / "users.py"
    script.write_text(USERS)
    done = types_check.strictly(tmp_path, [script, *(tmp_path / "fissile" / name for name in PUBLIC)])
    assert done.returncode == 0, done.stdout + done.stderr
    # The types are real ones: a wrong use is an error.
    script.write_text(USERS.replace('guard="check"', "guard=3").replace("refused.report", "refused.repor"))
    wrong = types_check.strictly(tmp_path, [script]).stdout
    assert 'incompatible type "int"; expected "str"' in wrong and 'has no attribute "repor"' in wrong
