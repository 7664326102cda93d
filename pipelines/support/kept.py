"""What was measured for the support table, kept for the versions of IREE and fissile that are installed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.metadata import version as version_of
from pathlib import Path

from fissile.passes.iree import version

from ..cache import store
from ..process.atomic_write import write_atomically
from .arithmetic import EXACT
from .measure import Cell
from .programs import Program


def file_for(target: str) -> Path | None:
    """Where the cells of ``target`` are kept; None where nothing is (FISSILE_CACHE=off)."""
    folder = store.folder()
    if folder is None:
        return None
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in target)
    return folder / f"support-{version.installed()}-{version_of('fissile')}-{safe}.json"


def read(file: Path | None, programs: Sequence[Program]) -> dict[str, Cell]:
    """The cells of those of ``programs`` that were measured as they read today, by `Program.key`."""
    digests = {one.key: _digest(one) for one in programs}
    found = {}
    for row in _rows(file):
        key = f"{row['cell']['op']} {row['cell']['element']}"
        if digests.get(key) == row["program"]:
            found[key] = Cell(**row["cell"])
    return found


def keeper(file: Path | None, programs: Sequence[Program]) -> Callable[[Sequence[Cell]], None]:
    """Adds cells to ``file``; those that it has of the same programs go."""
    digests = {one.key: _digest(one) for one in programs}

    def keep(cells: Sequence[Cell]) -> None:
        if file is None:
            return
        rows = {f"{row['cell']['op']} {row['cell']['element']}": row for row in _rows(file)}
        for cell in cells:
            key = f"{cell.op} {cell.element}"
            rows[key] = {"program": digests[key], "cell": asdict(cell)}
        file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(list(rows.values()), indent=0)
        write_atomically(file, lambda path: path.write_text(text, encoding="utf-8"))

    return keep


def _rows(file: Path | None) -> list[dict]:
    """The rows of ``file``; none where it is not there or not whole."""
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file is not None else []
    except (OSError, ValueError):
        return []


def _digest(program: Program) -> str:
    judged = "exact" if program.reference in EXACT else ""
    return hashlib.sha256(f"{program.text}{program.shapes}{program.reference}{judged}".encode()).hexdigest()
