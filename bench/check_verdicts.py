"""Is `fissile check`'s verdict stock IREE's? Every program of a folder, on every target, both run as processes of their own.

    python -m bench.check_verdicts FOLDER [--target NAME …] [--only REGEX] [--stock FILE …] [--results FILE [--again]]
                                   [--sample N] [--probe auto|all|never] [--timeout SECONDS]

One check a program answers for all its targets. At the end a row per target: programs; refusals of stock's that check reports as
errors; programs that stock builds and check finds clean; those that stock builds wrong by check's account (no refusal to compare with);
false "fits"; false alarms; inputs that check declines (exit status 2: a module that has executables already); pairs that were not
compared, since the clock's limit ended one of the two: a busy machine is no verdict.
What takes more than --timeout of the processor is one: it does not end. The false ones, and those that were not compared, are listed. The last columns are processor
seconds, of rows that were measured.

--results FILE keeps a JSON line per program and target; a run that was stopped goes on where it was, and what was not compared is
run again. --again checks the false ones of FILE anew, with stock's answers as they are. --stock reads stock's answers that were saved elsewhere: JSON or JSON lines with
`name` or `prog`, `target` and `stock`, which is a boolean or starts with an exit status. Exit status 1 where a verdict is false.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.programs.program_files import existing, pattern
from fissile.effect import Effect
from fissile.errors import ExitCode
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.targets import resolve_target

TARGETS = ("gfx942", "sm_86", "vulkan", "llvm-cpu")
SAID, CLEAN, BUILT_WRONG, FALSE_FITS, FALSE_ALARM, DECLINED, NOT_COMPARED = (
    "refused, reported",
    "builds, clean",
    "builds, wrong",
    "false fits",
    "false alarm",
    "declined",
    "not compared",
)
COLUMNS = (SAID, CLEAN, BUILT_WRONG, FALSE_FITS, FALSE_ALARM, DECLINED, NOT_COMPARED)
USAGE = f"exit {ExitCode.USAGE.value} "
FALSE = (FALSE_FITS, FALSE_ALARM)
ELAPSED_PER_PROCESSOR = 8
"""On a machine that others use, a second of the processor takes so many of the clock at most."""
OUT_OF_PROCESSOR_TIME = -signal.SIGXCPU


class Results:
    """A row per program and target, kept in a file where there is one; the last row of a pair counts."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        lines = file.read_text().splitlines() if file and file.exists() else []
        self.rows = {(row["name"], row["target"]): row for row in map(json.loads, lines)}

    def add(self, row: dict) -> None:
        self.rows[row["name"], row["target"]] = row
        if self._file:
            with self._file.open("a") as sink:
                sink.write(json.dumps(row) + "\n")


class EndedByClock(Exception):
    """A command was ended by the clock, before it had used its processor seconds."""


def processor_seconds(
    command: Sequence[str], limit: float
) -> tuple[subprocess.CompletedProcess | None, float]:
    """The command's end and the processor seconds of it and its children; None where a process took more than ``limit`` of them.

    Raises EndedByClock.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bounded = ["timeout", "--kill-after=1", str(ELAPSED_PER_PROCESSOR * limit), *command]
    ended = subprocess.run(
        bounded, capture_output=True, text=True, errors="replace", check=False, preexec_fn=limited
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if ended.returncode in (124, 137):
        raise EndedByClock(f"{command[0]} was ended after {ELAPSED_PER_PROCESSOR * limit:.0f} s")
    return None if ended.returncode == OUT_OF_PROCESSOR_TIME else ended, used


def saved(files: Sequence[Path]) -> dict[tuple[str, str], bool]:
    """(program, target) -> whether stock builds it."""
    verdicts = {}
    for file in files:
        text = file.read_text()
        rows = (
            json.loads(text)
            if text.lstrip().startswith("[")
            else [json.loads(line) for line in text.splitlines()]
        )
        for row in rows:
            stock = row["stock"]
            verdicts[row.get("name") or row["prog"], row["target"]] = (
                stock[0] == 0 if isinstance(stock, list) else bool(stock)
            )
    return verdicts


def stock_builds(program: Path, target: str, limit: float) -> tuple[bool, float]:
    compiler = str(Path(sys.executable).with_name("iree-compile"))
    ended, used = processor_seconds(
        [compiler, *flags_for(resolve_target(target)), str(program), "-o", "/dev/null"], limit
    )
    return ended is not None and ended.returncode == 0, used


def checked(
    program: Path, targets: Sequence[str], probe: str, limit: float
) -> tuple[dict[str, list[dict]] | str, float]:
    """The findings of each target as JSON, or why there are none; and the processor seconds."""
    command = [
        sys.executable,
        "-m",
        "fissile.cli.main",
        "check",
        str(program),
        "--format",
        "json",
        "--probe",
        probe,
    ]
    ended, used = processor_seconds(
        [*command, *(word for name in targets for word in ("--target", name))], limit * len(targets)
    )
    try:
        every = json.loads(ended.stdout)["findings"] if ended is not None else None
    except ValueError:
        return f"exit {ended.returncode} {ended.stderr.strip()[:200]}", used
    if every is None:
        return "no answer in time", used
    return {name: [f for f in every if f["target"] in ("", name)] for name in targets}, used


def verdict(builds: bool, findings: Sequence[dict]) -> str:
    """Which column a program belongs to; ``findings`` as JSON."""
    errors = [f for f in findings if f["severity"] == "error"]
    if not builds:
        return SAID if any(not Effect(f["effect"]).is_built for f in errors) else FALSE_FITS
    if not errors:
        return CLEAN
    return (
        BUILT_WRONG
        if all(Effect(f["effect"]).is_built or f["effect"] == Effect.OVERRUN.value for f in errors)
        else FALSE_ALARM
    )


def judge(
    program: Path,
    targets: Sequence[str],
    builds: Callable[[str], tuple[bool, float]],
    probe: str,
    limit: float,
) -> list[dict]:
    """A row for each of ``targets``."""
    try:
        answers, used = checked(program, targets, probe, limit)
    except EndedByClock as why:
        return [not_compared(program, target, why) for target in targets]
    if isinstance(answers, str) and len(targets) > 1:  # one of them is to blame
        return [row for target in targets for row in judge(program, [target], builds, probe, limit)]
    rows = []
    for target in targets:
        try:
            built, compiled = builds(target)
        except EndedByClock as why:
            rows.append(not_compared(program, target, why))
            continue
        row = {
            "name": program.stem,
            "target": target,
            "stock": built,
            "stock_s": round(compiled, 2),
            "check_s": round(used / len(targets), 2),
        }
        if isinstance(answers, str):
            false = DECLINED if answers.startswith(USAGE) else FALSE_ALARM if built else FALSE_FITS
            row |= {"verdict": false, "codes": [], "message": answers}
        else:
            errors = [f for f in answers[target] if f["severity"] == "error"]
            message = errors[0]["message"][:200] if errors else ""
            row |= {
                "verdict": verdict(built, answers[target]),
                "codes": sorted({f["code"] for f in errors}),
                "message": message,
            }
        rows.append(row)
    return rows


def not_compared(program: Path, target: str, why: EndedByClock) -> dict:
    return {
        "name": program.stem,
        "target": target,
        "stock": None,
        "stock_s": 0.0,
        "check_s": 0.0,
        "verdict": NOT_COMPARED,
        "codes": [],
        "message": str(why),
    }


def show(rows: Sequence[dict]) -> bool:
    """Prints the table; whether no verdict is false."""
    print(
        f"{'target':<14}{'programs':>9}"
        + "".join(f"{name:>18}" for name in COLUMNS)
        + f"{'stock s':>10}{'check s':>10}"
    )
    by_target = defaultdict(list)
    for row in rows:
        by_target[row["target"]].append(row)
    for target, its in by_target.items():
        counts = Counter(row["verdict"] for row in its)
        paired = [row for row in its if row["stock_s"]]
        seconds = "".join(f"{sum(row[key] for row in paired):10.1f}" for key in ("stock_s", "check_s"))
        print(f"{target:<14}{len(its):>9}" + "".join(f"{counts[name]:>18}" for name in COLUMNS) + seconds)
        for row in its:
            if row["verdict"] in (*FALSE, NOT_COMPARED):
                print(
                    f"    {row['verdict']}: {row['name']} {' '.join(row['codes'])} {row['message']}".rstrip()
                )
    return not any(row["verdict"] in FALSE for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=existing)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--only", type=pattern, default="", help="programs whose name matches")
    parser.add_argument("--stock", action="append", default=[], type=Path)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument(
        "--sample", type=int, default=0, help="so many programs, drawn and ordered by a fixed seed"
    )
    parser.add_argument("--probe", default="auto")
    parser.add_argument(
        "--timeout", type=float, default=60.0, help="processor seconds of one program on one target"
    )
    arguments = parser.parse_args()
    targets, known, results = (
        arguments.target or list(TARGETS),
        saved(arguments.stock),
        Results(arguments.results),
    )
    programs = [
        p
        for p in sorted(arguments.folder.glob("*.mlir"))
        if not arguments.only or arguments.only.search(p.stem)
    ]
    if arguments.sample:
        programs = random.Random(0).sample(programs, min(arguments.sample, len(programs)))
    for program in programs:

        def builds(target: str, program: Path = program) -> tuple[bool, float]:
            row = results.rows.get((program.stem, target))
            if row and row["stock"] is not None:
                return row["stock"], row["stock_s"]
            if (answer := known.get((program.stem, target))) is not None:
                return answer, 0.0
            return stock_builds(program, target, arguments.timeout)

        def is_open(target: str, program: Path = program) -> bool:
            row = results.rows.get((program.stem, target))
            if row is None or row["verdict"] == NOT_COMPARED:
                return True
            return arguments.again and row["verdict"] in FALSE

        if wanted := [target for target in targets if is_open(target)]:
            for row in judge(program, wanted, builds, arguments.probe, arguments.timeout):
                results.add(row)
                print(
                    f"{row['verdict']:<18}{row['target']:<14}{row['name']} {' '.join(row['codes'])}".rstrip(),
                    file=sys.stderr,
                    flush=True,
                )
    names = {p.stem for p in programs}
    return (
        0
        if show([row for row in results.rows.values() if row["name"] in names and row["target"] in targets])
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
