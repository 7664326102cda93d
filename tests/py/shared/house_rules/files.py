"""A file is short and named by what it decides; a folder is a room, not a hall."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .source_tree import Module

EMPTY_NAMES = {
    "common",
    "handler",
    "handlers",
    "helper",
    "helpers",
    "manager",
    "managers",
    "misc",
    "util",
    "utils",
}
LONGEST_FILE = 400
MOST_MODULES = 15


def empty_names(modules: list[Module]) -> list[str]:
    return [
        f"{m.path}: '{part}' says nothing about what it decides"
        for m in modules
        for part in Path(m.path).with_suffix("").parts
        if part in EMPTY_NAMES
    ]


def long_files(modules: list[Module]) -> list[str]:
    return [f"{m.path}: {m.lines} lines, {LONGEST_FILE} allowed" for m in modules if m.lines > LONGEST_FILE]


def crowded_folders(modules: list[Module]) -> list[str]:
    counts = Counter(str(Path(m.path).parent) for m in modules if not m.is_package)
    return [
        f"{f}: {n} modules, {MOST_MODULES} allowed" for f, n in sorted(counts.items()) if n > MOST_MODULES
    ]
