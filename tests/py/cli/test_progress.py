"""Progress: what a child notes is a line of its parent; a terminal redraws it, other streams get it with -v."""

from __future__ import annotations

import io
import sys
from contextvars import copy_context

import pytest

from fissile.cli import progress as cli
from fissile.cli.contained import contained
from fissile.cli.program import run_program
from fissile.passes import progress as noted
from fissile.pipelines import status


def in_child(folder, act):
    """``act()`` as a child does that notes its steps in ``folder``."""
    copy_context().run(lambda: (noted.note_in(folder), act()))


def test_the_line_names_step_trial_dispatch_and_limit(tmp_path):
    lines = []

    def work():
        with noted.running("phase executable-targets"):
            noted.trying("fissile-place-boundaries")
            noted.at_dispatch(3, 12, "main_dispatch_2")
            lines.append(status.line_of(tmp_path, 1, 30.0, 600.0))
        lines.append(status.line_of(tmp_path, 12, 30.0, 600.0))

    in_child(tmp_path, work)
    assert lines == [
        "phase executable-targets, trying fissile-place-boundaries, dispatch 3 of 12 (main_dispatch_2), limit 30 s",
        "trying fissile-place-boundaries, generating code for 12 dispatches, limit 30 s",
    ]


def test_a_step_without_dispatches_has_the_limit_of_steps(tmp_path):
    def work():
        with noted.running("parse"):
            assert status.line_of(tmp_path, 0, 30.0, 600.0) == "parse, limit 600 s"

    in_child(tmp_path, work)
    assert status.line_of(tmp_path / "none", 0, 30.0, 600.0) == status.LOADING


def test_a_process_that_nobody_listens_to_notes_nothing(tmp_path):
    noted.at_dispatch(1, 2, "x")
    status.announce("nobody")
    assert not status.is_listened() and list(tmp_path.iterdir()) == []


def test_plain_lines_are_printed_once_each():
    stream = io.StringIO()
    progress = cli.Progress(stream, plain=True)
    for line in ("parse", "parse", "phase flow", "\x1b[2J"):
        progress.hear(line)
        progress.draw()
    printed = [line.split(": ", 2)[2] for line in stream.getvalue().splitlines()]
    assert printed == ["parse", "phase flow", "\\x1b[2J"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("waited, shown", [(0.0, False), (3600.0, True)])
def test_a_terminal_shows_the_line_of_what_takes_long(monkeypatch, waited, shown):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    progress = cli.Progress(stream, plain=False)
    progress._began -= waited
    progress.hear("phase flow [limit 600 s]")
    monkeypatch.setattr(cli, "QUIET_SECONDS", 1800.0)
    progress.draw()
    progress.draw()
    progress.end()
    assert ("phase flow [limit 600 s]" in stream.getvalue()) is shown


@pytest.mark.parametrize(
    "verbose, quiet, heard", [(False, False, False), (True, False, True), (True, True, False)]
)
def test_without_a_terminal_only_verbose_prints(monkeypatch, verbose, quiet, heard):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with cli.progress_shown("reading x", verbose, quiet):
        assert ("reading x" in stream.getvalue()) is heard
        status.announce("phase flow")
    assert ("phase flow" in stream.getvalue()) is heard


@pytest.mark.parametrize("verbose, quiet", [(False, False), (True, False), (False, True)])
def test_an_interrupt_reports_what_was_done_and_what_is_left(monkeypatch, verbose, quiet):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)

    def work(_words):
        with cli.progress_shown("reading x", verbose, quiet):
            status.announce("phase flow, limit 600 s")
            raise KeyboardInterrupt

    assert run_program("fissile", [], work) == 130
    assert stream.getvalue().splitlines()[-1] == (
        "fissile: stopped by SIGINT (phase flow, limit 600 s): unfinished output is removed, no process is left"
    )


def test_an_interrupt_names_what_a_child_did(monkeypatch, tmp_path):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)

    def in_a_child():
        with cli.progress_shown("reading x"):
            status.announce("running @main on vulkan")

    class Interrupted:
        def wait(self, _seconds):
            in_child(folder, in_a_child)
            raise KeyboardInterrupt

        def __enter__(self):
            return self

        def __exit__(self, *_exc):
            pass

    def forked(_work, place):
        nonlocal folder
        folder = place
        return Interrupted()

    folder = tmp_path
    monkeypatch.setattr("fissile.pipelines.process.child.Child.forked", forked)
    assert run_program("fissile", [], lambda words: contained("fissile", words, lambda _words: 0)) == 130
    assert "stopped by SIGINT (running @main on vulkan): " in stream.getvalue()


def test_a_step_does_not_show_the_dispatch_of_the_step_before(tmp_path):
    lines = []

    def work():
        with noted.running("phase executable-targets"):
            noted.at_dispatch(1, 2, "main_dispatch_0")
        with noted.running("phase flow"):
            lines.append(status.line_of(tmp_path))

    in_child(tmp_path, work)
    assert lines == ["phase flow"]


def test_an_audit_names_the_op_that_it_compiles(tmp_path):
    lines = []

    def work():
        with noted.running("parse"):
            pass
        for note in (noted.at_whole_program, lambda: noted.at_op(3, 40, "linalg.matmul")):
            note()
            lines.append(status.line_of(tmp_path, 1, 30.0))

    in_child(tmp_path, work)
    assert lines == [
        "compiling the whole program, limit 30 s",
        "compiling op 3 of 40 alone (linalg.matmul), limit 30 s",
    ]
