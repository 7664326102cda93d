"""A command's parser, made from its declaration. What is wrong is one line, as any other error."""

from __future__ import annotations

import argparse
from typing import NoReturn

from fissile.errors import UsageError, closest
from fissile.option import Argument, Option

from .declaration import Command
from .help_text import help_text

_UNRECOGNIZED = "unrecognized arguments: "
"""How argparse begins its message about an option that it does not know."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and end the process."""

    command: Command | None = None

    def error(self, message: str) -> NoReturn:
        flag = message.removeprefix(_UNRECOGNIZED).partition(" ")[0].partition("=")[0]
        if message.startswith(_UNRECOGNIZED) and flag.startswith("-") and self.command is not None:
            known = [spelling for option in self.command.all_options for spelling in option.spellings]
            hint = closest(flag, known)
            message = f"unknown option '{flag}'"
            if hint.startswith("did"):
                raise UsageError(message, hint)
        raise UsageError(message, f"{self.prog} --help lists the options")

    def format_help(self) -> str:
        return help_text(self.command) if self.command is not None else super().format_help()


def parser_of(command: Command) -> Parser:
    """An argparse parser for ``command``; an option may not be abbreviated, or a new one would change what an old line means."""
    parser = Parser(prog=command.title, allow_abbrev=False)
    parser.command = command
    for argument in command.arguments:
        add_argument(parser, argument)
    for option in command.all_options:
        add_option(parser, option)
    return parser


def add_argument(parser: argparse.ArgumentParser, argument: Argument) -> None:
    more = {"nargs": argument.count, "default": argument.default} if argument.count else {}
    more |= {"choices": argument.choices} if argument.choices else {}
    parser.add_argument(argument.name.lower(), metavar=argument.name, type=argument.kind, **more)


def add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    if not option.takes_value:
        parser.add_argument(*option.spellings, dest=option.attribute, action="store_true")
        return
    parser.add_argument(
        *option.spellings,
        dest=option.attribute,
        action="append" if option.repeated else "store",
        default=[] if option.repeated and option.default is None else option.default,
        choices=option.choices or None,
        metavar=option.value or None,
        type=option.read,
        help=option.help.replace("%", "%%"),
    )
