"""Files that are written whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Has ``write`` write a file beside ``path``, which takes that name in one step when it is done.

    What is no file (/dev/null) is written to instead of being replaced.
    """
    target = Path(path).absolute()
    if target.exists() and not target.is_file():
        with tempfile.TemporaryDirectory(prefix="fissile-") as scratch:
            write(Path(scratch, target.name))
            target.write_bytes(Path(scratch, target.name).read_bytes())
        return
    with tempfile.NamedTemporaryFile(
        "w", dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as partial:
        pass
    try:
        # A temporary file is private to its owner; a plain new one has the modes that the user's umask gives.
        Path(partial.name).unlink()
        write(Path(partial.name))
        Path(partial.name).replace(target)
    finally:
        Path(partial.name).unlink(missing_ok=True)
