"""What the storage guard claims, held against an oracle over random programs: no miss, no false alarm, the same numbers.

    python -m bench.storage.storage_fuzz [--programs 1000] [--first 0] [--calls 6] [--show 3]

Programs are drawn with fixed seeds (`tests/py/shared/storage/storage_fuzz_programs.py` and the steps beside it), guarded, compiled for
llvm-cpu and called with sizes and indices below, at and above what fits. A call that the oracle refuses must fail, any
other must give NumPy's numbers; a refuted program must be wrong for every call; in the program as IREE schedules it, no
dispatch comes before its check. Each batch has a child process: a crash is counted and named, apart from those that
stock's compiler has on the same program.
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "py" / "shared" / "storage"))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first program's number, and seed")
    parser.add_argument("--calls", type=int, default=6)
    parser.add_argument("--show", type=int, default=3, help="failures of each kind to print")
    chosen = parser.parse_args(argv)
    from storage_fuzz_batches import Outcome, check_batch

    shown: dict[str, int] = {}
    total = Outcome()
    step = 20
    for begin in range(chosen.first, chosen.first + chosen.programs, step):
        outcome = check_batch(begin, min(step, chosen.first + chosen.programs - begin), chosen.calls)
        total.add(outcome)
        for kind, call, message, program in outcome.failures:
            shown[kind] = shown.get(kind, 0) + 1
            if shown[kind] <= chosen.show:
                print(f"-- {kind}\n{call}\n{message[-800:]}\n{program}\n", flush=True)
        print(
            f"{begin + step - chosen.first} programs, {len(total.failures)} failures",
            file=sys.stderr,
            flush=True,
        )
    print(f"{chosen.programs} programs from {chosen.first} on, {_seconds():.0f} s of processor time")
    for what, count in sorted(total.counts.items()):
        print(f"  {what:<60} {count}")
    for crash in total.stock_crashes:
        print(f"  stock's compiler crashes too: {crash}")
    return 1 if total.failures else 0


def _seconds() -> float:
    """Processor time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(row.ru_utime + row.ru_stime for row in used)


if __name__ == "__main__":
    sys.exit(main())
