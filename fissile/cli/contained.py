"""The work of a command in a child process: whatever a pass, a file of the user's or IREE's native code does there, the command answers."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

from fissile.errors import ExitCode, InternalError, UsageError

_LOADS_USERS_CODE = ("--load", "--ref")
"""What options that name a file of a user's begin with; argparse takes them shortened."""


def contained(program: str, words: list[str], work: Callable[[list[str]], int]) -> int:
    """The exit status of ``work(words)``, run in a fork: before IREE is loaded, so there are no threads to lose.

    A crash of IREE's is a finding. Raises InternalError where a user's code ends the child, UsageError where the system does.
    """
    from fissile.cli.program import run_program
    from fissile.passes.progress import note_in, noted_line
    from fissile.pipelines.process.child import Child, orphans_ended
    from fissile.pipelines.process.scratch import scratch
    from fissile.shown_text import shown_lines

    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    with scratch() as folder:

        def in_child() -> int:
            _keep_native_messages(folder)
            note_in(folder)
            try:
                status = run_program(program, words, work, in_child=True)
            except BaseException:  # FISSILE_TRACEBACK: a fork ends without Python's own report
                traceback.print_exc()
                status = int(ExitCode.INTERNAL)
            with suppress(OSError):
                sys.stderr.flush()
                os.write(writing, b"%d" % status)
            return status

        try:
            users = any(word.startswith(_LOADS_USERS_CODE) for word in words)
            with orphans_ended() if users else nullcontext(), Child.forked(in_child, folder) as child:
                os.close(writing)
                try:
                    status, limit = _wait(child, folder)
                except KeyboardInterrupt as interrupt:
                    _end_the_line()
                    interrupt.add_note(noted_line(folder))
                    raise
            answered = os.read(reading, 16)  # it has ended: nothing to wait for
        finally:
            os.close(reading)
        messages = _native_messages(folder)
        if answered:
            sys.stderr.write("\n".join(shown_lines(messages)))
            return int(answered)
        _end_the_line()
        return _ended(program, words, status, limit, folder, messages)


def _wait(child, folder: Path) -> tuple[int | None, float]:
    """The child's status, None where a step exceeded its limit; and the limit."""
    from fissile.passes.progress import noted_at
    from fissile.pipelines.process.deadline import CpuDeadline
    from fissile.pipelines.process.phase_timeout import phase_timeout

    limit, began, deadline = phase_timeout(), 0, None
    while (status := child.wait(0.2)) is None:
        if limit and (at := noted_at(folder)) != began:
            began, deadline = at, CpuDeadline(child.pid, limit) if at else None
        if deadline is not None and deadline.is_over:
            break
    return status, limit


def _ended(
    program: str, words: list[str], status: int | None, limit: float, folder: Path, messages: str
) -> int:
    """Reports a crash of IREE's, or a step of its that does not end, as a finding; raises what else ended the child."""
    from fissile.cli.report_output import report_output_of
    from fissile.cli.terminal import print_report
    from fissile.finding import Finding
    from fissile.passes.failures.failure import Ending, failure_that_ends
    from fissile.passes.progress import noted
    from fissile.passes.user_code import way_out
    from fissile.pipelines.process.limits import limits_in_force
    from fissile.pipelines.process.worker_end import how_it_ended, system_ended
    from fissile.pipelines.report.text import render
    from fissile.report import Report

    step = noted(folder)
    doing = f" in {step.what}" if step else ""
    if status is not None and (refused := system_ended(status, messages)):
        if step and step.users:
            raise UsageError(f"{step.what}: {refused.message}", refused.hint)
        raise refused
    late = f"did not end within {limit:g} s (--phase-timeout)"
    if step and step.users:
        raise InternalError(
            f"{step.what} {late if status is None else f'ended the process ({how_it_ended(status)})'}",
            way_out(step.what),
        )
    if status is not None and status >= 0:
        raise InternalError(f"the process ended without an answer ({how_it_ended(status)}){doing}")
    again = f"shows it again: {program} {shlex.join([*words, *limits_in_force(words)])}"
    if status is None:
        found = Finding(
            failure_that_ends(Ending.TIMED_OUT).code,
            f"the compiler does not end: {step.what if step else 'the work'} {late}",
            notes=(again,),
        )
    else:
        found = Finding(
            failure_that_ends(Ending.CRASHED).code,
            f"the compiler crashed ({how_it_ended(status)}){doing}",
            notes=(again,),
            detail=messages[-4000:],
        )
    report = Report(words[0] if words and program == "fissile" else program, (found,))
    status = int(report.exit_code)
    report_output_of(words).write(report, status, lambda: print_report(report), lambda: render(report))
    return status


def _end_the_line() -> None:
    """On a terminal: clears the line that the child drew its progress in when it was ended, and shows the cursor again."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K\x1b[?25h")
        sys.stderr.flush()


def _keep_native_messages(folder: Path) -> None:
    """What native code prints on standard error goes to a file, for the parent to show or to read the cause from; Python's messages
    go on as before."""
    with suppress(OSError):
        file = os.open(folder / "native", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        own = os.dup(2)
        os.dup2(file, 2)
        os.close(file)
        from fissile.cli.program import messages_to

        sys.stderr = messages_to(own)


def _native_messages(folder: Path) -> str:
    try:
        return (folder / "native").read_text(errors="replace")[-(1 << 20) :]
    except OSError:
        return ""
