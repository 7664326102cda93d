"""A sweep of IREE's programs and of networks on a local cluster that loses two of its workers, beside the same sweep on one process.

    python -m bench.fleet FOLDER [--pairs 300] [--out RESULTS] [--target …]

``FOLDER`` is any folder of `.mlir` programs, IREE's end-to-end programs for example; the smallest of them are taken, after the
small networks of `bench.networks` in fp32. Two of four workers are killed (SIGKILL) when a third and two thirds of the results
are there. Then every pair is compared: verdict, findings, and the bytes of the module. What is interrupted goes on with the same
``--out``. Exit status: 0 where all results are there, none twice, and both sweeps are the same; 1 where not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.programs.program_files import existing
from fissile.pipelines.sweep.cells import Cell, find_models
from fissile.pipelines.sweep.entry import Sweep, SweepRequest, run_sweep
from fissile.pipelines.sweep.outcome import Outcome

TARGETS = ("gfx942", "vulkan", "llvm-cpu")
WORKERS = 4
KILLED = 2
NETWORKS = 15
COMM_TIMEOUTS = {"distributed.comm.timeouts.connect": "600s", "distributed.comm.timeouts.tcp": "600s"}
"""A busy machine's workers answer late; none of them is lost for that."""


@dataclass
class Record:
    """What the sweep on the cluster came to, over all its sessions: how often each pair ended, and after how many which worker was killed."""

    ended: dict[str, int] = field(default_factory=dict)
    killed: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Record:
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def gathered(programs: Path, folder: Path, count: int) -> list[str]:
    """``count`` models in ``folder``: the networks, then the smallest of ``programs``, each once."""
    from bench.programs.network_forms import build
    from bench.programs.onnx_blocks import BLOCKS

    folder.mkdir(parents=True, exist_ok=True)
    chosen = []
    for name in sorted(BLOCKS)[: min(NETWORKS, count)]:
        path = folder / f"{name}.onnx"
        if not path.exists():  # the same bytes in every session
            import onnx

            partial = path.with_suffix(".partial")
            onnx.save(build(name, "fp32").model, partial)
            partial.rename(path)
        chosen.append(path)
    found = sorted(programs.glob("*.mlir"), key=lambda file: (file.stat().st_size, file.name))
    for file in found[: count - len(chosen)]:
        shutil.copyfile(file, folder / file.name)
        chosen.append(folder / file.name)
    return [str(path) for path in chosen]


def on_cluster(request: SweepRequest, record: Record, place: Path, pairs: int) -> Sweep:
    """``request`` on a cluster of processes of this machine, of which the scheduler loses two on the way."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set(COMM_TIMEOUTS),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address=None,
            worker_dashboard_address=None,
            silence_logs=100,
        ) as cluster,
    ):

        def ended(cell: Cell, outcome: Outcome, done: int, total: int) -> None:
            record.ended[cell.label] = record.ended.get(cell.label, 0) + 1
            if len(record.killed) < KILLED and done >= pairs * (len(record.killed) + 1) // (KILLED + 1):
                worker = list(cluster.workers.values())[len(record.killed)]
                os.kill(worker.pid, signal.SIGKILL)
                record.killed.append(done)
                print(f"worker {worker.worker_address} killed after {done} results", file=sys.stderr)
            record.write(place)
            shown(cell, outcome, done, total)

        return run_sweep(_with_scheduler(request, cluster.scheduler_address), ended)


def _with_scheduler(request: SweepRequest, address: str) -> SweepRequest:
    from dataclasses import replace

    return replace(request, scheduler=address)


def shown(cell: Cell, outcome: Outcome, done: int, total: int) -> None:
    print(
        f"{done}/{total} {cell.label}: {outcome.verdict}, {outcome.seconds:.1f} s",
        file=sys.stderr,
        flush=True,
    )


def compared(cluster: Sweep, alone: Sweep) -> list[str]:
    """One line for each pair whose result differs; empty where both sweeps have the same."""
    return [
        f"{cell.label}: on the cluster {_result(outcome)}, on one process {_result(other)}"
        for cell, outcome in cluster.outcomes.items()
        if _result(outcome) != _result(other := alone.outcomes[cell])
    ]


def _result(outcome: Outcome) -> tuple:
    return outcome.verdict.value, outcome.codes, outcome.why, outcome.module, outcome.module_bytes


def faults(cluster: Sweep, alone: Sweep, record: Record, pairs: int) -> list[str]:
    """What is not as it has to be, one line each."""
    labels = {cell.label for cell in cluster.outcomes}
    found = [f"{label}: ended {times} times" for label, times in record.ended.items() if times != 1]
    found += [f"{label}: no result" for label in sorted(labels - record.ended.keys())]
    if len(labels) != pairs:
        found.append(f"{len(labels)} pairs, not {pairs}")
    if len(record.killed) != KILLED:
        found.append(f"{len(record.killed)} workers were killed, not {KILLED}")
    kept = len(list(Path(cluster.folder, "cells").iterdir()))
    if kept != len({cell.key for cell in cluster.outcomes}):
        found.append(f"{kept} results are kept")
    return found + compared(cluster, alone)


def table(cluster: Sweep, record: Record, found: Sequence[str]) -> str:
    """As docs/sweep.md has it."""
    targets = list(dict.fromkeys(cell.target for cell in cluster.outcomes))
    verdicts = [verdict for verdict in type(next(iter(cluster.counts))) if cluster.counts[verdict]]
    counted = Counter((cell.target, outcome.verdict) for cell, outcome in cluster.outcomes.items())
    lines = [
        f"| target | pairs | {' | '.join(verdicts)} |",
        "|---|---|" + "---|" * len(verdicts),
    ]
    for target in targets:
        row = [counted[target, verdict] for verdict in verdicts]
        lines.append(f"| {target} | {sum(row)} | {' | '.join(map(str, row))} |")
    killed = " and ".join(map(str, record.killed))
    lines += [
        "",
        f"Workers killed after {killed} of {len(cluster.outcomes)} results. Differences: {len(found)}.",
    ]
    return "\n".join([*lines, *found])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__.splitlines()[0])
    parser.add_argument("programs", type=existing)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--target", action="append", help=f"default: {', '.join(TARGETS)}")
    parser.add_argument("--out", type=Path, help="keep all results here, and go on from what is there")
    args = parser.parse_args()
    targets = tuple(args.target or TARGETS)
    os.environ["FISSILE_CACHE"] = "off"  # no result of one sweep from the other's
    with tempfile.TemporaryDirectory(prefix="fissile-fleet-") as scratch:
        out = args.out or Path(scratch)
        models = gathered(args.programs, out / "models", args.pairs // len(targets))
        pairs = len(find_models(models)) * len(targets)
        place, record = out / "record.json", Record.read(out / "record.json")
        cluster = on_cluster(
            SweepRequest(tuple(models), targets, str(out / "cluster"), keep_modules=True),
            record,
            place,
            pairs,
        )
        alone = run_sweep(
            SweepRequest(tuple(models), targets, str(out / "alone"), jobs=1, keep_modules=True), shown
        )
        found = faults(cluster, alone, record, pairs)
        print(table(cluster, record, found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
