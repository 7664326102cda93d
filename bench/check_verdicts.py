"""Is `fissile check`'s verdict stock IREE's? Every program of a folder, on every target, both run as processes of their own.

    python -m bench.check_verdicts FOLDER [--target NAME …] [--stock FILE …] [--sample N] [--probe auto|all|never] [--timeout SECONDS]

One row per target: programs; refusals of stock's that check reports as errors; programs that stock builds and check finds clean; those that
stock builds wrong by check's account (no refusal to compare with); false "fits"; false alarms. Each of the last two is listed. --stock
reads verdicts that were saved, instead of compiling: JSON or JSON lines with `name` or `prog`, `target` and `stock`, which is a
boolean or starts with an exit status. The last columns are processor seconds. Exit status 1 where a verdict is false.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bench.programs.program_files import existing
from fissile.effect import Effect
from fissile.pipelines.iree.targets import flags_for
from fissile.pipelines.targets import resolve_target

TARGETS = ("gfx942", "sm_86", "vulkan", "llvm-cpu")
SAID, CLEAN, BUILT_WRONG, FALSE_FITS, FALSE_ALARM = (
    "refused, said so",
    "builds, clean",
    "builds, wrong",
    "false fits",
    "false alarm",
)
COLUMNS = (SAID, CLEAN, BUILT_WRONG, FALSE_FITS, FALSE_ALARM)


def processor_seconds(command: list[str], timeout: float) -> tuple[subprocess.CompletedProcess | None, float]:
    """The command's end (None: it took too long) and the processor seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limited = ["timeout", "--kill-after=1", str(timeout), *command]
    ended = subprocess.run(limited, capture_output=True, text=True, errors="replace", check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return None if ended.returncode in (124, 137) else ended, used


def saved(files: list[Path]) -> dict[tuple[str, str], bool]:
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


def stock_builds(program: Path, target: str, timeout: float) -> tuple[bool, float]:
    compiler = str(Path(sys.executable).with_name("iree-compile"))
    ended, used = processor_seconds(
        [compiler, *flags_for(resolve_target(target)), str(program), "-o", "/dev/null"], timeout
    )
    return ended is not None and ended.returncode == 0, used


def verdict(builds: bool, status: int, findings: list[dict]) -> str:
    """Which column a program belongs to; ``findings`` as JSON."""
    errors = [f for f in findings if f["severity"] == "error"]
    if not builds:
        return SAID if status == 1 and any(not Effect(f["effect"]).is_built for f in errors) else FALSE_FITS
    if status == 0:
        return CLEAN
    return (
        BUILT_WRONG
        if errors and all(Effect(f["effect"]).is_built or f["effect"] == Effect.OVERRUN.value for f in errors)
        else FALSE_ALARM
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=existing)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--stock", action="append", default=[], type=Path)
    parser.add_argument(
        "--sample", type=int, default=0, help="so many programs of each target, by a fixed seed"
    )
    parser.add_argument("--probe", default="auto")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds of one program")
    arguments = parser.parse_args()
    programs = sorted(arguments.folder.glob("*.mlir"))
    known, false = saved(arguments.stock), 0
    print(
        f"{'target':<14}{'programs':>9}"
        + "".join(f"{name:>18}" for name in COLUMNS)
        + f"{'stock s':>10}{'check s':>10}",
        flush=True,
    )
    for target in arguments.target or TARGETS:
        chosen = [p for p in programs if not known or (p.stem, target) in known]
        if arguments.sample:
            chosen = sorted(random.Random(target).sample(chosen, min(arguments.sample, len(chosen))))
        counts, listed, seconds = Counter(), [], [0.0, 0.0]
        for program in chosen:
            if (program.stem, target) in known:
                builds = known[program.stem, target]
            else:
                builds, used = stock_builds(program, target, arguments.timeout)
                seconds[0] += used
            ended, used = processor_seconds(
                [
                    sys.executable,
                    "-m",
                    "fissile.cli.main",
                    "check",
                    str(program),
                    "--target",
                    target,
                    "--format",
                    "json",
                    "--probe",
                    arguments.probe,
                ],
                arguments.timeout,
            )
            seconds[1] += used
            try:
                findings = json.loads(ended.stdout)["findings"] if ended is not None else []
                column = verdict(builds, ended.returncode if ended else 124, findings)
            except ValueError:
                findings, column = [], FALSE_ALARM if builds else FALSE_FITS
            counts[column] += 1
            if column in (FALSE_FITS, FALSE_ALARM):
                codes = sorted({f["code"] for f in findings if f["severity"] == "error"})
                status = "no answer in time" if ended is None else f"exit {ended.returncode}"
                listed.append(
                    f"    {column}: {program.stem} {status} {' '.join(codes)} {ended.stderr.strip()[:200] if ended else ''}".rstrip()
                )
        false += counts[FALSE_FITS] + counts[FALSE_ALARM]
        compiled = f"{seconds[0]:10.1f}" if seconds[0] else f"{'-':>10}"
        print(
            f"{target:<14}{len(chosen):>9}"
            + "".join(f"{counts[name]:>18}" for name in COLUMNS)
            + compiled
            + f"{seconds[1]:10.1f}",
            flush=True,
        )
        print("\n".join(listed), end="\n" if listed else "", flush=True)
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
