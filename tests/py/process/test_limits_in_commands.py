"""A command that shows a failure again is the command that failed, with every limit that was in force."""

from dataclasses import replace

import pytest

from fissile.pipelines.compile.request import CompileRequest, parse_command_line
from fissile.pipelines.compile.stepping_aside import command_of, stock_command
from fissile.pipelines.contracts.reproducer import write_reproducer
from fissile.pipelines.process.job import WorkerError
from fissile.pipelines.process.limits import with_limits
from fissile.pipelines.process.worker_end import error_of

LIMITS = {"FISSILE_MEMORY_LIMIT": "8G", "FISSILE_PHASE_TIMEOUT": "5"}
SPELLED = ("--memory-limit=8G", "--phase-timeout=5")


@pytest.fixture
def limited(monkeypatch):
    for variable, value in LIMITS.items():
        monkeypatch.setenv(variable, value)


@pytest.fixture
def unlimited(monkeypatch):
    for variable in LIMITS:
        monkeypatch.delenv(variable, raising=False)


def request() -> CompileRequest:
    return parse_command_line(["--target=llvm-cpu", "in.mlir", "-o", "out.vmfb"])


def failed(request: CompileRequest) -> str:
    error = error_of(WorkerError("RuntimeError: x", exit_code=3), request)
    return error.reproducer


@pytest.mark.parametrize("shown", [failed, command_of, stock_command])
def test_the_limits_are_in_it(limited, shown):
    line = shown(request())
    assert "fissile compile " in line and all(word in line.split() for word in SPELLED), line


@pytest.mark.parametrize("shown", [failed, command_of, stock_command])
def test_without_a_limit_none_is(unlimited, shown):
    line = shown(request())
    assert "--memory-limit" not in line and "--phase-timeout" not in line
    assert ("iree-compile " in line) == (shown is stock_command)


@pytest.mark.parametrize("shown", [failed, command_of, stock_command])
def test_it_is_of_the_command_that_failed(unlimited, shown):
    line = shown(replace(request(), task="reduce", dispatch="main_dispatch_0"))
    assert "fissile reduce " in line and "--dispatch=main_dispatch_0" in line.split(), line


def test_that_of_a_broken_contract_has_them_too(limited, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    words = write_reproducer("module {}", "builtin.module(cse)", "cse").command.split()
    assert words[0] == "fissile-opt" and set(SPELLED) < set(words)


def test_a_line_for_the_shell_takes_them(limited):
    assert with_limits("fissile check 'a b.mlir'") == " ".join(["fissile check 'a b.mlir'", *SPELLED])
