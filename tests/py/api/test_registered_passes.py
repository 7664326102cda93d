"""A pass that this process registers runs in the process that compiles."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import pytest

import fissile
from fissile.errors import FissileError
from fissile.passes.definition import Contract, Pass, option
from fissile.passes.properties import LINALG_ON_TENSORS
from fissile.passes.shipped_passes import ship

ADD = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
CODE = "FIS402"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """What is kept for a reproducer goes with the test."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def pipeline(name: str) -> list[str]:
    return [f"--iree-preprocessing-pass-pipeline=builtin.module({name})"]


def test_a_registered_pass_runs_where_it_is_compiled():
    @fissile.register_pass
    @dataclass(frozen=True)
    class CountAdds(Pass):
        """Reports how many additions there are."""

        name: ClassVar[str] = "test-count-adds"
        contract: ClassVar[Contract] = Contract(requires=(LINALG_ON_TENSORS,))
        times: int = option(1, "what to multiply with")

        def run(self, op, report):
            found = str(op).count("arith.addf")
            report(fissile.Finding(CODE, f"{found * self.times} additions", fissile.finding.Severity.NOTE))

    built = fissile.compile(ADD, target="llvm-cpu", flags=pipeline("test-count-adds{times=3}"))
    assert [f.message for f in built.findings] == ["3 additions"]


def test_what_it_throws_names_the_pass():
    @fissile.register_pass
    @dataclass(frozen=True)
    class Throws(Pass):
        """Divides by zero."""

        name: ClassVar[str] = "test-throws"

        def run(self, op, report):
            return 1 // 0

    with pytest.raises(
        FissileError, match="pass 'test-throws' .*test_registered_passes.py.*ZeroDivisionError"
    ):
        fissile.compile(ADD, target="llvm-cpu", flags=pipeline("test-throws"))


def test_threads_do_not_lose_the_passes_of_each_other(tmp_path):
    @fissile.register_pass
    @dataclass(frozen=True)
    class Quiet(Pass):
        """Does nothing."""

        name: ClassVar[str] = "test-quiet"

        def run(self, op, report):
            pass

    folders = [tmp_path / str(number) for number in range(40)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(8) as threads:
        shipped = {file.read_bytes() for file in threads.map(ship, folders)}
    assert len(shipped) == 1
    assert __file__.encode() in shipped.pop()


SCRIPT = '''
from dataclasses import dataclass
from typing import ClassVar
import fissile
from fissile.passes.definition import Pass

HELLO = "hello from a script"

@fissile.register_pass
@dataclass(frozen=True)
class Hello(Pass):
    """Says hello."""

    name: ClassVar[str] = "script-hello"

    def run(self, op, report):
        report(fissile.Finding("{code}", HELLO))

built = fissile.compile("""{program}""", target="llvm-cpu", check=False,
                        flags=["--iree-preprocessing-pass-pipeline=builtin.module(script-hello)"])
print([f.message for f in built.findings])
'''


def test_a_script_without_a_main_guard_needs_no_file_of_passes(tmp_path):
    """The worker does not run the script again."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(code=CODE, program=ADD))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "['hello from a script']", done.stderr
