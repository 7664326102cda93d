"""The values of options, read from their text. Each raises ValueError whose message says what is taken; `Option.read` names the option."""

from __future__ import annotations

LONGEST = 1e9
"""Seconds, 31 years. The operating system's timers take no number without an end."""


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    if (value := _number(text)) <= 0:
        raise ValueError("a number of seconds above 0")
    return value


def seconds_or_none(text: str) -> float:
    """A number of seconds; 0 is no limit."""
    if (value := _number(text)) < 0:
        raise ValueError("a number of seconds; 0 is no limit")
    return value


def at_least_one(text: str) -> int:
    """A whole number above 0."""
    if not _is_whole(text) or int(text) < 1:
        raise ValueError("a whole number above 0")
    return int(text)


def count(text: str) -> int:
    """A whole number, 0 included."""
    if not _is_whole(text):
        raise ValueError("a whole number of 0 or more")
    return int(text)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _number(text: str) -> float:
    """``text`` as a number of seconds; -1 where it is none, or too large for one."""
    try:
        value = float(text)
    except ValueError:
        return -1.0
    return value if 0 <= value <= LONGEST else -1.0
