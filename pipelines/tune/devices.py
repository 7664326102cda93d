"""The device that candidates are timed on: this machine's, or that of a worker of a cluster."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from fissile.errors import FissileError

from ..numerics.runtimes import Runtime, present
from ..numerics.signature import Signature
from ..process.child import module_command, run_child
from ..process.scratch import scratch
from .timing import Timed, time_in_turns

REMOTE_SECONDS = 3600.0


class NotTimed(FissileError):
    """No device answers, or it went away: what was chosen without one stays."""


class Device(Protocol):
    """``str()`` names it."""

    def time(self, programs: Sequence[tuple[str, Path]], signatures: Sequence[Signature]) -> list[Timed]: ...


@dataclass(frozen=True)
class HereDevice:
    runtime: Runtime

    def __str__(self) -> str:
        return str(self.runtime)

    def time(self, programs: Sequence[tuple[str, Path]], signatures: Sequence[Signature]) -> list[Timed]:
        return time_in_turns(programs, signatures, self.runtime)


@dataclass(frozen=True)
class RemoteDevice:
    """One of the runtimes ``drivers`` on a worker of the Dask cluster at ``address``; a process of its own speaks with it."""

    address: str
    drivers: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' or '.join(self.drivers)} of a worker at {self.address}"

    def time(self, programs: Sequence[tuple[str, Path]], signatures: Sequence[Signature]) -> list[Timed]:
        """Raises NotTimed."""
        job = {
            "address": self.address,
            "drivers": self.drivers,
            "programs": [(name, str(path)) for name, path in programs],
            "signatures": [spelled(signature) for signature in signatures],
        }
        with scratch() as folder:
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            ended = run_child(
                module_command("fissile.pipelines.tune.remote", str(folder)), REMOTE_SECONDS, by_clock=True
            )
            if ended.status != 0:
                lines = ended.err.strip().splitlines()
                raise NotTimed(ended.reason or (lines[-1] if lines else f"exit status {ended.status}"))
            rows = json.loads((folder / "timed.json").read_text(encoding="utf-8"))
        return [Timed(**row) for row in rows]


def device_for(drivers: Collection[str], address: str) -> Device | None:
    """A device with one of the runtimes ``drivers``: of the cluster at ``address``, or, where that is empty, of this machine."""
    if address:
        return RemoteDevice(address, tuple(sorted(drivers))) if drivers else None
    runtime = next((runtime for runtime in present() if runtime.name in drivers), None)
    return HereDevice(runtime) if runtime else None


def spelled(signature: Signature) -> dict[str, object]:
    """``signature`` as plain values."""
    return {
        "function": signature.function,
        "arguments": [value.text for value in signature.arguments],
        "results": [value.text for value in signature.results],
    }


def plain(timed: Sequence[Timed]) -> list[dict[str, object]]:
    return [asdict(row) for row in timed]
