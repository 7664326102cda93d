"""Which fissile this is, to the byte: a result of other sources is not the same result."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("fissile", "fissile.dialect", "fissile.passes", "fissile.pipelines")


@cache
def digest_of_sources() -> str:
    """Sixteen hex digits of the SHA-256 over fissile's own Python files, the same wherever they are installed."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        spec = find_spec(package)
        for folder in spec.submodule_search_locations or () if spec else ():
            for file in sorted(Path(folder).rglob("*.py")):
                digest.update(f"{package}/{file.relative_to(folder).as_posix()}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
