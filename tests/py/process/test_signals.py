"""A signal ends a command in one line, wherever it comes: at the program, at its child, while modules are imported."""

import pytest
from contract_shell import ADD, LLVM_CPU, holds, shell, with_pass

START = ("fissile.errors", "fissile.cli.program", "fissile.pipelines.process.limits")
"""Modules that a program imports before its work begins."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    return tmp_path


@pytest.mark.parametrize(("program", "module", "number"), [
    *(("fissile", module, 2) for module in START),
    *(("fissile-opt", module, 15) for module in START),
    ("python -P -m fissile", "fissile.cli.main", 2),
])  # fmt: skip
def test_a_signal_while_a_program_is_imported_ends_it_in_one_line(program, module, number, folder):
    """The signal comes when ``module`` is looked for."""
    (folder / "sitecustomize.py").write_text(f"""import os, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Interrupting())
""")
    ended = shell(f"{program} --version; echo $?", folder, PYTHONPATH=str(folder))
    assert ended.stdout == f"{128 + number}\n"
    name = "fissile-opt" if program == "fissile-opt" else "fissile"
    assert ended.stderr.startswith(f"{name}: stopped by {'SIGINT' if number == 2 else 'SIGTERM'}")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "loses", ["kept = Holder()\ndel kept", "try:\n    kill()\nexcept BaseException:\n    raise ImportError('of native code')"]
)  # fmt: skip
def test_a_signal_is_not_lost_in_what_runs_then(loses, folder):
    """A finalizer lets no exception out; native code that is imported turns one into another."""
    (folder / "sitecustomize.py").write_text(f"""import os, sys
class Holder:
    def __del__(self):
        kill()
def kill():
    os.kill(os.getpid(), 2)
    for _ in range(1000):
        pass
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "fissile.cli.command_line.help_text":
            {"            ".join(loses.splitlines(True))}
            for _ in range(1 << 28):  # until the signal comes again
                pass
sys.meta_path.insert(0, Interrupting())
""")
    ended = shell("fissile --help; echo $?", folder, PYTHONPATH=str(folder))
    assert ended.stdout == "130\n"
    assert ended.stderr == "fissile: stopped by SIGINT: unfinished output is removed, no process is left\n"


def test_a_worker_that_a_signal_ends_is_named(folder):
    """Also while it imports what it works with: SIGINT is no exception there."""
    (folder / "sitecustomize.py").write_text("""import os, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "fissile.pipelines.compile.guarded_compile":
            os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Interrupting())
""")
    for command in ("compile", "reduce"):
        line = f"fissile {command} {' '.join(LLVM_CPU)} in.mlir -o out"
        ended = shell(line, folder, PYTHONPATH=str(folder))
        holds(ended, 2, "a signal ended the compiler's process (SIGINT)")
        assert not (folder / "out").exists()


@pytest.mark.parametrize("number", [1, 2, 15], ids=["SIGHUP", "SIGINT", "SIGTERM"])
def test_a_signal_to_the_child_alone_is_named(number, folder):
    """It does not end the command as if it had been sent to it."""
    with_pass(folder, f"os.kill(os.getpid(), {number})")
    ended = shell("fissile-opt in.mlir --load-passes=mine.py --mine-p -o out.mlir", folder)
    holds(ended, 2, "pass 'mine-p' (mine.py:11): a signal ended the compiler's process (SIG")
    assert not (folder / "out.mlir").exists()
