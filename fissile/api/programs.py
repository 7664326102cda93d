"""What the Python functions take as a program, as a file that a worker process reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Union

from fissile.errors import UsageError
from fissile.given_files import named_in_utf8
from fissile.pipelines.compile.request import STDIN_NAME
from fissile.pipelines.report.untrusted_text import SourceLines
from fissile.report import Report

from .arguments import NO_TEXT, is_text

IN_MEMORY = "<program>"
"""What stands for the file of a program in memory, in places and messages."""


class SavesMlir(Protocol):
    """What iree-turbine's `aot.export` returns."""

    def save_mlir(self, file_path: Any, /) -> Any: ...


class HasOperation(Protocol):
    """A module of MLIR's Python bindings (`iree.compiler.ir.Module`)."""

    @property
    def operation(self) -> Any: ...


class HasVmfb(Protocol):
    """A compiled module: the result of `fissile.compile`."""

    @property
    def vmfb(self) -> bytes: ...


Program = Union[str, "os.PathLike[str]", bytes, bytearray, SavesMlir, HasOperation, HasVmfb]


@dataclass(frozen=True)
class ProgramFile:
    """``path`` is the file to read; ``name`` what it is called in reports, where that is another."""

    path: Path
    name: str = ""

    @property
    def in_locations(self) -> str:
        """What IREE is to call it, so that the module does not depend on a temporary path: as `compile_str` of IREE does. Empty: its path."""
        return STDIN_NAME if self.name else ""

    @property
    def shown(self) -> str:
        return self.name or str(self.path)


@contextmanager
def program_file(program: Program, name: str = "program") -> Iterator[ProgramFile]:
    """``program`` as a file, which is gone with the block where it was in memory: it is called ``name`` then.

    Raises UsageError for what is no program.
    """
    if isinstance(program, os.PathLike) or isinstance(program, str) and not _is_text(program):
        yield ProgramFile(_existing(Path(program)))
        return
    from fissile.pipelines.process.scratch import scratch

    with scratch() as folder:
        yield ProgramFile(_written(program, folder / name), IN_MEMORY)


def source_lines(program: Program) -> SourceLines:
    """The lines of ``program``, which reports quote; none of bytecode."""
    if isinstance(program, os.PathLike) or isinstance(program, str) and not _is_text(program):
        return SourceLines(os.fspath(program))
    if isinstance(program, str):
        program = program.encode()
    return SourceLines(IN_MEMORY, bytes(program) if isinstance(program, (bytes, bytearray)) else b"")


def _is_text(program: str) -> bool:
    return "\n" in program or "{" in program and not os.path.exists(program)


def _existing(path: Path) -> Path:
    if not str(path).strip(" ."):
        raise UsageError("the program is an empty string", "give a path, or MLIR with a public function")
    named_in_utf8((path,))
    if not path.exists():
        raise UsageError(f"no such file: {path}", "a string without a line break or a brace is a path")
    return path


def _written(program: Any, stem: Path) -> Path:
    """The file ``stem`` with the suffix that fits, written."""
    mlir, bytecode = stem.with_suffix(".mlir"), stem.with_suffix(".mlirbc")
    if isinstance(program, str):
        if not is_text(program):
            raise UsageError("the program is no text", NO_TEXT)
        program = program.encode()
    if isinstance(program, (bytes, bytearray)):
        file = bytecode if program.startswith(_BYTECODE) else mlir
        file.write_bytes(program)
        return file
    if isinstance(vmfb := getattr(program, "vmfb", None), bytes):
        if not vmfb:
            raise UsageError("the result holds no module", "it was refused, or it is a check's")
        module = stem.with_suffix(".vmfb")
        module.write_bytes(vmfb)
        return module
    if callable(save := getattr(program, "save_mlir", None)):
        save(bytecode)
        return bytecode
    if (made := getattr(program, "mlir_module", None)) is not None:
        program = made
    operation: Any = getattr(program, "operation", None)
    if not callable(getattr(operation, "write_bytecode", None)):
        raise UsageError(
            f"{type(program).__name__} is not a program",
            "give a path, MLIR as text or bytes, an iree.compiler.ir.Module, or what aot.export returns",
        )
    with bytecode.open("wb") as opened:
        operation.write_bytecode(opened)
    return bytecode


_BYTECODE = b"ML\xefR"


def renamed(report: Report, file: ProgramFile) -> Report:
    """``report`` with the name of ``file`` where its path stands: in places, sentences and commands."""
    if not file.name:
        return report
    text = json.dumps(report.to_json()).replace(json.dumps(str(file.path))[1:-1], file.name)
    return Report.from_json(json.loads(text.replace(file.in_locations, file.name)))
