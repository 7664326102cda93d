"""Passes, checks and remedies of other packages, by the entry points that they declare.

    [project.entry-points."fissile.checks"]
    uneven-rows = "acme_fissile.uneven_rows:ReportUnevenRows"

The value is a pass class that `register_pass` has been applied to. `fissile.passes` makes it known by name; `fissile.checks` runs it on
every program that is checked or compiled, at phase input; a remedy of `fissile.remedies` is tried for the failures that it `cures`,
after fissile's own. Such code is trusted as any installed package is.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fissile.errors import UsageError

from .definition import Pass, PassDefinitionError, registered_passes

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PASSES, CHECKS, REMEDIES = GROUPS = ("fissile.passes", "fissile.checks", "fissile.remedies")


@cache
def plugged(group: str) -> tuple[type[Pass], ...]:
    """The pass classes that installed packages declare under ``group``, by name. Raises PassDefinitionError for one that is none."""
    if not declares(group):
        return ()
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=group), key=lambda one: (one.name, one.value))
    return tuple(dict.fromkeys(_class(one) for one in found))


def load_plugged() -> None:
    """Registers the passes of all groups. Raises UsageError where a package is broken."""
    try:
        for group in GROUPS:
            plugged(group)
    except PassDefinitionError as error:
        raise UsageError(str(error), "update or uninstall that package") from error


@cache
def declares(group: str) -> bool:
    """Whether a package on the path may have entry points of ``group``: 1 ms, where Python's own search takes 30."""
    section = f"[{group}]".encode()
    for folder in sys.path:
        try:
            for file in Path(folder or ".").glob("*.*-info/entry_points.txt"):
                if section in file.read_bytes():
                    return True
        except OSError:
            continue
    return False


def _class(entry: EntryPoint) -> type[Pass]:
    where = f"{entry.group} '{entry.name}' of {entry.dist.name if entry.dist else 'an unknown package'}"
    try:
        cls = entry.load()
    except Exception as error:  # a package of others may be broken in any way
        raise PassDefinitionError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if not (isinstance(cls, type) and issubclass(cls, Pass)) or registered_passes().get(cls.name) is not cls:
        raise PassDefinitionError(f"{where} is not a class with @register_pass: {entry.value}")
    return cls
