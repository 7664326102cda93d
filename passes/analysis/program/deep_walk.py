"""Walks that go as deep as a program is nested: Python's own stack ends at a thousand regions."""

from __future__ import annotations

from collections.abc import Iterator

Steps = Iterator["Steps"]
"""A walk that yields the walks to be done before it goes on."""


def walk_deep(start: Steps) -> None:
    """Runs ``start`` and everything that it yields, each to its end before the one that yielded it goes on."""
    pending = [start]
    while pending:
        inner = next(pending[-1], None)
        if inner is None:
            pending.pop()
        else:
            pending.append(inner)
