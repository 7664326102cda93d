"""docs/commands.md: what `fissile COMMAND --help` prints, as tables."""

from __future__ import annotations

from collections.abc import Iterable

from .declaration import Command


def reference(commands: Iterable[Command]) -> str:
    """One section for each command, in Markdown."""
    return "\n\n".join(_section(command) for command in commands)


def _section(command: Command) -> str:
    parts = [
        f"## {command.title}",
        command.opening,
        f"```text\n{command.usage}\n```",
    ]
    parts += [command.description] if command.description else []
    if command.arguments:
        parts.append(_table("argument", ((a.name, a.help) for a in command.arguments)))
    for heading, options in command.options:
        parts.append(_table(heading, ((option.shown, option.help) for option in options)))
    if command.examples:
        parts.append(_table("example", ((e.command, e.purpose) for e in command.examples)))
    parts.append(f"Exit status: {command.exit_status}.")
    return "\n\n".join(parts)


def _table(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {heading} | |", "|---|---|"]
    lines += [f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
