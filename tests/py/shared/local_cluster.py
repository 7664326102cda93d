"""A Dask cluster of processes on this machine, for tests."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

TIMEOUTS = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}


@contextmanager
def local_cluster(workers=2, **settings):
    """Skips the test where Dask is not installed. ``settings``: of `distributed.scheduler`, with underscores."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    chosen = {f"distributed.scheduler.{name.replace('_', '-')}": value for name, value in settings.items()}
    with (
        dask.config.set(TIMEOUTS | chosen),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=100,
            worker_dashboard_address=None,
        ) as cluster,
    ):
        yield cluster


@contextmanager
def cluster_of_processes(workers=2):
    """A scheduler's address, and its workers as processes that nobody starts again, as `dask worker --no-nanny` does it."""
    with local_cluster(workers=0) as cluster, ExitStack() as started:
        address = cluster.scheduler_address
        words = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads=1"]
        processes = []
        for _ in range(workers):
            process = subprocess.Popen(
                [*words, "--no-dashboard"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            started.callback(_ended, process)
            processes.append(process)
        cluster.wait_for_workers(workers, timeout=600)
        yield address, processes


def _ended(process):
    process.kill()
    process.wait()
