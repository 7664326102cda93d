"""How a program becomes a vmfb that a runtime of this machine takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fissile.errors import InternalError
from fissile.finding import Finding

from ..native_programs import stock_compiler
from ..process.child import run_child
from ..status import announce


def compile_guarded(
    source: Path, output: Path, flags: Sequence[str], match_device: str, timeout: float
) -> Finding | None:
    """`fissile compile` in a worker process; None where no error remains, else FIS131 with the first."""
    from ..compile.entry import compile as compile_with_fissile

    try:
        # Pipelines of the program are refused before anything is built, or they were allowed.
        own = (f"--time-limit={timeout:g}", "--allow-pipelines-in-input")
        report = compile_with_fissile(source, output, [*flags, *own], match_device=match_device)
    except InternalError as error:
        return Finding("FIS131", f"{source.name} was not compiled: {error.message}", subject=source.name)
    if not report.errors:
        return None
    first = report.errors[0]
    return Finding(
        "FIS131",
        f"{source.name} was not compiled: {first.code} {first.message}",
        subject=source.name,
        notes=tuple(f"{f.code} {f.message}" for f in report.errors[1:4]),
        detail=first.detail,
    )


def compile_stock(source: Path, output: Path, flags: Sequence[str], timeout: float = 300.0) -> Finding | None:
    """Stock iree-compile in a child process; None where it succeeded, else FIS131 with IREE's first error."""
    announce(f"compiling {source.name} with iree-compile, limit {timeout:g} s")
    ended = run_child([stock_compiler(), str(source), "-o", str(output), *flags], timeout)
    if ended.status == 0:
        return None
    error = re.search(r"error: (.*)", ended.err)
    reason = ended.reason or (error[1].strip()[:300] if error else "iree-compile ended with an error")
    return Finding(
        "FIS131", f"{source.name} was not compiled: {reason}", subject=source.name, detail=ended.err[-20000:]
    )
