"""The requests to a probe server and its answers, a line of JSON each."""

from __future__ import annotations

from dataclasses import dataclass

from fissile.finding import Finding

from .diagnostics import Diagnostic
from .one_dispatch import Probed


@dataclass(frozen=True)
class ServerFlags:
    """The first line: IREE's process-global ``flags``."""

    flags: tuple[str, ...]


@dataclass(frozen=True)
class GenerateJob:
    """``text`` is a module with one hal.executable, ``index`` says which of its dispatches, ``name`` what it is called.

    ``convert`` to LLVM or SPIR-V as well; ``translate`` to the very end, ``flags`` being those of the session that links.
    """

    text: str
    index: int
    name: str
    convert: bool
    translate: bool
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generated:
    """``probed`` is None where the dispatch could not be probed. ``converted`` is the first error of the conversion. ``missed`` are
    findings about what could not be probed."""

    probed: Probed | None
    converted: Diagnostic | None
    missed: tuple[Finding, ...] = ()
