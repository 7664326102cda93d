"""The memory that a child process may take, and what is reported of one that a limit ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fissile.errors import UsageError
from fissile.pipelines.process import memory_limit, worker_end
from fissile.pipelines.process.child import Child
from fissile.pipelines.process.limits import limits_taken
from fissile.pipelines.process.scratch import scratch

ENDLESS = 300.0
"""Seconds after which a state that is about to change will not. A test that passes never waits for it."""


@pytest.mark.parametrize("limit", ["150M", "0"])
def test_a_child_may_take_so_much_memory_and_no_more(monkeypatch, limit):
    monkeypatch.setenv(memory_limit.VARIABLE, limit)
    # It waits for its input, so that the limit is there before it begins.
    with scratch() as folder, (folder / "err").open("wb") as err:
        child = Child([sys.executable, "-c", "input(); len(bytearray(300 << 20))"], folder,
                      stdin=subprocess.PIPE, stderr=err)  # fmt: skip
        with child:
            child.stdin.write(b"\n")
            child.stdin.close()
            status = child.wait(ENDLESS)
        assert status == (1 if limit == "150M" else 0)
        assert bool(memory_limit.OUT_OF_MEMORY.search((folder / "err").read_text())) == (limit == "150M")


def test_the_default_memory_limit_is_the_machines():
    total = int(Path("/proc/meminfo").read_text().split()[1]) << 10
    assert 0 < memory_limit.machine_memory() and memory_limit.parse_size("2G") == 2 << 30
    assert memory_limit.machine_memory() <= 2 * total


@pytest.mark.parametrize("spelled", ["1", "1K", "10M", "31MiB"])
def test_a_limit_that_nothing_can_start_with_is_refused(spelled):
    with pytest.raises(UsageError, match=f"can start with {spelled} of memory") as refused:
        memory_limit.parse_size(spelled)
    assert "--memory-limit=8G" in refused.value.hint
    assert memory_limit.parse_size("32M") == 32 << 20 and memory_limit.parse_size("0K") == 0


@pytest.mark.parametrize("words, rest", [
    (["check", "--memory-limit=1G", "a.mlir"], ["check", "a.mlir"]),
    (["check", "--memory-limit", "1G", "a.mlir"], ["check", "a.mlir"]),
    (["compile", "--", "--memory-limit=1G"], ["compile", "--", "--memory-limit=1G"]),
])  # fmt: skip
def test_the_memory_limit_is_an_option_of_every_command(monkeypatch, words, rest):
    monkeypatch.setenv(memory_limit.VARIABLE, "3G")
    with limits_taken(words) as left:
        assert left == rest
        assert memory_limit.memory_limit() == (1 << 30 if rest == ["check", "a.mlir"] else 3 << 30)


@pytest.mark.parametrize("option, value, wrong", [
    ("--memory-limit", "a size", "'much' is not a size of memory"),
    ("--phase-timeout", "a number of seconds", "'much' is not a number of seconds"),
])  # fmt: skip
@pytest.mark.parametrize("form", [lambda option: [f"{option}=much"], lambda option: [option, "much"]])
def test_both_forms_of_a_limit_need_a_value_that_can_be_read(option, value, wrong, form):
    with pytest.raises(UsageError, match=wrong), limits_taken(["check", *form(option), "a.mlir"]):
        pass
    for end in ([], ["--", "a.mlir"], ["--target=gfx942"]):
        with (
            pytest.raises(UsageError, match=f"{option} needs {value}"),
            limits_taken(["check", option, *end]),
        ):
            pass


def test_the_limits_of_a_command_end_with_it(monkeypatch):
    from fissile.cli.program import run_program

    monkeypatch.setenv(memory_limit.VARIABLE, "3G")
    monkeypatch.delenv("FISSILE_PHASE_TIMEOUT", raising=False)
    seen = []

    def work(words: list[str]) -> int:
        seen.append((words, memory_limit.memory_limit()))
        return 0

    assert run_program("test", ["--memory-limit=1G", "--phase-timeout=5", "a"], work) == 0
    assert seen == [(["a"], 1 << 30)]
    assert memory_limit.memory_limit() == 3 << 30 and "FISSILE_PHASE_TIMEOUT" not in os.environ


@pytest.mark.parametrize(
    ("limit", "status", "words"),
    [
        ("RLIMIT_DATA", -signal.SIGABRT, "SIGABRT; a limit is set here that may be why: ulimit -d"),
        ("RLIMIT_AS", -signal.SIGSEGV, "SIGSEGV; a limit is set here that may be why: ulimit -v"),
        ("RLIMIT_FSIZE", 1, "exit status 1; a limit is set here that may be why: ulimit -f"),
        ("RLIMIT_FSIZE", -signal.SIGABRT, "SIGABRT"),
        ("RLIMIT_DATA", 1, "exit status 1"),
        ("", -signal.SIGABRT, "SIGABRT"),
    ],
)
def test_a_silent_end_under_a_limit_of_the_shell_names_it(limit, status, words, monkeypatch):
    chosen = getattr(worker_end.resource, limit, None)
    never = worker_end.resource.RLIM_INFINITY
    monkeypatch.setattr(
        worker_end.resource, "getrlimit", lambda kind: (1 << 20 if kind == chosen else never,) * 2
    )
    assert worker_end.how_it_ended(status) == words


def test_the_limit_that_fissile_sets_for_its_children_is_not_called_the_shells(monkeypatch):
    own, never = memory_limit.memory_limit(), worker_end.resource.RLIM_INFINITY
    data = worker_end.resource.RLIMIT_DATA
    monkeypatch.setattr(worker_end.resource, "getrlimit", lambda kind: (own if kind == data else never,) * 2)
    assert worker_end.how_it_ended(-signal.SIGABRT) == "SIGABRT"


def test_a_library_that_cannot_be_mapped_is_a_lack_of_memory():
    line = "ImportError: libIREECompiler.so: failed to map segment from shared object"
    assert memory_limit.OUT_OF_MEMORY.search(line)
    assert not memory_limit.OUT_OF_MEMORY.search(f"{line}: Operation not permitted")
