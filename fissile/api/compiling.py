"""`fissile.compile`: any program to a module in memory, by the worker process of the command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fissile.errors import CompileError
from fissile.passes.iree.targets import runtime_for
from fissile.passes.shipped_passes import ship
from fissile.pipelines.compile import entry
from fissile.pipelines.process.scratch import scratch
from fissile.pipelines.targets import PRESENT_DEVICE
from fissile.target import Target

from .arguments import compile_flags, file_path, target_flags
from .programs import Program, program_file, renamed
from .python_words import in_python
from .reproducers import kept_for_a_reproducer
from .result import Result

MEMORY = "<memory>"
"""What stands for the output where no file was named."""


@in_python
def compile_program(
    program: Program,
    output: str | os.PathLike[str] | None,
    flags: Sequence[str],
    target: str | Target | None,
    check: bool,
    *,
    match_device: str = "",
    **options: Any,
) -> Result:
    """The result of compiling ``program``; ``options`` are `entry.compile`'s. Raises CompileError with ``check``, UsageError."""
    if isinstance(target, str) and target.strip().lower() == PRESENT_DEVICE:
        target, match_device = "vulkan", "vulkan"
    words = [*target_flags(target), *compile_flags(flags)]
    named = None if output is None else Path(file_path(output, "output"))
    with program_file(program) as file, scratch() as folder:
        if shipped := ship(folder, [*words, *map(str, options.values())]):
            words.append(f"--load-passes={shipped}")
        made = named or folder / "module.vmfb"
        own = [path for path in (file.path if file.name else None, shipped) if path is not None]
        with kept_for_a_reproducer(own, folder):
            report = entry.compile(
                file.path, made, words, match_device=match_device, name=file.in_locations, **options
            )
        report = renamed(report, file)
        vmfb = made.read_bytes() if report.output else b""
    if vmfb and named is None:
        report = replace(report, output=MEMORY)
    if check and report.errors:
        raise CompileError(report)
    return Result(report, vmfb, program=program, runtime=runtime_for(words))
