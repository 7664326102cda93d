"""The results file: one JSON line for each trial, so that a run that was cut off goes on where it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

Row = dict[str, object]
"""`mode`, `trial` (its name within the mode), `broken` (promises not kept, as short words), and what the mode adds."""


def read(file: Path) -> list[Row]:
    """The rows of ``file``; a last line that was cut off is left out."""
    if not file.exists():
        return []
    rows = []
    for line in file.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def run_trials(file: Path, mode: str, trials: Iterable[str], run: Callable[[str], Row]) -> list[Row]:
    """Runs the ``trials`` that ``file`` lacks, in order, and returns the rows of all of them."""
    done = {row["trial"]: row for row in read(file) if row["mode"] == mode}
    rows = []
    for trial in trials:
        if trial not in done:
            done[trial] = {"mode": mode, "trial": trial, **run(trial)}
            with file.open("a") as out:
                out.write(json.dumps(done[trial]) + "\n")
        rows.append(done[trial])
    return rows


def summary(rows: Iterable[Row]) -> str:
    """A table: mode, trials, those that keep every promise, and what the others broke."""
    rows = list(rows)
    lines = ["| mode | trials | kept | broken |", "|---|---|---|---|"]
    for mode in dict.fromkeys(row["mode"] for row in rows):
        own = [row for row in rows if row["mode"] == mode]
        broken = Counter(word for row in own for word in row["broken"])
        counts = ", ".join(f"{count} {word}" for word, count in sorted(broken.items())) or "0"
        programs = sum(row.get("programs", 1) for row in own)
        lines.append(
            f"| {mode} | {programs} | {programs - sum(broken.values()) if programs > len(own) else sum(not row['broken'] for row in own)} | {counts} |"
        )
    return "\n".join(lines)
