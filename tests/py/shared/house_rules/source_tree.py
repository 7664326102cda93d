"""The modules of a source tree, as they are on disk: names, folders, syntax trees."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]

FOLDERS = {
    "fissile": "fissile",
    "dialect": "fissile.dialect",
    "passes": "fissile.passes",
    "pipelines": "fissile.pipelines",
}
"""Folder -> import package, as `package-dir` in pyproject.toml maps them (test_packaging checks the wheel)."""


@dataclass(frozen=True)
class Module:
    """One source file: ``name`` is its import name, ``path`` is relative to the tree's root."""

    path: str
    name: str
    is_package: bool
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]


def modules_of(root: Path) -> list[Module]:
    """Every Python file of the tree's four folders."""
    found = []
    for folder, package in FOLDERS.items():
        for file in sorted((root / folder).rglob("*.py")):
            parts = [package, *file.relative_to(root / folder).with_suffix("").parts]
            is_package = parts[-1] == "__init__"
            text = file.read_text()
            found.append(
                Module(
                    str(file.relative_to(root)),
                    ".".join(parts[:-1] if is_package else parts),
                    is_package,
                    ast.parse(text, str(file)),
                    text.count("\n"),
                )
            )
    return found


def modules_beside(
    root: Path, folders: tuple[str, ...] = ("tests", "bench", "tools", "examples")
) -> list[Module]:
    """The Python files of folders that are not part of the package; a module's name is its path."""
    found = []
    for folder in folders:
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root)
            text = file.read_text()
            is_package = file.name == "__init__.py"
            name = ".".join((path.parent if is_package else path.with_suffix("")).parts)
            found.append(Module(str(path), name, is_package, ast.parse(text, str(file)), text.count("\n")))
    return found
