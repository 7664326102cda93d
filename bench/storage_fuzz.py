"""What the storage guard claims, held against an oracle over random programs: no miss, no false alarm, the same numbers.

    python -m bench.storage_fuzz [--programs 1000] [--first 0] [--calls 6] [--show 3]

Programs are drawn with fixed seeds (`tests/py/storage_fuzz_programs.py`, `storage_fuzz_steps.py`), guarded, compiled for llvm-cpu
in batches, and called in this process with sizes and indices below, at and above what fits. A call that the oracle
refuses must fail, any other must give NumPy's numbers; a refuted program must be wrong for every call.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "py"))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first program's number, and seed")
    parser.add_argument("--calls", type=int, default=6)
    parser.add_argument("--show", type=int, default=3, help="failures of each kind to print")
    chosen = parser.parse_args(argv)
    from storage_fuzz import Fuzz

    started, shown = time.process_time(), {}
    fuzz = Fuzz()
    step = 20
    for begin in range(chosen.first, chosen.first + chosen.programs, step):
        seen = len(fuzz.failures)
        fuzz.run(min(step, chosen.first + chosen.programs - begin), chosen.calls, begin)
        for kind, call, message, program in fuzz.failures[seen:]:
            shown[kind] = shown.get(kind, 0) + 1
            if shown[kind] <= chosen.show:
                print(f"-- {kind}\n{call}\n{message[-800:]}\n{program}\n", flush=True)
        print(f"{begin + step - chosen.first} programs, {len(fuzz.failures)} failures", file=sys.stderr, flush=True)
    print(f"{chosen.programs} programs from {chosen.first} on, {time.process_time() - started:.0f} s of processor time")
    for what, count in sorted(fuzz.counts.items()):
        print(f"  {what:<60} {count}")
    return 1 if fuzz.failures else 0


if __name__ == "__main__":
    sys.exit(main())
