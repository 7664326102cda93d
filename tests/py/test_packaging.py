"""The wheel holds what the sources hold, and works without them."""

from __future__ import annotations

import ast
import configparser
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "fissile": "fissile",
    "dialect": "fissile/dialect",
    "passes": "fissile/passes",
    "pipelines": "fissile/pipelines",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """A wheel built from a copy of the sources: what an earlier build left beside them must not get in."""
    sources = tmp_path_factory.mktemp("sources")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():  # a missing one is for pip to refuse
            shutil.copy(ROOT / name, sources)
    for folder in FOLDERS:
        shutil.copytree(
            ROOT / folder, sources / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    out = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--disable-pip-version-check",
            "-w",
            str(out),
            str(sources),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout
    [file] = out.glob("fissile-*.whl")
    return zipfile.ZipFile(file)


def test_every_module_and_data_file_is_inside(wheel):
    inside = set(wheel.namelist())
    wanted = {
        f"{package}/{file.relative_to(ROOT / folder)}"
        for folder, package in FOLDERS.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith(".")
    }
    assert "fissile/dialect/fissile.irdl.mlir" in wanted
    assert sorted(wanted - inside) == []


def test_nothing_else_is_inside(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert [top for top in tops if not top.endswith(".dist-info")] == ["fissile"]
    # Folders mapped into the package must not come along a second time under their own names.
    assert not [name for name in wheel.namelist() if "/fissile/" in name or "/tests/" in name]


def test_the_licence_is_named_and_inside(wheel):
    [metadata] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    assert "License-Expression: Apache-2.0 WITH LLVM-exception" in wheel.read(metadata).decode()
    [licence] = [name for name in wheel.namelist() if name.endswith("/LICENSE")]
    text = wheel.read(licence).decode()
    assert "Version 2.0, January 2004" in text and "LLVM Exceptions to the Apache 2.0 License" in text


def test_every_command_has_its_function(wheel):
    [listed] = [name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt")]
    entries = configparser.ConfigParser()
    entries.read_string(wheel.read(listed).decode())
    commands = dict(entries["console_scripts"])
    assert {"fissile", "fissile-opt"} <= set(commands)
    for command, entry in commands.items():
        module, function = entry.split(":")
        file = module.replace(".", "/") + ".py"
        assert file in wheel.namelist(), f"{command} = {entry}"
        tree = ast.parse(wheel.read(file))
        assert function in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}, (
            f"{command} = {entry}"
        )


def test_every_module_imports_from_the_wheel_alone(wheel, tmp_path):
    wheel.extractall(tmp_path / "site")
    modules = sorted(
        name[:-3].removesuffix("/__init__").replace("/", ".")
        for name in wheel.namelist()
        if name.endswith(".py")
    )
    modules = [m for m in modules if not m.endswith("__main__")]
    script = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    module = importlib.import_module(name)\n"
        "    print(module.__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *modules],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    files = done.stdout.split()
    assert len(files) == len(modules)
    assert [f for f in files if not f.startswith(str(tmp_path / "site"))] == []
