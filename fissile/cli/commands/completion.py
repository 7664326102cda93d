"""`fissile completion SHELL`: completion of commands and options."""

from __future__ import annotations

import argparse

from fissile.cli.command_line.completion import script
from fissile.cli.command_line.table import COMMANDS
from fissile.errors import ExitCode


def run(args: argparse.Namespace) -> int:
    print(script(args.shell, COMMANDS.values()), end="")
    return int(ExitCode.CLEAN)
