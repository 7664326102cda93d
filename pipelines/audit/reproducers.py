"""A standalone program for each op that IREE refuses, as files."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path
from typing import cast

from fissile.errors import UsageError
from fissile.report import Report

from ..process.atomic_write import write_atomically


def write_reproducers(folder: str, report: Report) -> list[dict]:
    """Writes them to ``folder``, which is made; returns file, op and command of each. Raises UsageError."""
    written: list[dict] = []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to --reproducers={folder}: {error.strerror}") from None
    for target in cast(list[dict], report.facts.get("audit", [])):
        for number, op in enumerate([*target["ops"], *([target["part"]] if target["part"] else [])]):
            if op["program"]:
                name = re.sub(
                    r"[^\w.-]+", "_", f"{target['target']}-{number}-{op['op'].rpartition(', ')[2]}.mlir"
                )
                file = Path(folder, name)
                command = shlex.join(["iree-compile", *target["flags"], str(file), "-o", "/dev/null"])
                text = f"// {op['op']}: IREE stops before phase {op['phase']}\n// {command}\n{op['program']}"
                write_atomically(file, partial(_write, text))
                written.append({"file": str(file), "op": op["op"], "command": command})
    return written


def _write(text: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
