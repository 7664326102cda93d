"""Runs the cells of a sweep on a Dask cluster.

Dask and not Ray: it is pure Python, starts with two commands on machines that share nothing but a network, and gives a task of a
lost worker to another one. A task only starts a child process, so a model cannot take its worker down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fissile.errors import UsageError

from .attempt import Limits, run_cell
from .cells import Cell
from .outcome import Outcome, Verdict

CONNECT_SECONDS = 60
LARGEST_SENT = 64 << 20
"""Bytes of a model that are sent with its task; a larger one has to lie at the same path on every worker."""


def run_on_cluster(
    address: str, cells: Sequence[Cell], limits: Limits, keep_modules: bool
) -> Iterator[tuple[Cell, Outcome, bytes]]:
    """Each cell with its outcome and module, as they end. Raises UsageError where no scheduler answers at ``address``."""
    try:
        import dask
        from distributed import Client, as_completed
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise UsageError("--scheduler needs Dask", "pip install 'fissile[cluster]'") from None
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"no Dask scheduler answers at {address}: {first}",
            "start one: dask scheduler; and workers: dask worker ADDRESS",
        ) from None
    with client:
        _same_environment(client, {cell.environment.identity for cell in cells})
        pending = {}
        for cell in cells:
            future = client.submit(run_there, cell, limits, _content(cell), keep_modules, key=cell.key)
            pending[future] = cell
        for future in as_completed(list(pending), loop=client.loop):
            cell = pending.pop(future)
            if future.cancelled():
                raise UsageError(
                    f"the scheduler at {address} went away", "the same command goes on with what is missing"
                )
            failure = future.exception()
            if failure is None:
                outcome, module = future.result()
            elif isinstance(failure, KilledWorker):
                lost = dask.config.get("distributed.scheduler.allowed-failures", 3) + 1
                outcome, module = (
                    Outcome(Verdict.LOST, why=f"{lost} workers were lost while they had it"),
                    b"",
                )
            else:
                outcome, module = Outcome(Verdict.INTERNAL, why=f"{type(failure).__name__}: {failure}"), b""
            future.release()
            yield cell, outcome, module


def run_there(cell: Cell, limits: Limits, content: bytes | None, keep_module: bool) -> tuple[Outcome, bytes]:
    """`run_cell` with the interpreter of the worker that it runs on."""
    import sys

    there = replace(cell, environment=replace(cell.environment, python=sys.executable))
    return run_cell(there, limits, content, keep_module)


def _content(cell: Cell) -> bytes | None:
    return Path(cell.model.path).read_bytes() if cell.model.size <= LARGEST_SENT else None


def _same_environment(client, wanted: set[tuple[str, str]]) -> None:
    """Raises UsageError unless every worker has the fissile and the IREE that the results are to be named by."""
    from .environments import described

    for worker, versions in client.run(described, on_error="return").items():
        if isinstance(versions, Exception):
            raise UsageError(
                f"worker {worker} cannot import fissile: {versions}", "install the same fissile there"
            )
        if (versions["fissile"], versions["iree"]) not in wanted:
            raise UsageError(
                f"worker {worker} has fissile {versions['fissile']} and IREE {versions['iree']}",
                "install what this machine has: "
                + ", ".join(" and IREE ".join(pair) for pair in sorted(wanted)),
            )
