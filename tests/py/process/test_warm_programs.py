"""A forked program is the installed one: the same status, streams and files, from the same words."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import programs
import pytest
import warm_programs
from small_programs import ADD, TARGETS

import fissile
from fissile.errors import UsageError

PROGRAMS = (
    ("fissile", "compile", *TARGETS["vulkan"], "in.mlir", "-o", "out.vmfb"),
    ("fissile", "compile", *TARGETS["vulkan"], "in.mlir", "-o", "out.vmfb", "--bogus"),
    ("fissile", "compile", *TARGETS["vulkan"], "in.mlir", "-o", "no/out.vmfb"),
    ("fissile", "nothing"),
    ("fissile-opt", "-", "--pass-pipeline=builtin.module(cse)"),
)


@pytest.mark.parametrize("words", PROGRAMS, ids=" ".join)
def test_a_forked_program_ends_as_the_installed_one(tmp_path, words):
    seen = []
    for run, program in ((programs.run_program, words[0]), (subprocess.run, programs.BIN / words[0])):
        (tmp_path / "in.mlir").write_text(ADD)
        done = run([program, *words[1:]], input=ADD, text=True, cwd=tmp_path, capture_output=True)
        files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        seen.append((done.returncode, done.stdout, done.stderr, files))
        for file in tmp_path.iterdir():
            file.unlink()
    assert seen[0] == seen[1]


def test_its_environment_is_the_callers(tmp_path):
    """The worker that PYTHONPATH makes crash crashes."""
    (tmp_path / "in.mlir").write_text(ADD)
    words, crashing = (
        ["fissile", "check", "--target=vulkan", "in.mlir"],
        str(Path(__file__).parents[1] / "shared" / "crashing"),
    )
    for environment, status in ((os.environ, 0), (os.environ | {"PYTHONPATH": crashing}, 1)):
        done = programs.run_program(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == status and ("FIS107" in done.stdout) == bool(status), done.stderr


def test_what_a_call_raises_is_raised_here(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        fissile.compile(tmp_path / "none.mlir", tmp_path / "out.vmfb", TARGETS["vulkan"], check=False)


def test_a_program_that_takes_too_long_is_ended(tmp_path):
    with pytest.raises(subprocess.TimeoutExpired):
        programs.run_program(["fissile-opt", "-"], input=ADD, timeout=0.0001)  # a deadline under test


def test_an_answer_of_stock_is_kept_and_an_artifact_made_anew(tmp_path):
    (tmp_path / "in.mlir").write_text(ADD.replace("addf", "no_such_op"))
    words = ["iree-compile", *TARGETS["vulkan"], tmp_path / "in.mlir", "-o", tmp_path / "out.vmfb"]
    first, second = (programs.run_program(words, capture_output=True, text=True) for _ in range(2))
    assert first.returncode == second.returncode == 1 and first.stderr == second.stderr
    assert str(tmp_path / "in.mlir") in first.stderr
    (tmp_path / "in.mlir").write_text(ADD)
    for _ in range(2):
        (tmp_path / "out.vmfb").unlink(missing_ok=True)
        assert programs.run_program(words).returncode == 0 and (tmp_path / "out.vmfb").exists()


def test_a_program_may_end_before_its_caller_goes_on(tmp_path, monkeypatch):
    """On a busy machine the server has answered and closed the connection when the caller gets the processor again."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    listener.listen()

    class Answered(socket.socket):
        def sendmsg(self, *words):
            sent = super().sendmsg(*words)
            accepted, _address = listener.accept()
            with accepted:
                accepted.recv(1 << 20)
                accepted.sendall(b'{"status": 7, "seconds": 0}\n')
            return sent

    with listener:
        monkeypatch.setattr(warm_programs.socket, "socket", Answered)
        assert (
            warm_programs.answer(warm_programs.request(tmp_path / "socket", ["x"], (0, 1, 2), {}))["status"]
            == 7
        )
