"""The results folder of a sweep: one file a cell, named by the cell's key; compiled modules, named by their content; the runs.

    cells/KEY.json       what one compile gave, with its whole report
    modules/SHA256.vmfb  what was compiled, where modules are kept
    runs/NUMBER.json     one finished sweep: label of each cell, its key and its verdict

Every file appears whole or not at all, and what has the same name has the same content: several machines may share the folder.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from fissile import wire
from fissile.errors import UsageError

from ..process.atomic_write import write_atomically
from .cells import Cell
from .changes import summary_of
from .outcome import Outcome

FORMAT = 1
_FOLDERS = ("cells", "modules", "runs")


class Store:
    """Raises UsageError where the folder cannot be made or written."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        try:
            for name in _FOLDERS:
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot write results to {folder}: {error.strerror}", "name another folder: --out"
            ) from None

    def find(self, cell: Cell) -> Outcome | None:
        """What was kept of ``cell``; None where nothing was, or the file is damaged or of another format.

        Raises UsageError for a folder in the file's place: a result could not be written there, so nothing need be compiled first.
        """
        path = self._cell(cell)
        _refuse_folder(path)
        try:
            data = json.loads(path.read_bytes())
            if data["format"] != FORMAT or data["key"] != cell.key:
                return None
            return wire.build(Outcome, data["outcome"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, cell: Cell, outcome: Outcome, module: bytes) -> None:
        """Writes one result, the module first, so that a result never names a module that is not there."""
        if module:
            path = self.folder / "modules" / f"{outcome.module}.vmfb"
            _refuse_folder(path)
            if not path.exists():
                write_atomically(path, lambda partial: partial.write_bytes(module))
        data = {
            "format": FORMAT,
            "key": cell.key,
            "model": {"name": cell.model.name, "sha256": cell.model.content, "bytes": cell.model.size},
            "target": cell.target,
            "options": list(cell.options),
            "fissile": cell.environment.fissile,
            "iree": cell.environment.iree,
            "outcome": asdict(outcome),
        }
        self._write(self._cell(cell), data)

    def _cell(self, cell: Cell) -> Path:
        return self.folder / "cells" / f"{cell.key}.json"

    def last_run(self) -> dict | None:
        """The newest finished sweep that can be read; None where there is none."""
        for path in sorted((self.folder / "runs").glob("*.json"), reverse=True):
            try:
                data = json.loads(path.read_bytes())
                if data["format"] == FORMAT:
                    cells = data["cells"].items()
                    return data | {
                        "cells": {label: summary_of(wire.build(Outcome, was)) for label, was in cells}
                    }
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue
        return None

    def keep_run(self, run: dict) -> Path:
        """Writes a finished sweep under the next number; two machines that finish at once get two numbers."""
        folder = self.folder / "runs"
        number = max((int(path.stem) for path in folder.glob("*.json") if path.stem.isdigit()), default=0)
        while True:
            number += 1
            path = folder / f"{number:06}.json"
            try:
                path.open("x").close()  # the number is this run's; `last_run` skips an empty file
            except FileExistsError:
                continue
            self._write(path, {"format": FORMAT} | run)
            return path

    @staticmethod
    def _write(path: Path, data: dict) -> None:
        text = json.dumps(data, indent=1, sort_keys=True) + "\n"
        try:
            write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise UsageError(
            f"cannot keep a result: {path} is a folder", "remove it, or name another folder: --out"
        )
