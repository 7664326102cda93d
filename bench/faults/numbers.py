"""Generated programs through `fissile verify`: the numbers of each runtime present against a reference and NumPy's evaluation."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .generated.families import FAMILIES
from .generated.program import FLOATS, INTEGERS, SIZES, Program
from .results import Row
from .trial import world

SECONDS = 600.0
"""For one program: a compile and a run for each runtime, and the witness."""


def trials(count: int, seed: int) -> Iterator[str]:
    return (f"{seed}-{index}" for index in range(count))


def drawn(trial: str) -> tuple[str, str]:
    """The text of a program of one op of a family, and the family: the families take turns."""
    draw = random.Random(f"numbers:{trial}")
    family = list(FAMILIES)[int(trial.rpartition("-")[2]) % len(FAMILIES)]
    while True:
        made = Program(draw)
        shape = tuple(draw.choice(SIZES) for _ in range(draw.choice((1, 2, 2, 3))))
        value = made.argument(shape, draw.choice(FLOATS + INTEGERS))
        if FAMILIES[family](made, value) is not None:
            return made.text(), family


def run(trial: str) -> Row:
    """``broken``: numbers that are wrong with no word of it, or fissile failed. ``verdict``: the codes of the findings, or ``agrees``."""
    text, family = drawn(trial)
    with world({}) as here:
        (here.work / "in.mlir").write_text(text)
        words = [
            str(Path(sys.executable).with_name("fissile")),
            "verify",
            "in.mlir",
            "--function=main",
            "--format=json",
        ]
        try:
            ended = subprocess.run(
                words, cwd=here.work, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return {"broken": ["does not end"], "verdict": "does not end", "family": family, "text": text}
    try:
        found = json.loads(ended.stdout)["findings"]
    except (ValueError, KeyError):
        found = [{"code": f"status {ended.returncode}", "message": ended.stderr[-300:], "severity": "error"}]
    codes = sorted({one["code"] for one in found})
    wrong = [code for code in codes if code in BROKEN or code.startswith("status")]
    shown = "; ".join(f"{one['severity']}[{one['code']}] {one['message']}" for one in found)[:600]
    return {"broken": wrong, "verdict": " ".join(codes) or "agrees", "family": family, "message": shown,
            "text": text if codes else ""}  # fmt: skip


BROKEN = ("FIS130", "FIS901", "FIS902", "FIS903")


def table(rows: list[Row]) -> str:
    """How many programs of each family ended how."""
    counts = Counter((row["family"], row["verdict"]) for row in rows)
    return "\n".join(f"{count:6} {family}: {verdict}" for (family, verdict), count in sorted(counts.items()))
