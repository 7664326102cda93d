"""Generated programs through fissile and through stock: the same bytes, or a finding."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from .generated.random_program import program
from .results import Row
from .trial import world

BATCH = 48
"""Programs of one trial, which is one process."""
MODULE = 8
"""Programs that are the functions of one module: more share a compile, fewer are compiled again where one of them is refused."""
TARGETS = {
    "llvm-cpu": ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"],
    "vulkan": ["--iree-hal-target-device=vulkan"],
    "gfx942": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
}
_TURNS = ("llvm-cpu", "vulkan", "llvm-cpu", "vulkan", "gfx942")
_ENDS = (
    "executable-configurations",
    "executable-configurations",
    "executable-targets",
    "executable-configurations",
    "executable-configurations",
    "end",
)
"""How far: up to what code generation begins with, where fissile has changed all that it changes; through IREE's code generation; or to
the artifact. Code generation and LLVM, which follow on the same module, take most of the time."""
MEMORY = 8 << 30
"""Bytes for one child process."""
SAFETY_NET = 7200.0
"""Seconds of the clock: a child ends by its processor time."""
_ROOT = Path(__file__).resolve().parents[2]


def seconds_for(programs: int) -> int:
    """Of a processor, for all compiles of a module of so many ``programs``."""
    return 60 + 12 * programs


def trials(count: int, seed: int) -> Iterator[str]:
    return (f"{seed}-{index}" for index in range((count + BATCH - 1) // BATCH))


def drawn(trial: str) -> tuple[str, str, list[tuple[str, list[str]]]]:
    """The target of a trial, the phase that it goes to, and its programs: text and kinds of ops."""
    index = int(trial.rpartition("-")[2])
    programs = [program(random.Random(f"differential:{trial}:{n}"), f"p{n}") for n in range(BATCH)]
    return _TURNS[index % len(_TURNS)], _ENDS[index % len(_ENDS)], programs


def run(trial: str) -> Row:
    """``verdicts``: how many programs ended how. ``broken``: fissile failed, or changed or refused a program without a finding of its own."""
    target, to, programs = drawn(trial)
    with world({}) as here:
        results = _judged(trial, range(BATCH), here.work)
    wrong = {number: more for number, (verdict, more) in results.items() if verdict in BROKEN}
    kinds = Counter(kind for _text, kinds in programs for kind in kinds)
    return {"broken": [results[number][0] for number in wrong], "programs": BATCH, "target": target, "to": to,
            "verdicts": dict(Counter(verdict for verdict, _more in results.values())), "kinds": dict(kinds),
            "wrong": {str(number): {"message": more, "text": programs[number][0]} for number, more in wrong.items()},
            "message": "; ".join(map(str, wrong.values()))[:300]}  # fmt: skip


BROKEN = ("internal error", "changed without a finding", "refused for no reason", "ends the process")


def _judged(trial: str, numbers: Sequence[int], folder: Path) -> dict[int, tuple[str, str]]:
    """The verdicts on the programs ``numbers``; where the shared process does not survive, in halves, down to one program."""
    results = _child(trial, numbers, folder)
    left = [number for number in numbers if number not in results]
    if not left:
        return results
    if len(numbers) == 1:
        return {numbers[0]: _alone(trial, numbers[0], folder)}
    parts = (left[: len(left) // 2], left[len(left) // 2 :]) if len(left) == len(numbers) else (left,)
    for part in filter(None, parts):
        results |= _judged(trial, part, folder)
    return results


def _child(trial: str, numbers: Sequence[int], folder: Path) -> dict[int, tuple[str, str]]:
    """What a child process says of the programs ``numbers``, as far as it gets."""
    file = folder / "verdicts"
    file.write_text("")
    words = [sys.executable, "-m", "bench.faults.compared", trial, str(file), *map(str, numbers)]
    process = subprocess.Popen(words, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               env=os.environ | {"TMPDIR": str(folder)})  # fmt: skip
    try:
        process.wait(SAFETY_NET)
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
    """The command itself, where the shared process does not survive: fissile has to answer, whatever stock does."""
    target, to, programs = drawn(trial)
    (folder / "in.mlir").write_text(programs[number][0])
    words = [
        "compile",
        *TARGETS[target],
        f"--compile-to={to}",
        "in.mlir",
        "-o",
        "out.vmfb",
        "--dispatch-timeout=20",
    ]
    try:
        ended = subprocess.run(
            [str(Path(sys.executable).with_name("fissile")), *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SAFETY_NET,
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
        f"{sum(verdicts.values())} programs in {len(rows)} processes: "
        + ", ".join(
            f"{count} for {target} to {to}"
            for (target, to), count in Counter((row.get("target"), row.get("to")) for row in rows).items()
        ),
        *(f"{count:6} {name}" for name, count in verdicts.most_common()),
    ]
    return "\n".join([*lines, "ops: " + ", ".join(f"{count} {name}" for name, count in kinds.most_common())])
