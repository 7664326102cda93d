"""`fissile compile` from Python: a file to a file; `fissile.compile` takes any program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from fissile.report import Report

from ..process.supervisor import run_compile
from .request import parse_command_line


def compile(
    source: str | os.PathLike,
    output: str | os.PathLike,
    flags: Sequence[str] = (),
    *,
    repair: str = "auto",
    guard: str = "assert",
    match_device: str = "",
    verify: bool = False,
    allow_wrong: bool = False,
    name: str = "",
) -> Report:
    """Compiles the MLIR file ``source`` to ``output``, repaired where stock IREE refuses it.

    ``name`` is what locations, in the output too, call ``source``; empty: its path. ``flags`` are iree-compile's. ``repair`` is "auto", "suggest" or "off"; ``match_device`` "vulkan" compiles for the
    Vulkan device that is present; ``allow_wrong`` writes an output whose numbers are known to be wrong. The compile runs in a process of its own. Look at ``report.exit_code`` and
    ``report.findings``: the output exists only where no error remains. Raises UsageError for bad arguments.
    """
    argv = [f"--guard={guard}", f"--repair={repair}", *flags, os.fspath(source), "-o", os.fspath(output)]
    if match_device:
        argv.append(f"--match-device={match_device}")
    if verify:
        argv.append("--verify")
    if allow_wrong:
        argv.append("--allow-wrong-numbers")
    return run_compile(replace(parse_command_line(argv), name=name))
