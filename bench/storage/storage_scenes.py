"""Programs that are drawn as trees, compiled by the command and called in processes of their own: no miss, no false alarm, no crash.

    python -m bench.storage.storage_scenes [--programs 1000] [--first 0] [--front-end stablehlo] [--show 3]

The second of two generators (the other is `storage_fuzz`): `tests/py/shared/storage_scenes`. A call that the oracle refuses must
fail, any other must give its numbers; where no drawn call breaks a program, no check may be left in it; in the
schedule, no dispatch stands before its check.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "tests" / "py" / "shared"
sys.path[:0] = [str(SHARED / "storage"), str(SHARED / "storage_scenes")]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first program's number, and seed")
    parser.add_argument(
        "--front-end", choices=("stablehlo", "tosa", "torch"), help="instead of tensor, linalg, scf and flow"
    )
    parser.add_argument("--batch", type=int, default=40, help="programs compiled together")
    parser.add_argument("--show", type=int, default=3, help="failures of each kind to print")
    chosen = parser.parse_args(argv)
    from scene_program import drawn_scenes
    from scene_runs import Runs
    from scene_torch import STRATEGIES

    strategy = STRATEGIES[chosen.front_end]() if chosen.front_end else None

    runs, shown = Runs(), Counter()
    for begin in range(chosen.first, chosen.first + chosen.programs, chosen.batch):
        known = len(runs.failures)
        runs.check(drawn_scenes(begin, min(chosen.batch, chosen.first + chosen.programs - begin), strategy))
        for failure in runs.failures[known:]:
            shown[failure.kind] += 1
            if shown[failure.kind] <= chosen.show:
                print(failure, flush=True)
        print(
            f"{begin + chosen.batch - chosen.first} programs, {len(runs.failures)} failures",
            file=sys.stderr,
            flush=True,
        )
    for scene, said in runs.idle:
        print(f"-- a check that no drawn call breaks: {scene.name}\n{chr(10).join(said)}\n{scene.text}\n")
    for what, count in sorted(runs.counts.items()):
        print(f"  {what:<60} {count}")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
