"""Which fissile this is, to the byte: a result of other sources is not the same result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("fissile", "fissile.dialect", "fissile.passes", "fissile.pipelines")


@cache
def digest_of_sources() -> str:
    """Sixteen hex digits of the SHA-256 over fissile's own Python files, the same wherever they are installed."""
    specs = {package: find_spec(package) for package in PACKAGES}
    return digest_of(
        {
            package: [Path(folder) for folder in spec.submodule_search_locations or ()]
            for package, spec in specs.items()
            if spec
        }
    )


def digest_of(packages: Mapping[str, Iterable[Path]]) -> str:
    """``packages``: name -> folders. One folder lies in another once it is installed, beside it in a checkout: a file counts once."""
    files = {
        f"{package.replace('.', '/')}/{file.relative_to(folder).as_posix()}": file
        for package, folders in packages.items()
        for folder in folders
        for file in folder.rglob("*.py")
    }
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\n".encode())
        digest.update(files[name].read_bytes())
    return digest.hexdigest()[:16]
