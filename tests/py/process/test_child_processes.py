"""No process and no file outlives its command, however that ends; no child is waited for without a deadline."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from fissile.pipelines.process import reaper
from fissile.pipelines.process import scratch as scratches
from fissile.pipelines.process.child import Child, run_child
from fissile.pipelines.process.scratch import scratch
from fissile.pipelines.process.server import Server

BIN = Path(sys.executable).parent
ENDLESS = 300.0
"""Seconds after which a state that is about to change will not. A test that passes never waits for it."""

PROGRAM = """
import sys, threading
from pathlib import Path
from fissile.cli.program import run_program
from fissile.pipelines.process.atomic_write import place_of, staged
from fissile.pipelines.process.child import Child
from fissile.pipelines.process.scratch import scratch

def work(words):
    if "threads" in words:  # the reaper is started as a program, and not forked
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    with scratch() as folder, staged(place_of(words[0]), folder) as output:
        output.write_text("half")
        # One child in the group, one in a session of its own, whose parent is gone.
        with Child(["sh", "-c", "setsid sleep 1000 & sleep 1000 & echo > started; sleep 1000"], folder) as child:
            child.wait()
    return 0

sys.exit(run_program("test", sys.argv[1:], work))
"""


def children_of(mark: str) -> list[int]:
    """The processes whose environment holds ``mark``, without zombies."""
    return reaper._marked([mark.encode()])


def becomes(state, *, of: str) -> None:
    until = time.monotonic() + ENDLESS
    while not state():
        if time.monotonic() > until:
            pytest.fail(of)
        time.sleep(0.002)  # the other process needs the processor


@pytest.mark.parametrize("threads", [[], ["threads"]], ids=["forked", "executed"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_what_a_killed_command_started_and_made_goes(tmp_path, number, threads):
    if threads and number is not signal.SIGKILL:
        pytest.skip("only a parent that is killed needs the reaper")
    made = tmp_path / "made"
    made.mkdir()
    environment = os.environ | {"TMPDIR": str(made), "TEST_MARK": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, made / "out.vmfb", *threads]
    caller = subprocess.Popen(command, cwd=tmp_path, env=environment)
    becomes(
        lambda: (tmp_path / "started").exists() or caller.poll() is not None, of="the child did not start"
    )
    assert len(list(made.iterdir())) == 2
    # A process that is about to run another program has no environment for a moment.
    becomes(lambda: len(children_of(str(tmp_path))) >= 4, of="the child started nothing")
    caller.send_signal(number)
    assert caller.wait(ENDLESS) == (-number if number is signal.SIGKILL else 128 + number)
    becomes(lambda: not children_of(str(tmp_path)), of="a process outlived its command")
    becomes(lambda: not list(made.iterdir()), of="a file outlived its command")


def test_no_wait_is_so_long_that_a_signal_is_lost(tmp_path, monkeypatch):
    """One that comes just before the call that waits: Python handles it when the call returns."""
    waits, made = [], select.poll

    class Recorded:
        def __init__(self):
            self._poll = made()
            self.register = self._poll.register

        def poll(self, milliseconds):
            waits.append(milliseconds)
            return [] if len(waits) < 5 else self._poll.poll(milliseconds)

    monkeypatch.setattr(select, "poll", Recorded)
    with Child(["sh", "-c", "exit 3"], tmp_path) as child:
        assert child.wait() == 3
    assert len(waits) >= 5 and all(0 <= wait < 2000 for wait in waits)


def test_a_compile_that_is_killed_leaves_no_process_and_no_file(tmp_path):
    """In the middle of a user's pass, with a process of the pass's own in another session."""
    (tmp_path / "spin.py").write_text(SPIN)
    (tmp_path / "add.mlir").write_text(ADD)
    made = tmp_path / "made"
    made.mkdir()
    command = [BIN / "fissile", "compile", *CPU, "add.mlir", "-o", "made/o.vmfb", "--fissile-load-passes=spin.py",
               "--fissile-pipeline-after=abi:builtin.module(test-spin)"]  # fmt: skip
    environment = os.environ | {"TMPDIR": str(made), "TEST_MARK": str(tmp_path)}
    caller = subprocess.Popen(command, cwd=tmp_path, env=environment)
    try:
        becomes(
            lambda: (tmp_path / "spinning").exists() or caller.poll() is not None,
            of="the pass did not begin",
        )
        assert caller.poll() is None and list(made.iterdir())
        becomes(lambda: len(children_of(str(tmp_path))) >= 3, of="the pass started nothing")
        caller.kill()
        caller.wait(ENDLESS)
        becomes(lambda: not children_of(str(tmp_path)), of="a process outlived its command")
        becomes(lambda: not list(made.iterdir()), of="a file outlived its command")
    finally:
        reaper.kill_marked({str(tmp_path)})


ADD = """
func.func @add(%a: tensor<16xf32>) -> tensor<16xf32> {
  %0 = arith.addf %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
"""
CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
)
SPIN = """
import os, subprocess, tempfile
from dataclasses import dataclass
from typing import ClassVar
from fissile.passes.definition import Pass, register_pass

@register_pass
@dataclass(frozen=True)
class Spin(Pass):
    "A test pass."
    name: ClassVar[str] = "test-spin"
    def run(self, op, report):
        tempfile.mkstemp()
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        open("spinning", "w").close()
        while True:
            pass
"""


def test_a_child_that_is_ended_takes_what_left_its_group_along(tmp_path):
    """The shell ends at once; what it started is in a session of its own."""
    script = f"setsid sh -c 'echo $$ > {tmp_path}/pid; exec sleep 1000' & while true; do :; done"
    with scratch() as folder, Child(["sh", "-c", script], folder):
        becomes(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip(), of="no start")
    pid = int((tmp_path / "pid").read_text())
    becomes(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), of="it lives on")


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_the_temporary_folder_of_a_child_is_inside_its_parents_scratch_folder():
    ended = run_child(["sh", "-c", "echo $TMPDIR; mktemp"], ENDLESS)
    folder, file = ended.out.split()
    assert ended.status == 0 and file.startswith(folder) and not Path(folder).exists()


def test_what_a_child_prints_without_end_is_bounded_by_its_deadline(tmp_path, monkeypatch):
    """A grandchild holds the streams open: nobody waits for it. The deadline begins when a line is printed."""
    printed, wait = tmp_path / "printed", Child.wait

    def after_a_line(child: Child, seconds: float) -> int | None:
        becomes(printed.exists, of="nothing was printed")
        return wait(child, seconds)

    monkeypatch.setattr(Child, "wait", after_a_line)
    script = f"setsid sleep 1000 & echo line; touch {printed}; while true; do echo line; done"
    ended = run_child(["sh", "-c", script], 0.1)
    assert ended.status is None and ended.out.startswith("line\n") and "did not end" in ended.reason


HALF = "import sys, time\nsys.stdout.write('{\"half')\nsys.stdout.flush()\ntime.sleep(1000)\n"
DEAF = "import time\ntime.sleep(1000)\n"
NONSENSE = "print('no JSON', flush=True)\ninput()\n"
GONE = "import os\nos.abort()\n"
GREEDY = "raise MemoryError\n"
ECHO = "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line)\n    sys.stdout.flush()\n"


@pytest.mark.parametrize("script, answer", [
    (HALF, None), (DEAF, None), (NONSENSE, "an answer that cannot be read"), (GONE, "SIGABRT"), (GREEDY, "out of memory"), (ECHO, {"a": "x" * 2**20}),
], ids=["half a line", "reads nothing", "nonsense", "crash", "memory", "answers"])  # fmt: skip
def test_an_answer_has_a_deadline(tmp_path, monkeypatch, script, answer):
    """The request is larger than a pipe: a child that does not read it would block who writes."""
    (tmp_path / "answering.py").write_text(script)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}")
    server = Server("answering")
    try:
        assert server.request({"a": "x" * 2**20}, 0.2 if answer is None else ENDLESS) == answer
    finally:
        server.end()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_no_descriptor_is_left_open(tmp_path, monkeypatch):
    """Of compiles that end well, of those that are refused, of children, of servers and of sessions."""
    from fissile.pipelines.compile.request import parse_command_line
    from fissile.pipelines.process.supervisor import run_compile  # and not the tests' forked one
    from fissile.pipelines.session import Session

    (tmp_path / "answering.py").write_text(ECHO)
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / "bad.mlir").write_text("no MLIR")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}")

    def everything(**compiles: int) -> None:
        run_child(["true"], ENDLESS)
        server = Server("answering")
        server.request({}, ENDLESS)
        server.end()
        with Session(CPU) as session:
            module = session.parse(tmp_path / "add.mlir")
            session.run(module, "flow")
            session.write(module, tmp_path / "flow.mlir", "ir")
        for name, status in compiles.items():
            request = parse_command_line([*CPU, f"{tmp_path}/{name}.mlir", "-o", f"{tmp_path}/{name}.vmfb"])
            assert run_compile(request).exit_code == status

    everything(bad=1)  # what is loaded once may stay open
    before = descriptors()
    everything(bad=1, add=0)
    assert descriptors() == before


def test_one_reaper_serves_a_process_and_ends_with_its_last_user():
    with ExitStack() as stack:
        stack.enter_context(scratch())
        first = scratches._covering
        stack.enter_context(scratch())
        assert scratches._covering is first and first.users == 2
        pid = first._pid
    assert scratches._covering is None and not Path(f"/proc/{pid}").exists()


def test_a_signal_to_the_group_does_not_end_a_reaper_that_has_not_run_yet(tmp_path):
    """On a busy machine the fork waits for a processor while its parent goes on."""
    script = """
import os, signal
from fissile.pipelines.process.scratch import scratch
os.setsid = lambda: None  # the fork does not come so far
with scratch() as folder:
    print(folder, flush=True)
    os.killpg(0, signal.SIGQUIT)
"""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert ended.returncode == -signal.SIGQUIT and ended.stdout.strip().startswith(str(tmp_path))
    becomes(lambda: not os.listdir(tmp_path), of="the folder stays")


def test_a_child_that_may_write_no_more_says_so():
    ended = run_child(["bash", "-c", "ulimit -f 0; trap - XFSZ; kill -XFSZ $$"], ENDLESS)
    assert ended.reason == "File too large (SIGXFSZ): ulimit -f limits the size of files"


def test_no_reaper_stays_where_there_is_no_temporary_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(scratches.tempfile, "tempdir", str(tmp_path / "nothere"))
    with pytest.raises(FileNotFoundError), scratch():
        pytest.fail("there is no folder")
    assert scratches._covering is None


def test_a_command_goes_on_where_no_reaper_can_be_started(monkeypatch):
    def refused(*_args):
        raise OSError("no more processes")

    monkeypatch.setattr(scratches, "_forked_reaper", refused)
    monkeypatch.setattr(scratches, "_executed_reaper", refused)
    assert run_child(["true"], ENDLESS).status == 0


def test_a_fork_of_the_parent_that_lives_longer_does_not_keep_the_reaper_waiting(tmp_path):
    """It has a copy of the pipe: the reaper sees that the parent itself has ended."""
    program = f"""
import os, time
from fissile.pipelines.process.scratch import scratch
with scratch() as folder:
    if not os.fork():
        time.sleep(1000)
    open({str(tmp_path / "started")!r}, "w").close()
    time.sleep(1000)
"""
    made = tmp_path / "made"
    made.mkdir()
    caller = subprocess.Popen(
        [sys.executable, "-c", program], env=os.environ | {"TMPDIR": str(made)}, start_new_session=True
    )
    try:
        becomes(lambda: (tmp_path / "started").exists(), of="it did not start")
        assert list(made.iterdir())
        caller.kill()
        caller.wait(ENDLESS)
        becomes(lambda: not list(made.iterdir()), of="a file outlived its command")
    finally:
        os.killpg(caller.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", ["of nobody", "of another process"])
def test_a_parent_that_ended_before_the_watch_began_is_noticed(tmp_path, number):
    """Its number is nobody's by then (`pidfd_open` fails), or was given to another process; a fork of it holds the pipe open."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    reading, writing = os.pipe()
    folder = tmp_path / "fissile-left"
    folder.mkdir()
    os.write(writing, json.dumps({"folder": str(folder)}).encode() + b"\n")
    parent = gone.pid if number == "of nobody" else os.getppid()
    command = [sys.executable, "-I", "-S", reaper.__file__, "0", str(parent)]
    try:
        watching = subprocess.Popen(command, stdin=reading)
        try:
            assert watching.wait(ENDLESS) == 0 and not folder.exists()
        finally:
            watching.kill()
            watching.wait()
    finally:
        os.close(reading)
        os.close(writing)


def test_the_end_of_a_parent_is_noticed_without_a_descriptor_of_it(monkeypatch):
    """Old kernels have no `pidfd_open`. What it wrote before its end is read."""
    parents = iter([7, 7, 7, 1, 1])
    reading, writing = os.pipe()
    try:
        os.write(writing, b"one\ntwo\nhalf")
        monkeypatch.delattr(reaper.os, "pidfd_open")
        monkeypatch.setattr(reaper.os, "getppid", lambda: next(parents))
        monkeypatch.setattr(reaper, "_LOOKING_MILLISECONDS", 0)
        assert list(reaper._lines(reading, 7)) == [b"one", b"two"]
    finally:
        os.close(reading)
        os.close(writing)


def test_a_command_may_run_in_another_thread_and_where_children_are_not_waited_for():
    from concurrent.futures import ThreadPoolExecutor

    from fissile.cli.program import run_program

    def work(_words: list[str]) -> int:
        return run_child(["true"], ENDLESS).status

    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(run_program, "test", [], work).result() == 0
    finally:
        signal.signal(signal.SIGCHLD, before)
