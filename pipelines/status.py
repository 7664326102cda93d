"""What a command does now, for a person who waits: from a child's notes to whoever listens in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from fissile.passes.progress import NOTE, activity, noted

Listener = Callable[[str], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)

LOADING = "loading IREE"
"""What a child does before it notes its first step."""


@contextmanager
def listened(listener: Listener) -> Iterator[None]:
    """Within the block ``listener`` gets a line for each thing that is done, often the same one several times."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def is_listened() -> bool:
    return _LISTENER.get() is not None


def announce(line: str) -> None:
    if (listener := _LISTENER.get()) is not None and line:
        listener(line)


def line_of(folder: Path, translating: int = 0, dispatch_limit: float = 0.0, step_limit: float = 0.0) -> str:
    """What the child that notes its steps in ``folder`` does: step, what is tried, which dispatch, and the limit of time for it."""
    if not (folder / NOTE).exists():
        return LOADING
    step, doing = noted(folder), activity(folder)
    parts = [step.what if step else "", doing.trying, doing.dispatch]
    limit = step_limit
    if translating:
        limit = dispatch_limit
        if translating > 1:
            parts[2] = f"generating code for {translating} dispatches"
    parts.append(f"limit {limit:g} s" if limit and any(parts) else "")
    return ", ".join(filter(None, parts))
