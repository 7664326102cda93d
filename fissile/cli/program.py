"""What surrounds the work of every fissile program: streams that can be written to, and one line and a status for what ends it."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TextIO

from fissile.errors import ExitCode, FissileError, InternalError, UsageError, refused_by_system


def run_program(
    program: str, words: list[str], work: Callable[[list[str]], int], in_child: bool = False
) -> int:
    """``work(words)`` and its exit status; whatever it raises ends in one line and a status of `ExitCode`, never in a traceback.

    SIGTERM and SIGHUP clean up as Ctrl-C does; ``in_child``, where a parent cleans up and reports, they end the process.
    ``--memory-limit`` and ``--phase-timeout`` are taken from the words.
    """
    try:
        from fissile.given_files import named_in_utf8
        from fissile.pipelines.process.limits import limits_taken
        from fissile.pipelines.process.termination import signals_raise

        with nullcontext() if in_child else signals_raise(), limits_taken(words) as rest:
            try:
                named_in_utf8(words)
                return int(work(rest))
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
    except KeyboardInterrupt as interrupt:  # also while the imports above run
        from fissile.pipelines.process.termination import exit_status

        return _interrupted(interrupt, program, exit_status(interrupt))
    except BaseException as error:
        if os.environ.get("FISSILE_TRACEBACK") and not isinstance(error, (FissileError, SystemExit)):
            raise
        try:
            return ended_by(error, program, words)
        except OSError as refused:  # no descriptor is left to load the words with
            sys.stderr.write(f"{program}: error: {refused.strerror}\n")
            return int(ExitCode.USAGE)


def _interrupted(interrupt: KeyboardInterrupt, program: str, status: int) -> int:
    """Prints what was done and what is left, after all is cleaned up; returns ``status``."""
    doing = next((f" ({note})" for note in getattr(interrupt, "__notes__", ()) if note), "")
    name = signal.Signals(status - 128).name
    if sys.stderr is not None:
        sys.stderr.write(
            f"{program}: stopped by {name}{doing}: unfinished output is removed, no process is left\n"
        )
    return status


def ended_by(error: BaseException, program: str, words: list[str]) -> int:
    """Prints why ``program words`` ended; returns the exit status."""
    from fissile.cli.terminal import print_error
    from fissile.pipelines.process.limits import limits_in_force

    if isinstance(error, SystemExit) and _of_argparse(error):
        return int(error.code or 0)  # after --help, or a wrong word that it has reported
    again = f"{program} {shlex.join([*words, *limits_in_force(words)])}"
    if isinstance(error, FissileError):
        if isinstance(error, InternalError):
            error.reproducer = error.reproducer or again
        return print_error(error, program)
    if isinstance(error, BrokenPipeError):
        return print_error(UsageError("the reader of a pipe has closed it"), program)
    if refused := refused_by_system(error):
        return print_error(refused, program)
    summary = " ".join(str(error).split())[:300]
    return print_error(
        InternalError(
            f"{type(error).__name__}: {summary}".rstrip(": "), "FISSILE_TRACEBACK=1 shows where", again
        ),
        program,
    )


def _of_argparse(error: SystemExit) -> bool:
    """Whether argparse ended the command; anything else that does, a pass or IREE's Python, has no answer to give."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_globals.get("__name__") == "argparse"


def adopt_streams() -> None:
    """Makes the standard streams of this process safe to write to. For a program, before anything else opens a file.

    A descriptor that is closed would be given to the next file that is opened, and messages would be written into it: it
    becomes the null device. What a stream cannot encode is spelled out. A reader of standard output that has gone
    (`| head`) ends nothing; a full disk there is a UsageError, and on standard error, where it cannot be reported, nothing.
    """
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, mode)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)
    closed = sys.stdout is None
    sys.stdout = _Results(_binary(sys.stdout, 1), encoding=_encoding(sys.stdout), errors="backslashreplace")
    sys.stdout.is_closed = closed
    sys.stderr = _Messages(
        _binary(sys.stderr, 2), encoding=_encoding(sys.stderr), errors="backslashreplace", line_buffering=True
    )
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)


def messages_to(descriptor: int) -> io.TextIOWrapper:
    """A stream for messages that writes to ``descriptor``, as `adopt_streams` makes standard error."""
    return _Messages(
        open(descriptor, "wb"), encoding=_encoding(sys.stderr), errors="backslashreplace", line_buffering=True
    )


def standard_output_is_open() -> bool:
    return sys.stdout is not None and not getattr(sys.stdout, "is_closed", False)


@contextmanager
def output_as_messages() -> Iterator[None]:
    """What Python, native code or a program that it starts prints in the block is a message: standard output is for the result alone."""
    adopted = isinstance(sys.stdout, _Results)
    with redirect_stdout(sys.stderr):
        if not adopted:  # the streams of whoever called `main`: what is below them is not changed
            yield
            return
        kept = os.dup(1)
        try:
            os.dup2(2, 1)
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def discard(stream: io.TextIOBase) -> None:
    """What is written to ``stream`` from now on, and what it still holds, goes nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


class _Results(io.TextIOWrapper):
    """Standard output. ``is_closed``: it was when the program began."""

    is_closed = False

    def write(self, text: str) -> int:
        return self._try(super().write, text) or len(text)

    def flush(self) -> None:
        self._try(super().flush)

    def _try(self, act: Callable, *values: str) -> int | None:
        try:
            return act(*values)
        except BrokenPipeError:
            discard(self)
        except OSError as error:
            discard(self)
            why = refused_by_system(error)
            raise UsageError(
                f"cannot write to standard output: {error.strerror}", why.hint if why else ""
            ) from None
        return None


class _Messages(io.TextIOWrapper):
    """Standard error: what cannot be written is left out; the exit status says it too.

    It stays open: while a user's pass runs it is `sys.stdout` too, which the pass may close (`with sys.stdout as file:`).
    """

    def close(self) -> None:
        self.flush()

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            discard(self)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            discard(self)
        except ValueError:  # whoever closed the stream below it has no more to write
            pass


def _binary(stream: TextIO | None, descriptor: int):
    """A binary stream to ``descriptor``; whoever still holds the text stream that was there before may go on using it."""
    if stream is not None:
        stream.flush()
    return open(descriptor, "wb", closefd=False)


def _encoding(stream: TextIO | None) -> str:
    return stream.encoding if stream is not None else "utf-8"
