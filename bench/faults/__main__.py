"""`python -m bench.faults MODE`: see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import differential, environments, growth, mutations, numbers, planted, results, signals

MODES = {
    "signals": signals,
    "mutations": mutations,
    "environments": environments,
    "planted": planted,
    "differential": differential,
    "growth": growth,
    "numbers": numbers,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("mode", choices=(*MODES, "report"))
    parser.add_argument("files", nargs="*", type=Path, help="results to report")
    parser.add_argument(
        "--count", type=int, default=50, help="how many trials; modes with a fixed list run all of it"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("build/faults.jsonl"),
        help="one JSON line for each trial; what is in it is not run again",
    )
    args = parser.parse_args()
    if args.mode == "report":
        rows = [row for file in args.files or [args.results] for row in results.read(file)]
        for name, mode in MODES.items():
            if hasattr(mode, "table") and (own := [row for row in rows if row["mode"] == name]):
                print(mode.table(own))
    else:
        args.results.parent.mkdir(parents=True, exist_ok=True)
        mode = MODES[args.mode]
        rows = results.run_trials(args.results, args.mode, mode.trials(args.count, args.seed), mode.run)
        if hasattr(mode, "table"):
            print(mode.table(rows))
    print(results.summary(rows))
    for row in rows:
        if row["broken"]:
            print(
                f"{row['mode']} {row['trial']}: {', '.join(row['broken'])}: {row.get('line', '')} {row.get('message', '')[-300:]}".replace(
                    "\n", " | "
                )
            )
    return int(any(row["broken"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
