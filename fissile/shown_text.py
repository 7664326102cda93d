"""Text that an input spells, made safe to show on a terminal and in a log: no control codes, no forged lines, no commands."""

from __future__ import annotations

_OLD_COMMAND = "##["
"""What begins a workflow command in a log of GitHub Actions, anywhere in a line."""


def shown(text: str) -> str:
    """``text`` on one line: what is not printable (control and escape codes, newlines, text direction marks) is spelled out, and what
    GitHub Actions would take for a command in its log."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _spelled(c) for c in text)
    return text.replace(_OLD_COMMAND, r"##\x5b") if _OLD_COMMAND in text else text


def shown_lines(text: str) -> list[str]:
    """The lines of ``text``, each as `shown`: the caller indents them, so that none reads as a finding of its own.

    Nor does one read as a workflow command of GitHub Actions, `::error::…`, which may be indented.
    """
    return [_no_command(shown(line)) for line in text.split("\n")]


def _no_command(line: str) -> str:
    return line.replace("::", r"\x3a:", 1) if line.lstrip().startswith("::") else line


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
