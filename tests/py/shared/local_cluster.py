"""A Dask cluster of processes on this machine, for tests."""

from __future__ import annotations

from contextlib import contextmanager

import pytest


@contextmanager
def local_cluster(workers=2, **settings):
    """Skips the test where Dask is not installed. ``settings``: of `distributed.scheduler`, with underscores."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    patience = {"distributed.comm.timeouts.connect": "300s", "distributed.comm.timeouts.tcp": "300s"}
    chosen = {f"distributed.scheduler.{name.replace('_', '-')}": value for name, value in settings.items()}
    with (
        dask.config.set(patience | chosen),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=100,
            worker_dashboard_address=None,
        ) as cluster,
    ):
        yield cluster
