"""One compile of a sweep, in a process of its own: a model that crashes, hangs or takes all memory takes only itself down."""

from __future__ import annotations

import json
import platform
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fissile.passes.iree.targets import flags_for
from fissile.target import find_target

from ..process.child import SAFE_PATH, Child, Ended
from ..process.scratch import scratch
from .cells import Cell
from .outcome import Outcome, outcome_of

_PROGRAM = "fissile.cli.main"
_LAST_BYTES = 1 << 16


@dataclass(frozen=True)
class Limits:
    """Of one cell: ``seconds`` of wall time (0: none), ``memory`` as `--memory-limit` takes it (empty: the machine's)."""

    seconds: float = 0.0
    memory: str = ""


class Attempt:
    """A running compile of ``cell``; a context manager that leaves no process behind.

    ``content``: the model's bytes, where its path is another machine's.
    """

    def __init__(self, cell: Cell, limits: Limits, content: bytes | None = None) -> None:
        self.cell = cell
        self._limits = limits
        self._began = time.monotonic()
        with ExitStack() as stack:
            self._folder = stack.enter_context(scratch())
            program = Path(cell.model.path)
            if content is not None:
                program = self._folder / program.name
                program.write_bytes(content)
            self._error = stack.enter_context((self._folder / "err").open("wb"))
            # IREE writes the path of its input, as it is given, into the module: it is the file's name on every machine.
            self._child = stack.enter_context(
                Child(self._command(program.name), self._folder, stderr=self._error, directory=program.parent)
            )
            self._stack = stack.pop_all()

    def _command(self, program: str) -> list[str]:
        words = [
            self.cell.environment.python,
            SAFE_PATH,
            "-m",
            _PROGRAM,
            "compile",
            program if program[0] != "-" else f"./{program}",
        ]
        words += [*flags_for(find_target(self.cell.target)), *self.cell.options]
        words += ["-o", str(self._module), "--format=json", f"--report-file={self._report}"]
        return words + ([f"--memory-limit={self._limits.memory}"] if self._limits.memory else [])

    @property
    def _module(self) -> Path:
        return self._folder / "module.vmfb"

    @property
    def _report(self) -> Path:
        return self._folder / "report.json"

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def poll(self, seconds: float = 0.0) -> Outcome | None:
        """The outcome; None while it runs, after at most ``seconds``. Past its limit it is ended, and endless."""
        status = self._child.wait(seconds)
        spent = time.monotonic() - self._began
        if status is None and not (self._limits.seconds and spent > self._limits.seconds):
            return None
        self._child.end()
        with (self._folder / "err").open("rb") as err:
            err.seek(max(0, err.seek(0, 2) - _LAST_BYTES))
            text = err.read().decode(errors="replace")
        ended = Ended(status, "", text, self._limits.seconds)
        return outcome_of(ended, self._read_report(), self.module(), spent, platform.node())

    def module(self) -> bytes:
        """The compiled module; empty where none was written."""
        return self._module.read_bytes() if self._module.is_file() else b""

    def _read_report(self) -> dict:
        try:
            return json.loads(self._report.read_bytes())
        except (OSError, ValueError):
            return {}


def run_cell(cell: Cell, limits: Limits, content: bytes | None, keep_module: bool) -> tuple[Outcome, bytes]:
    """Compiles ``cell`` and waits for it: what a worker of a cluster does. The module is empty unless it is to be kept."""
    with Attempt(cell, limits, content) as attempt:
        while (outcome := attempt.poll(1.0)) is None:
            pass
        return outcome, attempt.module() if keep_module else b""
