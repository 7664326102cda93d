"""Every program of the support table, in the order of its rows."""

from __future__ import annotations

from collections.abc import Iterator

from .front_end_programs import onnx_programs, torch_programs
from .programs import Program, builtin_programs


def all_programs() -> Iterator[Program]:
    yield from builtin_programs()
    yield from onnx_programs()
    yield from torch_programs()
