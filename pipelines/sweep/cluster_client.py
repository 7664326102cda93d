"""A client of a Dask cluster, or a plain reason why there is none: Dask itself retries a dead address until its time is up."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from fissile.errors import UsageError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10
"""For the connection alone: the kernel of the scheduler's machine accepts it, however busy the scheduler is."""
GREETING_SECONDS = 60
"""For the first bytes, which the scheduler sends, and for what Dask does with them."""
WORKERS_SECONDS = 30
"""For the first worker: one that was started just now needs seconds to report."""
_SOCKET_SCHEMES = ("tcp", "tls")
_DEFAULT_PORT = 8786


def connected(address: str, option: str) -> Client:
    """A client with at least one worker; ``option`` is what gave ``address``. Raises UsageError.

    The caller closes it.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(f"{option} needs Dask", "pip install 'fissile[cluster]'") from None
    try:
        _knock(address)
        client = Client(address, timeout=GREETING_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"no Dask scheduler answers at {address}: {reason}",
            "start one: dask scheduler; and workers: dask worker ADDRESS",
        ) from None
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except TimeoutError:
        client.close()
        raise UsageError(
            f"the Dask scheduler at {address} has no worker", f"start one: dask worker {address}"
        ) from None
    return client


def _knock(address: str) -> None:
    """Raises OSError or ValueError where nothing at ``address`` takes a connection and speaks first, as Dask does.

    Addresses that are no sockets are Dask's own business.
    """
    from distributed.comm import parse_address
    from distributed.comm.addressing import parse_host_port

    scheme, place = parse_address(address)
    if scheme not in _SOCKET_SCHEMES:
        return
    host, port = parse_host_port(place, _DEFAULT_PORT)
    with socket.create_connection((host, port), CONNECT_SECONDS) as opened:
        if scheme == "tcp":  # with TLS the client speaks first
            opened.settimeout(GREETING_SECONDS)
            if not opened.recv(1):
                raise OSError("what listens there ends the connection")
