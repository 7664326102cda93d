"""What a dead address, a port that is not Dask's, and a cluster without workers come to: at once, and in words."""

import socket

import pytest

from fissile.errors import UsageError
from fissile.pipelines.sweep import cluster_client
from fissile.pipelines.sweep.cluster_client import connected

pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def dask_is_not_reached(monkeypatch):
    """Dask's own client would retry for its whole time limit."""

    def reached(*_args, **_options):
        raise AssertionError("the address was handed to Dask")

    monkeypatch.setattr("distributed.Client", reached)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:1", "refused"),
        ("127.0.0.1:1", "refused"),
        ("tls://127.0.0.1:1", "refused"),
        ("tcp://[", ""),
    ],
)
def test_a_dead_address_is_refused_before_dask_retries_it(address, why):
    with pytest.raises(UsageError, match="no Dask scheduler answers at") as failed:
        connected(address, "--scheduler")
    assert why in failed.value.message and "dask scheduler" in failed.value.hint


def test_a_port_that_does_not_speak_first_is_not_dasks(monkeypatch):
    monkeypatch.setattr(cluster_client, "GREETING_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(UsageError, match="timed out"):
            connected(f"tcp://127.0.0.1:{silent.getsockname()[1]}", "--scheduler")


def test_a_scheduler_without_workers_is_reported(monkeypatch):
    closed = []

    class Client:
        def __init__(self, *_args, **_options):
            pass

        def wait_for_workers(self, count, timeout):
            raise TimeoutError

        def close(self):
            closed.append(self)

    monkeypatch.setattr("distributed.Client", Client)
    with pytest.raises(UsageError, match="has no worker") as failed:
        connected("inproc://here", "--scheduler")
    assert closed and failed.value.hint == "start one: dask worker inproc://here"
