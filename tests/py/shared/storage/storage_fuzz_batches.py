"""Batches of the storage fuzz, each in a child process: a native crash or a compile that does not end is counted, by
the program's number, and ends only its own batch.

As a script: `storage_fuzz_batches.py FIRST COUNT CALLS [ONLY]` checks one batch, or its program ONLY alone, and writes an
`Outcome` as JSON. The first line of its output names the programs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fissile.pipelines.process.child import Ended, run_child

SECONDS = 1200
"""Time limit of a child. A batch of 20 programs takes about 15 s on an idle core."""
CRASHED = 128
"""`iree-compile` is a script around the native tool: it turns the signal that ended the tool into a status above this."""


@dataclass
class Outcome:
    """``failures`` are (kind, call, message, program); ``stock_crashes`` name programs and how stock's compiler ends."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str, str, str]] = field(default_factory=list)
    stock_crashes: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.counts += other.counts
        self.failures += other.failures
        self.stock_crashes += other.stock_crashes


def check_batch(
    first: int,
    count: int,
    calls: int,
    child: Sequence[str] = (sys.executable, __file__),
    stock_crashes: Callable[[str], str] | None = None,
) -> Outcome:
    """Checks ``count`` programs from seed ``first`` on in a child; where that crashes or runs out of time, each in its own."""
    arguments = [*child, str(first), str(count), str(calls)]
    whole, outcome = run_child(arguments, SECONDS), Outcome()
    if not whole.reason:
        return _reported(whole)
    for number in range(count):
        alone = run_child([*arguments, str(number)], SECONDS)
        if not alone.reason:
            outcome.add(_reported(alone))
            continue
        text = json.loads(alone.out.partition("\n")[0])[0] if "\n" in alone.out else ""
        name = f"p{first + number}"
        if stock := (stock_crashes or stock_crash)(text):
            outcome.counts["programs that crash stock's compiler too"] += 1
            outcome.stock_crashes.append(f"{name} {stock}")
        else:
            outcome.counts["FAILED: crash"] += 1
            outcome.failures.append(
                ("crash", "{}", f"{name} (batch {first}) {alone.reason}\n{alone.err[-600:]}", text)
            )
    return outcome


def stock_crash(text: str) -> str:
    """How stock's compiler crashes on the program, empty where it compiles or refuses it."""
    from storage_fuzz import FLAGS

    with tempfile.TemporaryDirectory(prefix="fissile-fuzz-") as folder:
        path = Path(folder, "program.mlir")
        path.write_text(text)
        compiler = Path(sys.executable).with_name("iree-compile")
        ended = run_child([compiler, path, *FLAGS, "-o", Path(folder, "out.vmfb")], SECONDS)
    if ended.status is not None and ended.status > CRASHED:
        return Ended(ended.status - 256, ended.out, ended.err, ended.seconds).reason
    return ended.reason


def _reported(ended: Ended) -> Outcome:
    if ended.status:
        raise RuntimeError(f"the child failed with status {ended.status}:\n{ended.err[-3000:]}")
    answer = json.loads(ended.out.splitlines()[-1])
    return Outcome(Counter(answer["counts"]), [tuple(row) for row in answer["failures"]])


def _child(first: int, count: int, calls: int, only: int | None = None) -> None:
    from storage_fuzz import Fuzz, drawn_programs

    drawn = drawn_programs(count, calls, first)
    if only is not None:
        drawn = drawn[only : only + 1]
    print(json.dumps([program.text for program in drawn]), flush=True)
    fuzz = Fuzz()
    if drawn:
        fuzz.check(drawn)
    print(json.dumps({"counts": fuzz.counts, "failures": fuzz.failures}), flush=True)


if __name__ == "__main__":
    _child(*map(int, sys.argv[1:]))
