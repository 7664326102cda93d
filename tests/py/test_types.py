"""mypy finds no error in the modules that are not excused in pyproject.toml."""

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


def test_most_modules_are_checked_and_those_excused_exist():
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    excused = {name for override in overrides for name in override["module"]}
    folders = ("fissile", "dialect", "passes", "pipelines")
    files = [file.relative_to(ROOT) for folder in folders for file in (ROOT / folder).rglob("*.py")]
    modules = {
        ".".join(("fissile", *file.with_suffix("").parts)).replace("fissile.fissile", "fissile")
        for file in files
    }
    modules = {name.removesuffix(".__init__") for name in modules}
    assert excused <= modules, f"gone, take them off the list: {sorted(excused - modules)}"
    assert len(excused) < len(modules) / 2
