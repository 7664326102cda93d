"""Does stock iree-compile do with a reduced program what fissile says of it?"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.iree.messages import BYTES_USED

from ..native_programs import stock_compiler
from ..probe.diagnostics import failure_code
from ..process.child import run_child


def fails_otherwise(program: Path, flags: Sequence[str], finding: Finding, seconds: float) -> str:
    """What stock IREE does with ``program`` instead of what ``finding`` says; empty where it does just that.

    Compiles it once, for at most ``seconds`` (0: no limit) of the clock; what is expected not to end is ended then.
    """
    status, output = _compiled(program, flags, seconds)
    errors = [line for line in output.splitlines() if "error: " in line]
    first = errors[0].split("error: ", 1)[1] if errors else f"exit status {status}"
    if finding.effect is Effect.ENDLESS:
        return "" if status is None else "stock IREE ends" if status == 0 else f"stock IREE stops: {first}"
    if status is None:
        return f"stock IREE does not end within {seconds:g} seconds"
    if finding.effect.is_built:
        return "" if status == 0 else f"stock IREE refuses it: {first}"
    if status == 0:
        return "stock IREE builds it"
    if finding.effect is Effect.CRASHES:
        return "" if not errors or status < 0 else f"stock IREE stops: {first}"
    if not errors:
        return (
            f"stock IREE crashes ({signal.Signals(-status).name})"
            if status < 0
            else f"stock IREE ends with {first}"
        )
    if finding.code not in {failure_code(error) for error in errors}:
        return f"stock IREE stops for another reason: {first}"
    used = BYTES_USED.search(first)
    needed = finding.ledger.total.value if finding.ledger else None
    return (
        f"stock IREE counts {used[1]} bytes, fissile {needed}"
        if used and needed is not None and int(used[1]) != needed
        else ""
    )


def _compiled(program: Path, flags: Sequence[str], seconds: float) -> tuple[int | None, str]:
    """The exit status of stock iree-compile (None: it did not end) and what it printed."""
    ended = run_child([stock_compiler(), *flags, program, "-o", os.devnull], seconds or None)
    return ended.status, ended.err
