"""A child process that cannot outlive its time or take its parent with it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How a child ended. ``status`` is None where time ran out, below 0 where a signal ended it."""

    status: int | None
    out: str
    err: str
    seconds: float

    @property
    def reason(self) -> str:
        """Why it is no success, in a few words; empty for status 0 and for errors that it reported itself."""
        if self.status is None:
            return f"did not end within {self.seconds:g} s"
        if self.status < 0:
            return f"was ended by {signal.Signals(-self.status).name}"
        return ""


def run_child(command: Sequence[str | os.PathLike], timeout: float) -> Ended:
    """Runs ``command`` for at most ``timeout`` seconds, in its own process group, which is ended with it."""
    process = subprocess.Popen(
        [os.fspath(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    status, out, err = None, "", ""
    try:
        out, err = process.communicate(timeout=timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return Ended(status, out, err, timeout)
