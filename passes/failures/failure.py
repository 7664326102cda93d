"""What a failure is: its manual page, where it may occur, how it is seen in generated code, and the finding about it.

The catalogue of rules, what a probe looks for and sends, which dispatches are probed before they are trusted, the order in which
findings of one dispatch count and the severity of each derive from the files beside this one. These files import IREE's bindings
inside of their methods only: `fissile explain` and the process that reads reports import them all.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from fissile.effect import Effect
from fissile.rules.rule import define

if TYPE_CHECKING:
    from iree.compiler import ir

    from fissile.finding import Finding
    from fissile.passes.analysis.dispatch.dispatches import Dispatch
    from fissile.passes.analysis.dispatch.provenance import SourceOp
    from fissile.passes.analysis.kernel.evidence import Evidence
    from fissile.passes.analysis.memory.tiles import ConfiguredDispatch
    from fissile.passes.iree.backends import Backend


class Stage(Enum):
    """At which point of code generation a failure is seen."""

    LOWERED = "after the lowering pipeline, before the conversion to LLVM or SPIR-V"
    VIEWS_FOLDED = "then with views of buffers folded into their accesses"


class FailureDefinitionError(TypeError):
    """A failure class is defined wrongly; the message names it."""


class Failure:
    """One failure of IREE, seen in the code of a dispatch.

    ``code``, ``name``, ``title``, ``what``, ``why``, ``remedy`` and ``effect`` make its rule. ``fails`` is a program that has the
    failure on ``target`` (a name that `fissile targets` lists) and has it no more after ``repaired_by``, a pass as text, at phase
    global-optimization: tests run both.
    ``iree`` lists the versions in which it was seen, ``upstream`` the issue. ``order``: of several failures of one dispatch the one with
    the smallest is reported; those from CONVERTED on are behind an error of IREE's conversion. ``packed``: narrow
    elements are at fault, which packing repairs and no edit. ``reported_only``: no device was seen to compute wrong numbers, so
    the finding is reported and the program is left as it is, but for ``--tune``.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    what: ClassVar[str]
    why: ClassVar[str]
    remedy: ClassVar[str]
    effect: ClassVar[Effect]
    fails: ClassVar[str] = ""
    repaired_by: ClassVar[str] = ""
    target: ClassVar[str] = ""
    iree: ClassVar[tuple[str, ...]] = ("3.13",)
    upstream: ClassVar[str] = ""
    stage: ClassVar[Stage] = Stage.LOWERED
    order: ClassVar[int]
    packed: ClassVar[bool] = False
    reported_only: ClassVar[bool] = False

    def concerns(self, backend: Backend) -> bool:
        """Whether code of ``backend`` is looked at."""
        raise NotImplementedError

    def may_occur(self, dispatch: Dispatch, configured: Callable[[], ConfiguredDispatch]) -> bool:
        """Whether the code of ``dispatch`` has to be generated to know. False only where it cannot occur. ``configured()`` has its
        loops and tiles, read once for all failures."""
        raise NotImplementedError

    def detect(self, dispatch: Dispatch, code: ir.Operation) -> Evidence | None:
        """What ``code``, generated for ``dispatch``, shows of it at ``stage``."""
        raise NotImplementedError

    def explain(self, dispatch: Dispatch, evidence: Evidence, ops: Sequence[SourceOp]) -> Finding | None:
        """The finding; None where the evidence is too little to matter. ``ops`` are the source ops that the dispatch's tags name."""
        raise NotImplementedError


CONVERTED = 50
"""The place of an error of IREE's conversion among the failures of a dispatch."""

_FAILURES: dict[str, Failure] = {}


def failure(cls: type[Failure]) -> type[Failure]:
    """Class decorator: enters the failure and its rule. Raises FailureDefinitionError for a wrong one."""
    who = f"failure class {cls.__module__}.{cls.__qualname__}"
    parts = ("code", "name", "title", "what", "why", "remedy", "effect", "order")
    if missing := [part for part in parts if getattr(cls, part, None) in (None, "")]:
        raise FailureDefinitionError(f"{who} does not declare '{missing[0]}'")
    if cls.fails and not (cls.repaired_by and cls.target):
        raise FailureDefinitionError(
            f"{who} has a program that fails and no pass that repairs it, or no target"
        )
    for method in ("concerns", "may_occur", "detect", "explain"):
        if getattr(cls, method) is getattr(Failure, method):
            raise FailureDefinitionError(f"{who} does not define {method}")
    define(
        cls.code,
        cls.name,
        cls.title,
        cls.what,
        cls.why,
        cls.remedy,
        example=f"// {cls.target}\n{cls.fails}" if cls.fails else "",
        repaired=f"the same after {cls.repaired_by}" if cls.fails else "",
        effect=cls.effect,
    )
    _FAILURES[cls.code] = cls()
    return cls


@cache
def failures() -> tuple[Failure, ...]:
    """All failures, by order."""
    package = __package__
    for found in pkgutil.iter_modules(importlib.import_module(package).__path__):
        importlib.import_module(f"{package}.{found.name}")
    return tuple(sorted(_FAILURES.values(), key=lambda one: one.order))


def failures_of(backend: Backend) -> tuple[Failure, ...]:
    """Those that code of ``backend`` is looked at for."""
    return tuple(one for one in failures() if one.concerns(backend))
