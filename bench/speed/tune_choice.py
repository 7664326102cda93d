"""Is the model's choice of a repair as fast as the best repair that passes? Both measured, by `fissile compile --tune`.

    python -m bench.speed.tune_choice FOLDER --target llvm-cpu|vulkan|vulkan-matched
        [--sample N --seed S] [--only REGEX] [--max-macs N] [--repeats N] [--most X] [--flag=FLAG …] [--json FILE]

Programs are drawn in a seeded order until N of them had a choice: two or more programs that pass every check. The
candidates are timed in turns on the runtime that is present, and a candidate's best round counts, since load only
ever adds time. The ratio is by processor time: these runtimes compute on the host's processors, and the clock of a
shared machine measures the others as well; the ratio by the clock stands beside it. Where the model's choice takes more
than --most (default 1.2) times the best, all are timed again, up to --repeats times (default 3), and the best of all
rounds counts. Exit status 1 where one is beyond --most still.

On llvm-cpu with --fusion=tune; ``vulkan-matched`` is the default Vulkan target with --match-device=vulkan.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.corpus_numerics import TARGETS
from bench.programs.linalg_reference import NotEvaluated, Program
from bench.programs.program_files import drawn, existing, pattern
from fissile.pipelines.process.child import run_child

CHOICE = "the model's choice"
"""What `--tune` calls it (pipelines/repair/loop.py)."""


@dataclass(frozen=True)
class Timed:
    """One program: best seconds by candidate, of the clock and of the processors. ``why``: nothing to compare."""

    program: str
    seconds: dict[str, float]
    processor: dict[str, float] = field(default_factory=dict)
    edits: tuple[str, ...] = ()
    repeats: int = 1
    why: str = ""

    @property
    def ratio(self) -> float:
        """The model's choice by the fastest; 1 where it is the fastest."""
        return self.processor[CHOICE] / min(self.processor.values())

    @property
    def by_the_clock(self) -> float:
        return self.seconds[CHOICE] / min(self.seconds.values())

    def with_more(self, other: Timed) -> Timed:
        def best(mine: dict[str, float], others: dict[str, float]) -> dict[str, float]:
            return {name: min(seconds, others.get(name, seconds)) for name, seconds in mine.items()}

        return Timed(
            self.program,
            best(self.seconds, other.seconds),
            best(self.processor, other.processor),
            self.edits,
            self.repeats + 1,
        )


def measure(program: Path, target: str, flags: list[str], limit: float) -> Timed:
    """One `fissile compile --tune`."""
    how = ["--fusion=tune"] if target == "llvm-cpu" else []
    with tempfile.TemporaryDirectory(prefix="fissile-bench-") as folder:
        ended = run_child(
            [
                str(Path(sys.executable).parent / "fissile"),
                "compile",
                *TARGETS[target][1],
                *how,
                *flags,
                "--tune",
                "--format=json",
                str(program),
                "-o",
                str(Path(folder, "out.vmfb")),
            ],
            limit,
        )
    if "{" not in ended.out:
        return Timed(program.stem, {}, why=ended.reason or f"exit {ended.status}: {ended.err[:200]}")
    report = json.loads(ended.out[ended.out.index("{") :])
    if ended.status != 0:
        return Timed(program.stem, {}, why=f"refused: {report['findings'][0]['code']}")
    tuned = report["facts"].get("tuned", "nothing to repair")
    if not isinstance(tuned, dict):
        return Timed(program.stem, {}, why=tuned)
    seconds = {name: value for name, value in tuned.items() if isinstance(value, float)}
    if CHOICE not in seconds:
        return Timed(program.stem, {}, why=f"the model's choice did not run: {tuned[CHOICE]}")
    return Timed(
        program.stem,
        seconds,
        report["facts"]["tuned_processor"],
        tuple(report["facts"]["edits"]),
        why="" if len(seconds) > 1 else "one ran",
    )


def small_enough(program: Path, most: float) -> bool:
    """Whether the program's loops take at most ``most`` steps, as far as the reference can tell."""
    try:
        return Program(program).work() <= most
    except NotEvaluated:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=existing)
    parser.add_argument("--target", choices=TARGETS, default="llvm-cpu")
    parser.add_argument("--sample", type=int, default=0, help="stop after that many programs with a choice")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=pattern, default="", help="regular expression on the program's name")
    parser.add_argument(
        "--max-macs", type=float, default=math.inf, help="loop iterations above which none runs"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=1.2)
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for one program")
    parser.add_argument("--flag", action="append", default=[], help="added to fissile compile")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[Timed] = []
    reasons: dict[str, int] = {}
    for program in drawn([arguments.folder], arguments.only, arguments.seed):
        if arguments.max_macs < math.inf and not small_enough(program, arguments.max_macs):
            reasons["too large, or unknown to the reference"] = (
                reasons.get("too large, or unknown to the reference", 0) + 1
            )
            continue
        row = measure(program, arguments.target, arguments.flag, arguments.limit)
        while not row.why and row.ratio > arguments.most and row.repeats < arguments.repeats:
            again = measure(program, arguments.target, arguments.flag, arguments.limit)
            if again.why:
                break
            row = row.with_more(again)
        if row.why:
            reasons[row.why] = reasons.get(row.why, 0) + 1
            continue
        rows.append(row)
        shown = "  ".join(f"{name} {seconds * 1e3:.3g} ms" for name, seconds in row.processor.items())
        edits = ", ".join(row.edits) or "no edits"
        print(
            f"{row.program:<28} {row.ratio:5.2f} (clock {row.by_the_clock:.2f}, timed {row.repeats} times)  {shown}   [{edits}]",
            flush=True,
        )
        if arguments.json:
            arguments.json.write_text(json.dumps([asdict(r) for r in rows], indent=1))
        if len(rows) == arguments.sample:
            break
    for why, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print(f"{count} programs without a choice: {why}")
    if not rows:
        return 1
    within = sum(row.ratio <= arguments.most for row in rows)
    worst = max(rows, key=lambda row: row.ratio)
    print(
        f"{arguments.target}: the model's choice is within {arguments.most:g} of the best in {within} of {len(rows)} "
        f"programs, median {statistics.median(r.ratio for r in rows):.2f}, worst {worst.ratio:.2f} ({worst.program})"
    )
    return 0 if within == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
