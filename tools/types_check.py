"""mypy over the package, whose folders lie beside each other and are one package only when installed.

python tools/types_check.py            # make types; exit status 1 with mypy's errors
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def lay_out(folder: Path) -> None:
    """Links the folders as `package-dir` in pyproject.toml maps them."""
    package = folder / "fissile"
    package.mkdir()
    for part in (*(ROOT / "fissile").iterdir(), ROOT / "dialect", ROOT / "passes", ROOT / "pipelines"):
        if part.name != "__pycache__":
            (package / part.name).symlink_to(part)


def check() -> subprocess.CompletedProcess:
    """Runs mypy; what it has learnt is kept in .mypy_cache."""
    with tempfile.TemporaryDirectory(prefix="fissile-types-") as folder:
        lay_out(Path(folder))
        command = [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / ".mypy_cache"), "-p", "fissile"]
        return subprocess.run(
            [*command, "--config-file", str(ROOT / "pyproject.toml")],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )


def strictly(folder: Path, files: Sequence[Path]) -> subprocess.CompletedProcess:
    """mypy --strict on ``files`` alone; ``folder`` is laid out. What they import is read and not checked."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--ignore-missing-imports"]
    command += ["--follow-imports=silent", "--cache-dir", str(ROOT / ".mypy_cache")]
    return subprocess.run(
        [*command, *map(str, files)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"MYPYPATH": str(folder)},
    )


def main() -> int:
    done = check()
    print(done.stdout + done.stderr, end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
