"""Code of a user's that ends well: processes, threads and compiled files that it would leave; and functions that verify calls."""

import os
import py_compile
import shlex
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from contract_shell import ADD, LLVM_CPU, holds, shell, with_pass

AFTER_INPUT = "'--fissile-pipeline-after=input:builtin.module(mine-p)'"
COMMANDS = {
    "opt": "fissile-opt in.mlir --load-passes=mine.py --mine-p -o out",
    "compile": f"fissile compile {shlex.join(LLVM_CPU)} in.mlir -o out --load-passes=mine.py {AFTER_INPUT}",
}
DAEMON = """
        if not os.fork():
            os.setsid()
            with open("daemon", "w") as file:
                file.write(str(os.getpid()))
            os.rename("daemon", "pid")
            __import__("time").sleep(1000)
        while not os.path.exists("pid"):
            __import__("time").sleep(0.01)"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD)
    return tmp_path


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_process_that_left_its_group_ends_with_a_command_that_ends_well(name, folder):
    with_pass(folder, DAEMON)
    holds(shell(COMMANDS[name], folder), 0)
    pid = int((folder / "pid").read_text())
    try:
        assert not is_alive(pid)
        assert (folder / "out").exists()
    finally:
        with suppress(OSError):
            os.kill(pid, 9)


def test_orphans_are_ended_and_children_of_before_are_not():
    import subprocess

    from fissile.pipelines.process.child import orphans_ended

    mine = subprocess.Popen(["sleep", "1000"])
    try:
        with orphans_ended():
            left = int(
                subprocess.run(
                    ["bash", "-c", "setsid sleep 1000 > /dev/null 2>&1 & echo $!"],
                    capture_output=True,
                    text=True,
                ).stdout
            )
            assert is_alive(left)
        assert not is_alive(left) and mine.poll() is None
    finally:
        mine.kill()
        mine.wait()


def test_a_thread_that_does_not_end_does_not_keep_a_compile(folder, monkeypatch):
    """The worker has left its answer, and Python waits for the thread."""
    from fissile.cli.main import main
    from fissile.pipelines.process import supervisor

    monkeypatch.chdir(folder)
    monkeypatch.setattr(supervisor, "ENDING_SECONDS", 0.5)
    thread = "__import__('threading').Thread(target=__import__('time').sleep, args=(1000,)).start()"
    with_pass(folder, thread)
    begin = time.monotonic()
    assert main(shlex.split(COMMANDS["compile"])[1:]) == 0
    assert (folder / "out").exists() and time.monotonic() - begin < 1000


def test_compiled_code_beside_a_users_file_is_neither_run_nor_left(folder):
    with_pass(folder, "pass")
    holds(shell(COMMANDS["opt"], folder), 0)
    assert not (folder / "__pycache__").exists()
    text, known = (folder / "mine.py").read_text(), (folder / "mine.py").stat()
    evil = text.replace("        pass\n", "        1 / 0")
    (folder / "mine.py").write_text(evil + " " * (len(text) - len(evil)))
    os.utime(folder / "mine.py", ns=(known.st_atime_ns, known.st_mtime_ns))
    py_compile.compile(str(folder / "mine.py"))
    assert list((folder / "__pycache__").iterdir())
    (folder / "mine.py").write_text(text)
    os.utime(folder / "mine.py", ns=(known.st_atime_ns, known.st_mtime_ns))
    planted = "import runpy, sys; sys.path.insert(0, '.'); import mine; mine.Mine().run(None, None)"
    assert "ZeroDivisionError" in shell(f"{sys.executable} -c {shlex.quote(planted)}", folder).stderr
    holds(shell(COMMANDS["opt"], folder), 0)


VERIFY = "fissile verify in.mlir --on local-task --reference r.py:f"
AT_IMPORT = {
    "import sys; sys.exit(0)": (2, "r.py cannot be imported: SystemExit: 0 (r.py:1)"),
    "raise BaseException('base')": (2, "r.py cannot be imported: BaseException: base (r.py:1)"),
    "1 / 0": (2, "r.py cannot be imported: ZeroDivisionError: division by zero (r.py:1)"),
    "import os; os._exit(0)": (3, "the import of r.py ended the process (exit status 0)"),
    "import os; os.abort()": (3, "the import of r.py ended the process (SIGABRT)"),
}
IN_THE_CALL = {
    "__import__('sys').exit(0)": (2, "the reference function r.py:f failed: SystemExit: 0 (r.py:3)"),
    "return a[7][7]": (2, "the reference function r.py:f failed: IndexError"),
    "__import__('os')._exit(0)": (3, "the reference function r.py:f ended the process (exit status 0)"),
    "__import__('os').abort()": (3, "the reference function r.py:f ended the process (SIGABRT)"),
}


@pytest.mark.parametrize("top", AT_IMPORT)
def test_a_reference_file_that_ends_while_it_is_imported_is_named(top, folder):
    (folder / "r.py").write_text(f"{top}\ndef f(a): return a + a\n")
    status, printed = AT_IMPORT[top]
    ended = shell(VERIFY, folder)
    holds(ended, status, printed)
    assert "FIS107" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("act", IN_THE_CALL)
def test_a_reference_function_that_fails_is_named(act, folder):
    (folder / "r.py").write_text(f"\ndef f(a):\n    {act}\n")
    status, printed = IN_THE_CALL[act]
    ended = shell(VERIFY, folder)
    holds(ended, status, printed)
    assert "FIS107" not in ended.stdout + ended.stderr


def test_a_reference_function_that_returns_is_compared(folder):
    (folder / "r.py").write_text("\ndef f(a):\n    return a + a\n")
    ended = shell(VERIFY, folder)
    holds(ended, 0)
    assert not (folder / "__pycache__").exists()


@pytest.mark.parametrize(
    "act",
    ["sys.stdout.close()", "sys.stderr.close()", "os.close(1)"],
)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_pass_that_closes_a_stream_takes_no_output_along(name, act, folder):
    prints = "; print('printed', file=sys.stderr)" if name == "opt" else ""
    with_pass(folder, act + prints)
    ended = shell(COMMANDS[name], folder)
    holds(ended, 0)
    assert (folder / "out").exists() and (not prints or "printed" in ended.stderr)


def test_the_result_reaches_standard_output_behind_a_pass_that_closed_it(folder):
    with_pass(folder, "\n        with sys.stdout as out:\n            print('a message', file=out)")
    ended = shell("fissile-opt in.mlir --load-passes=mine.py --mine-p", folder)
    holds(ended, 0, "a message")
    assert ended.stdout.startswith("module {") and "arith.addf" in ended.stdout
