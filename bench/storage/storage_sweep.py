"""Every violation is caught and no legal call is refused: random programs, guarded, against a Python
oracle.

    python -m bench.storage.storage_sweep [--programs 500] [--device local-task|vulkan] [--calls 8]

Each program is guarded, compiled in one process with one session, and called with sizes below, at and
above its capacities. A refuted program must fail for every call, and its counterexample must break
it; an accepted one must fail for exactly the calls that the oracle says violate, and give the
oracle's numbers for the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "py" / "shared" / "storage"))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--calls", type=int, default=8)
    parser.add_argument("--device", default="local-task", choices=("local-task", "vulkan"))
    chosen = parser.parse_args(argv)
    from storage_sweep import Sweep

    started = time.monotonic()
    sweep = Sweep(chosen.device)
    sweep.run(chosen.programs, chosen.calls)
    print(f"{sweep.programs} programs on {chosen.device} in {time.monotonic() - started:.0f} s")
    for what, count in sorted(Counter(sweep.counts).items()):
        print(f"  {what:<44} {count}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
