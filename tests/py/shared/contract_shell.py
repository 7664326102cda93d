"""fissile's programs in a shell, and what every end of one has to hold: a status, one line, no traceback."""

import os
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
ADD = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
LLVM_CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
PASS = '''from dataclasses import dataclass
from typing import ClassVar
import os, sys
from fissile.passes.definition import Pass, register_pass
{top}
@register_pass
@dataclass(frozen=True)
class Mine(Pass):
    """A test pass."""
    name: ClassVar[str] = "mine-p"
    def run(self, op, report):
        {act}
'''


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """``command`` with fissile's programs on PATH; ``$?`` of a pipeline's first part is for the command to print."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        env=os.environ | {"PATH": path} | environment,
    )


def holds(ended: subprocess.CompletedProcess, status: int, *printed: str) -> None:
    assert ended.returncode == status, ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout and "Exception ignored" not in ended.stderr, (
        ended.stderr
    )
    for words in printed:
        assert words in ended.stderr, ended.stderr


def with_pass(folder: Path, act: str = "pass", top: str = "") -> None:
    (folder / "mine.py").write_text(PASS.format(act=act, top=top))
