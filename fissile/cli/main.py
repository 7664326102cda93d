"""The `fissile` program: one subcommand, one module."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from fissile import __version__
from fissile.errors import ExitCode, UsageError, closest


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `fissile ARGV` and returns the exit status (`ExitCode`); as a program (``argv`` None) with streams of its own."""
    if argv is None:
        from fissile.start.late_modules import begin_lightly

        begin_lightly()
        from fissile.start.quick_dataclasses import make_dataclasses_quickly

        make_dataclasses_quickly()
    from fissile.cli.program import adopt_streams, run_program

    if argv is None:
        from fissile.pipelines.process.child import FORKS

        gc.set_threshold(
            1_000_000
        )  # what is loaded stays: to look through it for garbage is a tenth of the start
        adopt_streams()
        FORKS.set(True)
        return run_program("fissile", sys.argv[1:], _contained)
    return run_program("fissile", list(argv), _dispatch)


def _contained(words: list[str]) -> int:
    """`_dispatch`, in a child process where IREE's native code or Python files of the user's would run in this one.

    The other commands start workers for that.
    """
    if (
        words[:1] == ["verify"]
        or words[:1] == ["passes"]
        and any(word.startswith("--load") for word in words)
    ):
        from fissile.cli.contained import contained

        return contained("fissile", words, _dispatch)
    return _dispatch(words)


def _dispatch(words: list[str]) -> int:
    from fissile.cli.command_line.table import COMMANDS

    if not words or words[0] in ("-h", "--help", "help"):
        from fissile.cli.command_line.help_text import overview
        from fissile.cli.fitted_text import columns_of

        print(overview(COMMANDS.values(), __version__, columns_of(sys.stdout)), end="")
        return int(ExitCode.CLEAN if words else ExitCode.USAGE)
    if words[0] == "--version":
        from fissile.passes.iree import version

        installed = version.installed() or "not installed"
        print(f"fissile {__version__} (IREE {installed}, calibrated on {version.CALIBRATED})")
        return int(ExitCode.CLEAN)
    if words[0] not in COMMANDS:
        raise UsageError(f"unknown command '{words[0]}'", closest(words[0], list(COMMANDS)))
    command = COMMANDS[words[0]]
    if words[1:2] and words[1] in ("-h", "--help"):
        from fissile.cli.command_line.help_text import help_text
        from fissile.cli.fitted_text import columns_of

        print(help_text(command, columns_of(sys.stdout)), end="")
        return int(ExitCode.CLEAN)
    run = import_module(command.module).run
    if command.own_parser:
        return run(words[1:])
    from fissile.cli.command_line.parser import parser_of

    return run(parser_of(command).parse_args(words[1:]))


if __name__ == "__main__":
    sys.exit(main())
