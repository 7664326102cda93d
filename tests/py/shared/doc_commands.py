"""The code blocks of a Markdown page, and how a test runs them.

A block of `sh` is a list of commands, one of `console` has each behind `$ ` and its output below, one of `python` is a program. A comment
before the block says what is special: `<!-- run: no, WHY -->`, `<!-- run: needs MODULE, MODULE -->`, or `<!-- run: file NAME -->` for one that
a reader saves under that name. A command ends with status 0, or with
what its comment says (`# … exit status 1`). Of an output, the parts between lines `…` have to occur in that order; blanks and line breaks do
not count.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN = ("sh", "console", "python")
_BLOCK = re.compile(
    r"^(?:<!-- run: (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
_STATUS = re.compile(r"#.*exit status (\d+)\s*$")
LIMIT = 600
"""Seconds after which a command of a page is ended: a net, far above what any of them takes."""


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    mark: str
    line: int

    @property
    def runs(self) -> bool:
        return self.language in RUN and not self.mark.startswith(("no,", "file "))

    @property
    def file(self) -> str:
        """The name under which a reader saves it; empty for what is run."""
        return self.mark.removeprefix("file ") if self.mark.startswith("file ") else ""

    @property
    def needs(self) -> list[str]:
        return self.mark.removeprefix("needs ").split(", ") if self.mark.startswith("needs ") else []


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [
        Block(found["language"], found["text"], found["mark"] or "", text.count("\n", 0, found.start()) + 1)
        for found in _BLOCK.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """(command, the output that the page shows below it) of a block of `sh` or `console`."""
    text = block.text.replace("\\\n", " ")
    if block.language == "sh":
        yield from ((line, "") for line in text.splitlines() if line.strip() and not line.startswith("#"))
        return
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def follow(text: str, folder: Path) -> int:
    """What a reader of the page does: saves its files and runs its blocks in ``folder``, in order; returns how many were run."""
    ran = 0
    for block in blocks(text):
        if block.file:
            (folder / block.file).write_text(block.text)
        elif block.runs and all(importlib.util.find_spec(name.split(".")[0]) for name in block.needs):
            run(block, folder)
            ran += 1
    return ran


def run(block: Block, folder: Path) -> None:
    """Runs the block in ``folder``; an AssertionError shows the command with what it printed."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    if block.language == "python":
        todo = [([sys.executable, "-c", block.text], 0, "")]
    else:
        todo = [
            (["bash", "-c", command], int(match[1]) if (match := _STATUS.search(command)) else 0, output)
            for command, output in commands(block)
        ]
    for words, status, shown in todo:
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
        )
        printed = done.stdout + done.stderr
        assert done.returncode == status, (
            f"{words[-1]}\nended with {done.returncode}, not {status}:\n{printed}"
        )
        missing = missing_part(shown, printed)
        assert missing is None, f"{words[-1]}\nprinted:\n{printed}\nand not, in this order:\n{missing}"


def missing_part(shown: str, printed: str) -> str | None:
    """The first part of ``shown`` that ``printed`` does not have behind the part before; None where it has all."""
    rest = "".join(printed.split())
    for part in re.split(r"^\s*…\s*$", shown, flags=re.M):
        found = [re.escape("".join(piece.split())) for piece in part.split("…")]
        match = re.search(".*?".join(found), rest)
        if match is None:
            return part
        rest = rest[match.end() :]
    return None
