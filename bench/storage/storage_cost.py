"""What the storage guard costs at run time: guarded against unguarded, in pairs, in one process.

    python -m bench.storage.storage_cost [--rounds 300] [--only TEXT] [--device local-sync|vulkan] [--networks]

Each program is compiled twice, without and with asserts, and called with legal sizes. A round times both, in
alternating order. The table shows processor time of the process, which a loaded machine stretches less than the clock
(on local-sync that is one thread, on lavapipe all of its threads): the fastest round of each, their ratio, and the
median of the rounds' ratios; and the ratio of the fastest rounds by the clock. Stock's gather checks no index, so the
gather is the price of a check that nobody made before. --networks measures the networks of `token_networks.py`
instead. Exit status: 0 where no program takes more than 1.03 times the processor time, 1 where one does.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import iree.runtime as rt
import numpy as np

from bench.storage.indexed_programs import PROGRAMS
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

FLAGS = {
    "local-sync": [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ],
    "vulkan": ["--iree-hal-target-device=vulkan"],
}
GOAL = 1.03
ROUND_SECONDS = 0.004
"""Short rounds: the fastest of many is one that nothing interrupted."""


def build(session: Session, text: str, path: Path, mode: str) -> int:
    """Compiles ``text`` to ``path``; returns how many asserts the guard added."""
    module = session.run(session.parse_text(text), GUARDED_AT)
    added = guard(module.op, mode).asserts
    session.run(module, "end")
    session.write(module, path)
    return added


def load(path: Path, device: str):
    context = rt.SystemContext(config=rt.Config(device))
    context.add_vm_module(rt.VmModule.copy_buffer(context.instance, path.read_bytes()))
    return context.modules.module["main"], context.config.device


def seconds(function, values: list, repeat: int) -> tuple[float, float]:
    """Processor time and time by the clock of one call. A call returns when its results are there."""
    began, started = time.perf_counter(), time.process_time()
    for _ in range(repeat):
        function(*values)
    return (time.process_time() - started) / repeat, (time.perf_counter() - began) / repeat


def chosen(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, str, list]]:
    if not options.networks:
        yield from ((name, text, values) for name, (text, values) in PROGRAMS.items() if options.only in name)
        return
    from bench.storage.token_networks import NETWORKS, imported

    for name in NETWORKS:
        if options.only in name:
            yield name, *imported(name, folder)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--device", choices=FLAGS, default="local-sync")
    parser.add_argument(
        "--networks", action="store_true", help="networks of token ids, instead of small programs"
    )
    options = parser.parse_args(argv)
    worst = 0.0
    print(
        f"{'program':<32} {'asserts':>7} {'unguarded':>12} {'guarded':>12} {'ratio':>7} {'median':>7} {'clock':>7}"
    )
    with Session(FLAGS[options.device]) as session, tempfile.TemporaryDirectory() as folder:
        for name, text, values in chosen(options, Path(folder)):
            paths = [Path(folder, mode) for mode in ("off", "assert")]
            asserts = [build(session, text, path, path.name) for path in paths]
            ratio, row = measured(paths, values, options)
            worst = max(worst, ratio)
            print(f"{name:<32} {asserts[1]:>7} {row}", flush=True)
    return 0 if worst <= GOAL else 1


def measured(paths: list[Path], values: list, options: argparse.Namespace) -> tuple[float, str]:
    functions = []
    for path in paths:
        function, device = load(path, options.device)
        given = [rt.asdevicearray(device, v) if isinstance(v, np.ndarray) else v for v in values]
        functions.append((function, given))
    repeat = max(1, int(ROUND_SECONDS / seconds(*functions[0], 3)[1]))
    times: list[list[tuple[float, float]]] = [[], []]
    for number in range(options.rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(seconds(*functions[side], repeat))
    median = statistics.median(b[0] / a[0] for a, b in zip(*times, strict=True))
    (off, clock_off), (on, clock_on) = ([min(t[which] for t in side) for which in (0, 1)] for side in times)
    ratio = on / off
    return (
        ratio,
        f"{off * 1e3:>9.4f} ms {on * 1e3:>9.4f} ms {ratio:>7.3f} {median:>7.3f} {clock_on / clock_off:>7.3f}",
    )


if __name__ == "__main__":
    sys.exit(main())
