"""A worker that is a fork of the program does what one does that is started: same streams, folders and end."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from small_programs import ADD

from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.process.job import CompileJob, Job

CALLER = """
import os, sys
from contextvars import ContextVar
from pathlib import Path
from fissile.pipelines.process.child import FORKS, Child
from fissile.pipelines.process.scratch import scratch

FORKS.set(sys.argv[1] == "forked")
sys.path.append(sys.argv[2])
seen = ContextVar("seen", default="nothing")
seen.set("the caller's")
sys.modules["caller"] = sys.modules["__main__"]
with scratch() as folder:
    job = Path(folder, "job")
    job.write_text(sys.argv[3])
    with (folder / "printed").open("wb") as sink, Child.worker("worker_of_a_test", job, folder, sink) as child:
        status = child.wait(300)
    print(status, (folder / "printed").read_text())
"""
WORKER = """
import os, sys
from pathlib import Path

def main():
    from fissile.pipelines.process.entry import begin

    begin()
    what = Path(sys.argv[1]).read_text()
    caller = sys.modules.get("caller")
    print("forked" if caller else "started", os.getppid() == int(os.environ["FISSILE_PARENT"]), flush=True)
    print(caller.seen.get() if caller else "nothing", repr(sys.stdin.read()), sys.path[0] == CALLERS, flush=True)
    print(Path(os.environ["TMPDIR"]).is_dir(), os.getsid(0) == os.getpid(), file=sys.stderr, flush=True)
    if what == "aborts":
        os.abort()
    if what == "throws":
        raise ValueError("thrown")
    if what == "exits":
        os._exit(3)
    print("ended")
    return 0

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.mark.parametrize(
    ("what", "status", "last"),
    [
        ("ends", 0, "ended"),
        ("aborts", -6, "True True"),
        ("throws", 1, "ValueError: thrown"),
        ("exits", 3, "True True"),
    ],
)
def test_a_fork_is_as_good_as_a_start(tmp_path, what, status, last):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "worker_of_a_test.py").write_text(WORKER.replace("CALLERS", repr(str(tmp_path))))
    (tmp_path / "caller.py").write_text(CALLER)

    def printed(how: str, **environment: str) -> list[str]:
        caller = [sys.executable, tmp_path / "caller.py", how, folder, what]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(caller, capture_output=True, text=True, check=True, env=kept | environment)
        assert not done.stderr
        return done.stdout.split("\n")[:-2]

    lines = printed("forked")
    assert lines[:3] == [f"{status} forked True", "nothing '' False", "True True"] and lines[-1] == last
    # A user's own start files belong to each process: then, and where the caller is no program of fissile's, it is started.
    assert printed("forked", PYTHONPATH=str(folder))[0] == f"{status} started True"


def test_the_program_forks_its_worker_and_writes_the_same(tmp_path):
    """True processes, without a user's start files and with: PYTHONPATH makes the worker a process that is started."""
    (tmp_path / "in.mlir").write_text(ADD)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    printed = []
    for environment in (kept, kept | {"PYTHONPATH": str(tmp_path)}):
        words = [
            Path(sys.executable).with_name("fissile"),
            "check",
            "in.mlir",
            "--target=llvm-cpu",
            "--no-cache",
        ]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        printed.append((done.stdout, done.stderr))
    assert printed[0] == printed[1]


def test_a_worker_with_something_to_say_at_its_end_is_started():
    request = parse_command_line(["in.mlir", "-o", "out.vmfb"])
    timed = parse_command_line(["in.mlir", "-o", "out.vmfb", "--mlir-timing"])
    users = replace(request, load_passes=("mine.py",))
    assert CompileJob("folder", request, "output").may_be_forked and Job("folder").may_be_forked
    assert not any(CompileJob("folder", one, "output").may_be_forked for one in (timed, users))
