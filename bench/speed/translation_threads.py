"""How many of IREE's threads translate a program's executables: the share of the busiest, by processor time.

    python -m bench.speed.translation_threads [--dispatches 12] [--rounds 5]

A share near 1 is a translation on one core, near 0.5 one on two. Processor time of each thread is read before and after the phase, so a
busy machine does not blur it. Rows: the phase as it is; after code generation of one dispatch in the same context (a probe); with a thread
pool that was made just before. Each round is a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.faults.growth import program
from bench.table.paired import as_installed
from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

FORMS = ("as it is", "after a probe", "fresh pool")
_HERE = "--here"


def seconds_by_thread() -> dict[str, float]:
    """Processor seconds of each thread of this process (Linux)."""
    tasks = Path("/proc/self/task")
    return {t.name: int((t / "schedstat").read_text().split()[0]) / 1e9 for t in tasks.iterdir()}


def share_here(form: str, source: str) -> float:
    """The busiest thread's share of the phase that translates ``source``, in this process."""
    from fissile.passes.iree.late_imports import load_late

    load_late()
    from iree.compiler import ir

    from fissile.passes.analysis.dispatch.dispatches import dispatches
    from fissile.pipelines.probe.one_dispatch import probe
    from fissile.pipelines.session import Session

    session = Session(flags_for(find_target("gfx942")))
    module = session.parse(source)
    session.run(module, "executable-configurations")
    if form == "after a probe":
        probe(dispatches(module.op)[0])
    pool = ir.ThreadPool() if form == "fresh pool" else None
    if pool is not None:
        session.context.set_thread_pool(pool)
    before = seconds_by_thread()
    session.run(module, "executable-targets")
    spent = [seconds - before.get(thread, 0.0) for thread, seconds in seconds_by_thread().items()]
    return max(spent) / sum(spent)


def main() -> int:
    if sys.argv[1:2] == [_HERE]:
        print(share_here(*sys.argv[2:]), flush=True)
        os._exit(0)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dispatches", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "many.mlir")
        source.write_text(program(arguments.dispatches, True), encoding="utf-8")
        shares: dict[str, list[float]] = {form: [] for form in FORMS}
        for _ in range(arguments.rounds):
            for form in FORMS:
                words = [sys.executable, "-m", "bench.speed.translation_threads", _HERE, form, str(source)]
                ended = subprocess.run(words, capture_output=True, text=True, check=True, env=as_installed())
                shares[form].append(float(ended.stdout))
    for form, found in shares.items():
        alone = sum(share > 0.8 for share in found)
        print(
            f"{form:<14} on one thread in {alone} of {len(found)} runs: {' '.join(f'{s:.2f}' for s in found)}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
