"""The `fissile` program: one subcommand, one module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from fissile import __version__
from fissile.errors import ExitCode, UsageError, closest
from fissile.passes.iree import version

COMMANDS = {
    "compile": (
        "fissile.cli.commands.compile",
        "iree-compile, guarded: what stock IREE refuses is repaired and reported",
    ),
    "check": (
        "fissile.cli.commands.check",
        "which dispatches do not fit, for many targets, without a full compile",
    ),
    "audit": (
        "fissile.cli.commands.audit",
        "every op that IREE cannot compile, in one run, with the way out",
    ),
    "verify": (
        "fissile.cli.commands.verify",
        "run two programs, or one against expected outputs, and compare the numbers",
    ),
    "reduce": ("fissile.cli.commands.reduce", "a small program of its own that fails as a large one does"),
    "explain": ("fissile.cli.commands.explain", "the manual page of a finding: fissile explain FIS101"),
    "passes": ("fissile.cli.commands.passes", "the passes there are, with options and contracts"),
    "targets": ("fissile.cli.commands.targets", "the targets there are, with each limit's source"),
}


def usage() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {sentence}" for name, (_module, sentence) in COMMANDS.items())
    return (
        f"fissile {__version__}: a compile guard for IREE\n\nusage: fissile COMMAND [arguments]\n\n{rows}\n\n"
        "fissile COMMAND --help tells more; fissile-opt runs single passes.\n"
        "every command takes --memory-limit=SIZE and --phase-timeout=SECONDS (default 600 for one step; 0: none).\n"
        "every command takes --memory-limit=SIZE, the memory of each process that it starts.\n"
        "exit status: 0 clean or repaired, 1 findings remain, 2 usage, or no space or memory, 3 internal error\n"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `fissile ARGV` and returns the exit status (`ExitCode`); as a program (``argv`` None) with streams of its own."""
    from fissile.cli.program import adopt_streams, run_program

    if argv is None:
        adopt_streams()
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
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage(), end="")
        return int(ExitCode.CLEAN if words else ExitCode.USAGE)
    if words[0] == "--version":
        print(
            f"fissile {__version__} (IREE {version.installed() or 'not installed'}, calibrated on {version.CALIBRATED})"
        )
        return int(ExitCode.CLEAN)
    if words[0] not in COMMANDS:
        raise UsageError(f"unknown command '{words[0]}'", closest(words[0], list(COMMANDS)))
    name, sentence = COMMANDS[words[0]]
    command = import_module(name)
    if not hasattr(command, "add_arguments"):  # compile: its flags are iree-compile's
        return command.run(words[1:])
    from fissile.cli.arguments import Parser

    parser = Parser(prog=f"fissile {words[0]}", description=sentence)
    command.add_arguments(parser)
    return command.run(parser.parse_args(words[1:]))


if __name__ == "__main__":
    sys.exit(main())
