"""Does the code that IREE generates for a GPU compute what each dispatch says? Every program of some folders, on targets that need not be there.

    python -m bench.simulation PATH… --target NAME [--target NAME …] [--only REGEX] [--sample N --seed S] [--timeout SECONDS] [--json FILE]

Each program goes through `fissile check --simulate` in a process of its own. Prints each dispatch that computes otherwise (FIS189), with the other
findings on its program, and at the end a row per target: dispatches that are right, wrong and not simulated, programs that stock IREE refuses and
programs that did not end in --timeout seconds; then why dispatches were not simulated. Exit status 1 where a dispatch is wrong and no other
finding says so, or where no dispatch was simulated at all.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

from bench.programs.program_files import drawn, existing, pattern
from fissile.errors import UsageError
from fissile.pipelines.process.child import module_command, run_child
from fissile.pipelines.targets import resolve_target

CODE = "FIS189"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=existing)
    parser.add_argument("--target", action="append", required=True)
    parser.add_argument("--only", type=pattern, default=re.compile(""))
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    for name in args.target:
        try:
            resolve_target(name)
        except UsageError as error:
            parser.error(str(error))
    programs = drawn(args.paths, args.only, args.seed)
    programs = programs[: args.sample] if args.sample else sorted(programs)
    counts = {target: Counter() for target in args.target}
    reasons: Counter[str] = Counter()
    unexplained = 0
    for program in programs:
        for target in args.target:
            unexplained += _one(program, target, args.timeout, counts[target], reasons)
    print(
        f"{'target':<20} {'right':>6} {'wrong':>6} {'not simulated':>14} {'not formed':>11} {'no answer':>10}"
    )
    for target, count in counts.items():
        print(
            f"{target:<20} {count['right']:>6} {count['wrong']:>6} {count['unknown']:>14} {count['not formed']:>11} {count['no answer']:>10}"
        )
    for reason, number in reasons.most_common():
        print(f"{number:>6} {reason}")
    if args.json:
        args.json.write_text(json.dumps({"targets": counts, "reasons": reasons}, indent=2))
    simulated = sum(count["right"] + count["wrong"] for count in counts.values())
    return 1 if unexplained or not simulated else 0


def _one(program: Path, target: str, timeout: float, count: Counter, reasons: Counter[str]) -> int:
    """Enters what one check says; 1 where wrong numbers have no other finding."""
    words = ["check", str(program), f"--target={target}", "--simulate", "--format=json"]
    ended = run_child(module_command("fissile", *words), timeout)
    try:
        report = json.loads(ended.out)
    except ValueError:
        count["no answer"] += 1
        return 0
    simulations = [one["simulation"] for one in report["facts"]["targets"] if "simulation" in one]
    if not simulations:
        count["not formed"] += 1
    for one in simulations:
        count["right"] += one["right"]
        count["wrong"] += one["wrong"]
        count["unknown"] += len(one["unknown"])
        reasons.update(one["unknown"].values())
    codes = {finding["code"] for finding in report["findings"]}
    for finding in report["findings"]:
        if finding["code"] == CODE:
            print(
                f"{program.name} {target} {finding['subject']}: {'; '.join(finding['notes'])} ({', '.join(sorted(codes - {CODE})) or 'alone'})",
                flush=True,
            )
    return int(codes == {CODE})


if __name__ == "__main__":
    sys.exit(main())
