"""`fissile --help` and `fissile COMMAND --help`, from the declarations."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from .declaration import EXIT_STATUS, Command

WIDTH = 98
_COLUMN = 32


def help_text(command: Command) -> str:
    """Usage, what it is for, arguments, options, examples, exit status."""
    parts = [f"usage: {command.usage}", _filled(command.opening)]
    parts += [_filled(paragraph) for paragraph in command.description.split("\n\n") if paragraph]
    if command.arguments:
        rows = ((argument.name, argument.help) for argument in command.arguments)
        parts.append("arguments:\n" + _rows(rows))
    for heading, options in command.options:
        parts.append(f"{heading}:\n" + _rows((option.shown, option.help) for option in options))
    if command.examples:
        parts.append("examples:\n" + _examples(command))
    parts.append("exit status:\n" + _filled(command.exit_status, "  "))
    return "\n\n".join(parts) + "\n"


def overview(commands: Iterable[Command], version: str) -> str:
    """What `fissile` without a command prints."""
    rows = [(command.name, command.sentence) for command in commands if command.program == "fissile"]
    column = max(len(name) for name, _sentence in rows) + 4
    return (
        f"fissile {version}: a compile guard for IREE\n\nusage: fissile COMMAND [arguments]\n\n"
        f"{_rows(rows, column)}\n\n"
        "`fissile COMMAND --help` lists the options of a command, with examples.\n"
        "`fissile-opt` runs single passes.\n\n"
        f"exit status: {EXIT_STATUS}\n"
    )


def _examples(command: Command) -> str:
    lines = []
    for example in command.examples:
        lines += [f"  # {example.purpose}", f"  {example.command}"]
    return "\n".join(lines)


def _rows(rows: Iterable[tuple[str, str]], column: int = _COLUMN) -> str:
    """Two columns; a name that is too long for the first has a line of its own."""
    lines = []
    for name, text in rows:
        wrapped = _wrapped(text, WIDTH - column)
        if len(name) + 4 > column:
            lines.append(f"  {name}")
        else:
            lines.append(f"  {name}".ljust(column) + wrapped.pop(0))
        lines += [" " * column + line for line in wrapped]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _filled(text: str, indent: str = "") -> str:
    return "\n".join(indent + line for line in _wrapped(text, WIDTH - len(indent)))
