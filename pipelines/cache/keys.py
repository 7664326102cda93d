"""What an answer depends on, as the key that it is kept under: IREE, fissile's own source, the question and the content."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def key_of(question: str, *parts: Any) -> str:
    """The key of ``question`` about ``parts``: plain JSON values, or bytes."""
    digest = hashlib.sha256()
    for part in (question, ours(), *parts):
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return f"{question} {digest.hexdigest()}"


def content_of(file: str | os.PathLike[str]) -> str:
    """The digest of a file's bytes; empty where it cannot be read, or may have no end (a device, a pipe)."""
    if not os.path.isfile(file):
        return ""
    try:
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""


def files_in(words: Iterable[str]) -> list[tuple[str, int, int]]:
    """Path, size and time of every file that a word of a command line names, behind `=` or a comma too."""
    found = []
    for word in words:
        for part in {word, *word.replace(",", "=").split("=")}:
            try:
                known = os.stat(part)
            except (OSError, ValueError):
                continue
            found.append((part, known.st_size, known.st_mtime_ns))
    return sorted(set(found))


@cache
def ours() -> list[Any]:
    """What every answer depends on: IREE's version, Python's, the processor (`host` is one of IREE's targets), and the size and
    time of each of fissile's source files."""
    digest = hashlib.sha256()
    for root in _roots():
        for name, size, changed in sorted(_files(root, root)):
            digest.update(f"{name} {size} {changed}\n".encode())
    return [_compiler(), sys.version, _processor(), digest.hexdigest()]


def _compiler() -> list[list[str | int]]:
    """Version and library of IREE's compiler, by size and time: package metadata takes 20 ms to read."""
    found = find_spec("iree.compiler")
    folders = found.submodule_search_locations or [] if found else []
    files = [
        Path(folder, name) for folder in folders for name in ("version.py", "_mlir_libs/libIREECompiler.so")
    ]
    return [[str(one), one.stat().st_size, one.stat().st_mtime_ns] for one in files if one.exists()]


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace").partition("\n\n")[0]
    except OSError:
        return ""
    rows = (line for line in text.splitlines() if not line.startswith(("cpu MHz", "bogomips", "processor")))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _roots() -> list[str]:
    """The folders that fissile's packages are in: one where it is installed, four in a clone."""
    found = map(find_spec, ("fissile", "fissile.dialect", "fissile.passes", "fissile.pipelines"))
    return sorted(
        {one.submodule_search_locations[0] for one in found if one and one.submodule_search_locations}
    )


def _files(root: str, folder: str) -> list[tuple[str, int, int]]:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() and entry.name != "__pycache__":
                found += _files(root, entry.path)
            elif entry.name.endswith((".py", ".mlir")):
                known = entry.stat()
                found.append((os.path.relpath(entry.path, root), known.st_size, known.st_mtime_ns))
    return found
