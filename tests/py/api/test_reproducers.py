"""An InternalError's reproducer runs: what it names is there."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import fissile
from fissile.errors import InternalError
from fissile.passes.definition import Pass

ADD = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
FLAGS = ["--iree-preprocessing-pass-pipeline=builtin.module(test-throws-here)"]


@pytest.fixture(autouse=True)
def throwing():
    @fissile.register_pass
    @dataclass(frozen=True)
    class ThrowsHere(Pass):
        """Throws."""

        name: ClassVar[str] = "test-throws-here"

        def run(self, op, report):
            raise ValueError("on purpose")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_the_reproducer_of_a_program_in_memory_runs(temporary):
    with pytest.raises(InternalError, match="on purpose") as failed:
        fissile.compile(ADD, target="llvm-cpu", flags=FLAGS)
    [kept] = temporary.iterdir()
    assert kept.name.startswith("fissile-reproducer-")
    assert {file.name for file in kept.iterdir()} == {"program.mlir", "registered.passes"}
    words = shlex.split(failed.value.reproducer)
    words = [str(Path(sys.executable).parent / words[0]), *words[1:]]
    again = subprocess.run(words, capture_output=True, text=True, check=False)
    assert again.returncode == 3 and "ValueError: on purpose" in again.stderr


def test_the_files_of_a_caller_are_named_where_they_are(temporary):
    (temporary / "model.mlir").write_text(ADD)
    with pytest.raises(InternalError) as failed:
        fissile.compile(temporary / "model.mlir", temporary / "out.vmfb", target="llvm-cpu", flags=FLAGS)
    assert str(temporary / "model.mlir") in failed.value.reproducer
    assert sorted(p.name.partition("-r")[0] for p in temporary.iterdir()) == ["fissile", "model.mlir"]


def test_nothing_is_kept_where_nothing_fails(temporary):
    assert fissile.compile(ADD, target="llvm-cpu").ok
    assert not list(temporary.iterdir())
