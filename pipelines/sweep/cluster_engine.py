"""Runs the cells of a sweep on a Dask cluster.

Dask and not Ray: it is pure Python, starts with two commands on machines that share nothing but a network, and gives a task of a
lost worker to another one. A task only starts a child process, so a model cannot take its worker down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fissile.errors import UsageError

from .attempt import Limits
from .cells import Cell
from .cluster_client import connected
from .cluster_vacancy import VACANT_SECONDS, Vacancy
from .environments import Environment
from .outcome import Outcome, Verdict
from .worker_task import run_there, unfit_for

LARGEST_SENT = 64 << 20
"""Bytes of a model that are sent with its task; a larger one has to lie at the same path on every worker."""
AHEAD = 4
"""So many tasks for each thread of the cluster are submitted at once: the scheduler holds their models."""
FEWEST_AHEAD = 8
POLL_SECONDS = 0.1
RESULT_SECONDS = 60.0
"""For a result on its way, before the workers are counted and it is waited for again."""
NO_WORKER_LEFT = f"the cluster had no worker for {VACANT_SECONDS:.0f} seconds"
Result = tuple[Cell, Outcome, bytes]


class NoWorkerLeft(Exception):
    """Every worker went away, and none came back."""


def run_on_cluster(
    address: str, cells: Sequence[Cell], limits: Limits, keep_modules: bool
) -> Iterator[Result]:
    """Each cell with its outcome and module, as they end. Raises UsageError where ``address`` has no scheduler or no worker.

    Dask blames a lost worker on every task that it had. So what is lost is run once more, one at a time, when all else is done.
    Where no worker is left, every cell without an outcome is lost.
    """
    with connected(address, "--scheduler") as client:
        _check_workers(client, list(dict.fromkeys(cell.environment for cell in cells)))
        vacancy = Vacancy(lambda: len(client.nthreads()))
        open_cells = dict.fromkeys(cells)
        suspects = []
        try:
            for cell, outcome, module in _as_they_end(client, cells, limits, keep_modules, vacancy.lasts):
                if outcome.verdict is Verdict.LOST:
                    suspects.append(cell)
                else:
                    del open_cells[cell]
                    yield cell, outcome, module
            for suspect in suspects:
                for result in _as_they_end(client, [suspect], limits, keep_modules, vacancy.lasts, "alone-"):
                    del open_cells[suspect]
                    yield result
        except NoWorkerLeft:
            for cell in open_cells:
                yield cell, Outcome(Verdict.LOST, why=NO_WORKER_LEFT), b""


def _as_they_end(
    client,
    cells: Sequence[Cell],
    limits: Limits,
    keep_modules: bool,
    is_vacant: Callable[[], bool],
    prefix: str = "",
) -> Iterator[Result]:
    """``prefix`` of the keys: the scheduler answers a key that it knows with what it knows. Raises NoWorkerLeft."""
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
    while pending:
        while not futures.has_ready():
            if is_vacant():
                raise NoWorkerLeft
            with futures.thread_condition:
                futures.thread_condition.wait(POLL_SECONDS)
        future = futures.next()
        cell = pending.pop(future)
        outcome, module = _result_of(future, is_vacant)
        future.release()
        submit()
        yield cell, outcome, module


def _result_of(future, is_vacant: Callable[[], bool]) -> tuple[Outcome, bytes]:
    """What has ended is waited for again where the worker that held its result is lost. Raises NoWorkerLeft and UsageError."""
    from distributed import CancelledError

    while True:
        try:
            failure = future.exception(timeout=RESULT_SECONDS)
            return _lost(failure) if failure else future.result(timeout=RESULT_SECONDS)
        except TimeoutError:
            if is_vacant():
                raise NoWorkerLeft from None
        except CancelledError:
            raise UsageError(
                "the scheduler went away", "the same command goes on with what is missing: start it again"
            ) from None
        except Exception as failure:
            return _lost(failure)


def _lost(failure: BaseException) -> tuple[Outcome, bytes]:
    from distributed.scheduler import KilledWorker

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
