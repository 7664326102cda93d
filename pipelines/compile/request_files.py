"""The files that a request names, looked at before anything is done: whether they can be read, and whether there is a place for them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from fissile.errors import UsageError
from fissile.given_files import written_apart

from ..process.atomic_write import place_of
from .request import CompileRequest


def check_input(request: CompileRequest) -> None:
    """Raises UsageError where the input cannot be read."""
    path = Path(request.input)
    if request.input == "-":
        return
    if not path.exists():
        raise UsageError(f"no such file: {request.input}")
    if not (path.is_file() or request.is_handed_over):
        raise UsageError(f"not a file: {request.input}")
    if not os.access(path, os.R_OK):
        raise UsageError(f"cannot read {request.input}: permission denied")


def check_artifacts(request: CompileRequest) -> CompileRequest:
    """Refuses early what could only be found out after the repair: other files that have no place to go."""
    beside = (
        ("--emit-mlir", request.emit_mlir),
        ("--emit-tuning-spec", request.emit_tuning_spec),
        ("--report-file", request.report_file),
        ("--report", request.page),
    )
    written_apart((("the input", request.input), ("-o", request.output)))
    for whole in (("the input", request.input), ("the output", request.output)):
        written_apart((whole, *beside))
    if request.save_temps:
        _check_folder("--save-temps", request.save_temps)
    for option, file in beside:
        if file == "-":
            raise UsageError(f"{option} does not write to standard output", "name a file")
    return replace(
        request,
        emit_mlir=_reachable("--emit-mlir", request.emit_mlir),
        emit_tuning_spec=_reachable("--emit-tuning-spec", request.emit_tuning_spec),
    )


def _reachable(option: str, file: str) -> str:
    """``file`` as the worker can name it: a descriptor of this process (/dev/fd/3) by its number in /proc."""
    try:
        place = place_of(file) if file else None
        return str(place.path) if place is not None and place.path.is_relative_to("/proc") else file
    except UsageError as error:
        raise UsageError(
            f"cannot write {option}={file}: {error.message.rpartition(': ')[2]}",
            "name a file that can be written",
        ) from None


def _check_folder(option: str, folder: str) -> None:
    """Raises UsageError where ``folder`` is none that files can be put into, and cannot become one."""
    above = Path(folder)
    while not os.path.lexists(above) and above != above.parent:
        above = above.parent
    if not above.is_dir():
        raise UsageError(f"cannot write {option}={folder}: {above} is no folder", "name a folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write {option}={folder}: permission denied", "name another folder")
