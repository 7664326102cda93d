"""Runs the cells of a sweep on a Dask cluster.

Dask and not Ray: it is pure Python, starts with two commands on machines that share nothing but a network, and gives a task of a
lost worker to another one. A task only starts a child process, so a model cannot take its worker down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fissile.errors import UsageError

from .attempt import Limits
from .cells import Cell
from .cluster_client import connected
from .environments import Environment
from .outcome import Outcome, Verdict
from .worker_task import run_there, unfit_for

LARGEST_SENT = 64 << 20
"""Bytes of a model that are sent with its task; a larger one has to lie at the same path on every worker."""
AHEAD = 4
"""So many tasks for each thread of the cluster are submitted at once: the scheduler holds their models."""
FEWEST_AHEAD = 8
Result = tuple[Cell, Outcome, bytes]


def run_on_cluster(
    address: str, cells: Sequence[Cell], limits: Limits, keep_modules: bool
) -> Iterator[Result]:
    """Each cell with its outcome and module, as they end. Raises UsageError where ``address`` has no scheduler or no worker.

    Dask blames a lost worker on every task that it had. So what is lost is run once more, one at a time, when all else is done.
    """
    with connected(address, "--scheduler") as client:
        _check_workers(client, list(dict.fromkeys(cell.environment for cell in cells)))
        suspects = []
        for cell, outcome, module in _as_they_end(client, cells, limits, keep_modules):
            if outcome.verdict is Verdict.LOST:
                suspects.append(cell)
            else:
                yield cell, outcome, module
        for cell in suspects:
            yield from _as_they_end(client, [cell], limits, keep_modules, "alone-")


def _as_they_end(
    client, cells: Sequence[Cell], limits: Limits, keep_modules: bool, prefix: str = ""
) -> Iterator[Result]:
    """``prefix`` of the keys: the scheduler answers a key that it knows with what it knows."""
    from distributed import as_completed

    waiting = list(reversed(cells))
    pending: dict[Any, Cell] = {}
    futures = as_completed(loop=client.loop)

    def submit() -> None:
        most = max(FEWEST_AHEAD, AHEAD * sum(client.nthreads().values()))
        while waiting and len(pending) < most:
            cell = waiting.pop()
            future = client.submit(
                run_there, cell, limits, _content(cell), keep_modules, key=prefix + cell.key
            )
            pending[future] = cell
            futures.add(future)

    submit()
    for future in futures:
        cell = pending.pop(future)
        if future.cancelled():
            raise UsageError(
                "the scheduler went away", "the same command goes on with what is missing: start it again"
            )
        outcome, module = _result_of(future)
        future.release()
        submit()
        yield cell, outcome, module


def _result_of(future) -> tuple[Outcome, bytes]:
    from distributed.scheduler import KilledWorker

    failure = future.exception()
    if failure is None:
        return future.result()
    if isinstance(failure, KilledWorker):
        lost = failure.allowed_failures + 1
        return Outcome(Verdict.LOST, why=f"{lost} workers were lost while they had it"), b""
    return Outcome(Verdict.LOST, why=f"{type(failure).__name__}: {failure}"), b""


def _content(cell: Cell) -> bytes | None:
    return Path(cell.model.path).read_bytes() if cell.model.size <= LARGEST_SENT else None


def _check_workers(client, wanted: Sequence[Environment]) -> None:
    """Raises UsageError unless every worker has the fissile and the IREE that the results are to be named by."""
    for worker, unfit in client.run(unfit_for, wanted, on_error="return").items():
        if isinstance(unfit, Exception):
            raise UsageError(
                f"worker {worker} cannot import fissile: {unfit}", "install the same fissile there"
            )
        if unfit:
            raise UsageError(f"worker {worker}: {unfit}", "install what this machine has")
