"""`fissile.verify`: any programs, run and compared in a process of their own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fissile.errors import CompileError, UsageError
from fissile.passes.definition import PassFailed
from fissile.pipelines.importers.imported import importable
from fissile.pipelines.numerics.verify_worker import run_verify
from fissile.pipelines.process.scratch import scratch
from fissile.report import Report

from .arguments import flag_words, name_of, names_of, seconds, seeds_of
from .programs import Program, program_file
from .python_words import in_python
from .result import Result

if TYPE_CHECKING:
    from fissile.pipelines.numerics.cases.options import Options
    from fissile.pipelines.numerics.tolerance import Tolerance


@in_python
def verify_programs(
    first: Program, second: Program | None, *, inputs: Any, expected: Any, reference: Any, **how: Any
) -> Result:
    """The result of `fissile.verify`, its certificate among the facts of the report. ``how`` is `_options`'."""
    if expected is not None and reference is not None:
        raise UsageError("expected and reference both say what is right", "give one of them")
    if expected is not None and inputs is None:
        raise UsageError("expected needs the inputs that it was computed from", "give inputs=[...] as well")
    if reference is not None and not callable(reference):
        raise UsageError(
            f"reference is of type {type(reference).__name__}, not a function",
            "it is called with one array per argument; give arrays as expected=[...]",
        )
    options = _options(**how)
    names = ("program",) if second is None else ("first", "second")
    programs = [one for one in (first, second) if one is not None]
    with ExitStack() as stack:
        folder = stack.enter_context(scratch())
        given = [
            stack.enter_context(program_file(one, name)) for one, name in zip(programs, names, strict=True)
        ]
        files = [_imported(file.path, folder) for file in given]
        certificate = run_verify(
            files[0],
            files[1] if len(files) > 1 else None,
            inputs=_arrays(inputs, "inputs"),
            expected=_arrays(expected, "expected"),
            reference=reference,
            options=options,
        )
    report = Report("verify", certificate.findings, facts={"certificate": certificate.to_json()})
    return Result(report, program=first, certificate=certificate)


def _options(
    *,
    function: str | None,
    on: str | Sequence[str],
    seeds: int | Sequence[int],
    sizes: int | str,
    tolerance: float | str | Tolerance | None,
    flags: Sequence[str],
    timeout: float,
) -> Options:
    from fissile.pipelines.numerics.cases.options import Options
    from fissile.pipelines.numerics.inputs import Sizes
    from fissile.pipelines.numerics.tolerance import Tolerance as Wanted

    return Options(
        function=name_of(function, "function", "main"),
        on=names_of(on, "on", "local-task"),
        seeds=seeds_of(seeds),
        sizes=Sizes.parse(str(sizes)),
        tolerance=tolerance if isinstance(tolerance, Wanted | None) else Wanted.parse(str(tolerance)),
        flags=tuple(flag_words(flags)),
        run_timeout=seconds(timeout, "timeout"),
    )


def _arrays(values: Any, name: str) -> list[Any] | None:
    """``values`` as a list of arrays; one array alone stands for a list of it."""
    import numpy as np

    if values is None:
        return None
    if isinstance(values, np.ndarray):
        values = [values]
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise UsageError(
            f"{name} is of type {type(values).__name__}", f"give a list of arrays: {name}=[x, y]"
        )
    arrays = [np.asarray(one) for one in values]
    for index, array in enumerate(arrays):
        if array.dtype == object:
            raise UsageError(
                f"{name}[{index}] is not an array of numbers",
                f"give arrays: {name}=[x, y]",
            )
    return arrays


def _imported(path: Path, folder: Path) -> Path:
    """The program that ``path`` is, or that a model was imported as. Raises CompileError where the importer refuses it."""
    try:
        return importable(path, folder)
    except PassFailed as refused:
        raise CompileError(Report("verify", tuple(refused.findings))) from None
