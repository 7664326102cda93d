"""`fissile.verify`: any programs, run and compared in a process of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fissile.errors import CompileError
from fissile.passes.definition import PassFailed
from fissile.pipelines.importers.imported import importable
from fissile.pipelines.numerics.verify_worker import run_verify
from fissile.pipelines.process.scratch import scratch
from fissile.report import Report

from .programs import Program, program_file
from .result import Result

if TYPE_CHECKING:
    import numpy as np

    from fissile.pipelines.numerics.verify import Options


def verify_programs(
    first: Program,
    second: Program | None,
    inputs: Sequence[np.ndarray[Any, Any]] | None,
    expected: Sequence[np.ndarray[Any, Any]] | None,
    reference: Callable[..., Any] | None,
    options: Options | None,
) -> Result:
    """The result of `fissile.verify`, its certificate among the facts of the report."""
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        given = [stack.enter_context(program_file(one)) for one in (first, second) if one is not None]
        files = [_imported(file.path, folder) for file in given]
        certificate = run_verify(
            files[0],
            files[1] if len(files) > 1 else None,
            inputs=inputs,
            expected=expected,
            reference=reference,
            options=options,
        )
    report = Report("verify", certificate.findings, facts={"certificate": certificate.to_json()})
    return Result(report, program=first, certificate=certificate)


def _imported(path: Path, folder: Path) -> Path:
    """The program that ``path`` is, or that a model was imported as. Raises CompileError where the importer refuses it."""
    try:
        return importable(path, folder)
    except PassFailed as refused:
        raise CompileError(Report("verify", tuple(refused.findings))) from None
