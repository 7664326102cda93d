"""What command lines say of programs: files of MLIR to read, and the folder that a module writes its own to."""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def existing(text: str) -> Path:
    """The path that ``text`` names, as argparse's type; one that is not there is a usage error."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return path


def pattern(text: str) -> re.Pattern[str]:
    """The regular expression ``text``, as argparse's type; one that is none is a usage error."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"no regular expression: {text} ({error})") from None


def drawn(paths: Sequence[Path], only: str | re.Pattern[str], seed: int) -> list[Path]:
    """The programs that ``paths`` name, files or folders of them, whose names match ``only``: in an order that ``seed`` gives."""
    found = [p for path in paths for p in (sorted(path.glob("*.mlir")) if path.is_dir() else [path])]
    found = [p for p in found if re.search(only, p.stem)]
    random.Random(seed).shuffle(found)
    return found


def write_programs(manual: str, programs: Mapping[str, str]) -> int:
    """Writes name -> MLIR text into the folder that the command line names, made where it is missing; the exit status.

    Prints ``manual`` and answers 2 where no folder is named.
    """
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(manual)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in programs.items():
        (folder / f"{name}.mlir").write_text(text)
    return 0
