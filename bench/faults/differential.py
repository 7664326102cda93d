"""Generated programs through fissile and through stock: the same bytes, or a finding."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .generated import program
from .results import Row
from .trial import world

BATCH = 20
"""Programs of one trial: they share a process, which takes as long to start as a few programs take to compile."""
TARGETS = {
    "llvm-cpu": ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"],
    "vulkan": ["--iree-hal-target-device=vulkan"],
    "gfx942": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
}
SECONDS = 120.0
"""For one program, both compiles together."""
_ROOT = Path(__file__).resolve().parents[2]


def trials(count: int, seed: int) -> Iterator[str]:
    return (f"{seed}-{index}" for index in range((count + BATCH - 1) // BATCH))


def drawn(trial: str, number: int) -> tuple[str, str, list[str]]:
    """Program ``number`` of a trial: its target, its text and the kinds of its ops."""
    draw = random.Random(f"differential:{trial}:{number}")
    target = draw.choice(list(TARGETS))
    return target, *program(draw)


def run(trial: str) -> Row:
    """``verdicts``: how many programs ended how. ``broken``: fissile failed, or changed or refused a program without a finding of its own."""
    with world({}) as here:
        results = _child(trial, range(BATCH), here.work)
        for number in range(BATCH):  # a crash or a hang in the shared process: each of the rest by itself
            if number not in results:
                results |= _child(trial, [number], here.work)
            if number not in results:
                results[number] = _alone(trial, number, here.work)
    verdicts = Counter(verdict for verdict, _more in results.values())
    wrong = {number: more for number, (verdict, more) in results.items() if verdict in BROKEN}
    programs = {
        str(number): {"message": more, "target": drawn(trial, number)[0], "text": drawn(trial, number)[1]}
        for number, more in wrong.items()
    }
    kinds = Counter(kind for number in range(BATCH) for kind in drawn(trial, number)[2])
    return {"broken": [results[number][0] for number in wrong], "programs": BATCH, "verdicts": dict(verdicts), "kinds": dict(kinds), "wrong": programs,
            "message": "; ".join(map(str, wrong.values()))[:300]}  # fmt: skip


BROKEN = ("internal error", "changed without a finding", "refused for no reason", "ends the process")


def _child(trial: str, numbers, folder: Path) -> dict[int, tuple[str, str]]:
    """What a child process says of the programs ``numbers``, as far as it gets."""
    file = folder / "verdicts"
    file.write_text("")
    words = [sys.executable, "-m", "bench.faults.compared", trial, str(file), *map(str, numbers)]
    process = subprocess.Popen(words, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               env=os.environ | {"TMPDIR": str(folder)})  # fmt: skip
    try:
        process.wait(SECONDS * len(list(numbers)))
    except subprocess.TimeoutExpired:
        pass
    finally:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()
    return {row[0]: (row[1], row[2]) for row in map(json.loads, file.read_text().splitlines())}


def _alone(trial: str, number: int, folder: Path) -> tuple[str, str]:
    """The commands themselves, where the shared process does not survive: fissile has to answer, whatever stock does."""
    target, text, _kinds = drawn(trial, number)
    (folder / "in.mlir").write_text(text)
    words = ["fissile", "compile", *TARGETS[target], "in.mlir", "-o", "out.vmfb", "--dispatch-timeout=20"]
    try:
        ended = subprocess.run(
            [str(Path(sys.executable).with_name("fissile")), *words[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10 * SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "ends the process", "the command does not end"
    if ended.returncode in (0, 1) and "FIS90" not in ended.stderr:
        return "stock crashes or does not end", ended.stderr[:200]
    return "internal error", ended.stderr[:300]


def table(rows: list[Row]) -> str:
    """How many programs ended how, and how often each kind of op was in them."""
    verdicts, kinds = Counter(), Counter()
    for row in rows:
        verdicts.update(row["verdicts"])
        kinds.update(row["kinds"])
    lines = [
        f"{sum(verdicts.values())} programs",
        *(f"{count:6} {name}" for name, count in verdicts.most_common()),
    ]
    return "\n".join([*lines, "ops: " + ", ".join(f"{count} {name}" for name, count in kinds.most_common())])
