"""`fissile --help` and `fissile COMMAND --help`, from the declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from fissile.cli.fitted_text import LEAST, fitted

from .declaration import EXIT_STATUS, Command

WIDTH = 98
_COLUMN = 32
_NARROW = 40
"""Columns that a second column needs."""


def help_text(command: Command, columns: int = 0) -> str:
    """Usage, what it is for, arguments, options, examples, exit status; for a terminal of ``columns``, 0 for none."""
    text = _help(command, _width(columns))
    return fitted(text, columns) if columns else text


def _help(command: Command, width: int) -> str:
    parts = [f"usage: {command.usage}", _filled(command.opening, width)]
    parts += [_filled(paragraph, width) for paragraph in command.description.split("\n\n") if paragraph]
    if command.arguments:
        rows = ((argument.name, argument.help) for argument in command.arguments)
        parts.append("arguments:\n" + _rows(rows, width))
    for heading, options in command.options:
        parts.append(f"{heading}:\n" + _rows(((option.shown, option.help) for option in options), width))
    if command.examples:
        parts.append("examples:\n" + _examples(command))
    parts.append("exit status:\n" + _filled(command.exit_status, width, "  "))
    return "\n\n".join(parts) + "\n"


def overview(commands: Iterable[Command], version: str, columns: int = 0) -> str:
    """What `fissile` without a command prints."""
    width = _width(columns)
    rows = [(command.name, command.sentence) for command in commands if command.program == "fissile"]
    column = max(len(name) for name, _sentence in rows) + 4
    return (
        f"fissile {version}: a compile guard for IREE\n\nusage: fissile COMMAND [arguments]\n\n"
        f"{_rows(rows, width, column)}\n\n"
        f"{_filled('`fissile COMMAND --help` lists the options of a command, with examples.', width)}\n"
        "`fissile-opt` runs single passes.\n\n"
        f"{_filled(f'exit status: {EXIT_STATUS}', width)}\n"
    )


def _examples(command: Command) -> str:
    lines = []
    for example in command.examples:
        lines += [f"  # {example.purpose}", f"  {example.command}"]
    return "\n".join(lines)


def _width(columns: int) -> int:
    return min(WIDTH, max(columns, LEAST)) if columns else WIDTH


def _rows(rows: Iterable[tuple[str, str]], width: int, column: int = _COLUMN) -> str:
    """Two columns; a name that is too long for the first has a line of its own, and in a narrow terminal each has."""
    column = column if width - column >= _NARROW else 6
    lines = []
    for name, text in rows:
        wrapped = _wrapped(text, width - column)
        if len(name) + 4 > column:
            lines.append(f"  {name}")
        else:
            lines.append(f"  {name}".ljust(column) + wrapped.pop(0))
        lines += [" " * column + line for line in wrapped]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _filled(text: str, width: int, indent: str = "") -> str:
    return "\n".join(indent + line for line in _wrapped(text, width - len(indent)))
