"""The matrix of a sweep: one cell for each model, target, environment and set of options.

A cell is known by its content (`Cell.key`): the same model, target, options and versions have the same key on every machine, so
that machines that share a results folder share results, and a sweep that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from fissile.errors import UsageError
from fissile.target import find_target

from .environments import Environment

MODEL_SUFFIXES = (".mlir", ".mlirbc", ".onnx", ".pt2")
"""What counts as a model in a folder; a file that is named itself is taken whatever it is called."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Model:
    """``name`` is the path below the folder that was named, ``content`` the SHA-256 of the file, ``size`` its bytes."""

    name: str
    path: str
    content: str
    size: int


@dataclass(frozen=True)
class Cell:
    """One compile of the matrix. ``options`` are words of `fissile compile`."""

    model: Model
    target: str
    environment: Environment
    options: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """SHA-256 of everything that decides the result: the model's bytes and its suffix, not its name or place."""
        suffix = Path(self.model.name).suffix.lower()
        parts = [self.model.content, suffix, self.target, list(self.options), *self.environment.identity]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def label(self) -> str:
        """How a report names the cell; the same from run to run, while the key changes with the content and the versions."""
        return " ".join(
            filter(None, (self.model.name, self.target, self.environment.label, self.shown_options))
        )

    @property
    def shown_options(self) -> str:
        return shlex.join(self.options)


def find_models(paths: Iterable[str]) -> list[Model]:
    """The models at ``paths``: files, and all models below folders; sorted by name. Raises UsageError."""
    found: dict[str, Model] = {}
    for given in paths:
        root = Path(given)
        if root.is_dir():
            files = sorted(
                file for file in root.rglob("*") if file.suffix in MODEL_SUFFIXES and file.is_file()
            )
            if not files:
                raise UsageError(f"no model in {given}", f"files that count: *{', *'.join(MODEL_SUFFIXES)}")
        elif root.is_file():
            files, root = [root], root.parent
        else:
            raise UsageError(f"cannot read {given}: no such file or folder")
        for file in files:
            name = str(file.relative_to(root))
            if name in found and found[name].path != str(file.absolute()):
                name = str(file)
            found[name] = Model(name, str(file.absolute()), digest_of_file(file), file.stat().st_size)
    return [found[name] for name in sorted(found)]


def broken_links(paths: Iterable[str]) -> list[str]:
    """The links below the folders at ``paths`` that are named as models and lead to no file; sorted."""
    links = (link for given in paths for link in Path(given).rglob("*") if link.suffix in MODEL_SUFFIXES)
    return sorted({str(link) for link in links if link.is_symlink() and not os.path.exists(link)})


def matrix(
    models: Sequence[Model],
    targets: Sequence[str],
    environments: Sequence[Environment],
    options: Sequence[tuple[str, ...]],
) -> list[Cell]:
    """Every combination once, model by model. Raises UsageError for an unknown target."""
    names = list(dict.fromkeys(find_target(name).name for name in targets))
    cells = [
        Cell(*parts) for parts in product(models, names, environments, list(dict.fromkeys(options)) or [()])
    ]
    return list({cell.key + cell.label: cell for cell in cells}.values())


def digest_of_file(file: Path) -> str:
    digest = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    return digest.hexdigest()
