"""Files that a caller names: which names fissile takes, and which files may not be the same one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from fissile.errors import UsageError


def named_in_utf8(names: Iterable[str | os.PathLike[str]]) -> None:
    """Raises UsageError for the first name whose bytes are no UTF-8: IREE's bindings and every report take names as text."""
    for name in names:
        spelled = os.fspath(name)
        try:
            spelled.encode()
        except UnicodeEncodeError:
            raise _no_text(spelled) from None


def _no_text(name: str) -> UsageError:
    try:
        os.fsencode(name).decode()
    except UnicodeError:
        return UsageError(f"the name {name} is not UTF-8", "rename the file")
    return UsageError(
        f"the name {name} is UTF-8, and this locale reads names as {sys.getfilesystemencoding()}",
        "LC_ALL=C.UTF-8 or PYTHONUTF8=1",
    )


def written_apart(given: Iterable[tuple[str, str]]) -> None:
    """Raises UsageError where two of ``given``, (option or role, file), lead to one file, through links too: one would be lost.

    An empty name is no file, nor is standard output, a device or a pipe, which may take several.
    """
    known: dict[str, str] = {}
    for what, file in given:
        if not file or file == "-":
            continue
        at = os.path.realpath(file)
        if os.path.exists(at) and not os.path.isfile(at):
            continue
        if (other := known.setdefault(at, what)) != what:
            raise UsageError(f"{what}={file} is {other} too", "name another file")
