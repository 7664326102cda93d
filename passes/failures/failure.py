"""What a failure is: its manual page, where it may occur, how it is seen in generated code, and the finding about it.

The catalogue of rules, what a probe looks for and sends, which dispatches are probed before they are trusted, the order in which
findings of one dispatch count and the severity of each derive from the files beside this one. These files import IREE's bindings
inside of their methods only: `fissile explain` and the process that reads reports import them all.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from fissile.effect import Effect
from fissile.rules.rule import define

if TYPE_CHECKING:
    from iree.compiler import ir

    from fissile.finding import Finding, Limit
    from fissile.passes.analysis.dispatch.dispatches import Dispatch
    from fissile.passes.analysis.dispatch.provenance import SourceOp
    from fissile.passes.analysis.kernel.evidence import Evidence
    from fissile.passes.analysis.memory.footprint import Footprint
    from fissile.passes.analysis.memory.tiles import ConfiguredDispatch
    from fissile.passes.iree.backends import Backend


class Stage(Enum):
    """Where a failure is seen."""

    NOT_BUILT = "IREE stops: by its message, by the buffers that it counts, or by how its process ends"
    CONFIGURED = "in the configured dispatch: no code is generated"
    LOWERED = "after the lowering pipeline, before the conversion to LLVM or SPIR-V"
    VIEWS_FOLDED = "then with views of buffers folded into their accesses"
    NARROW_EMULATED = "then with elements below a word emulated by words"


class Ending(Enum):
    """How the process that works on a dispatch, or on all of a program, was ended without an answer."""

    TIMED_OUT = "timed out"
    CRASHED = "crashed"


class FailureDefinitionError(TypeError):
    """A failure class is defined wrongly; the message names it."""


class Failure:
    """One failure of IREE, seen in a dispatch.

    ``code``, ``name``, ``title``, ``what``, ``why``, ``remedy`` and ``effect`` make its rule. ``fails`` is a program that has the
    failure on ``target`` (a name that `fissile targets` lists) and has it no more after ``repaired_by``, a pass as text, at phase
    global-optimization: tests run both.
    ``iree`` lists the versions in which it was seen, ``upstream`` the issue. ``order``: of several failures of one dispatch the one with
    the smallest is reported; those from CONVERTED on are behind an error of IREE's conversion.

    What the repair has to know of it:
    ``reported_only``: no device was seen to compute wrong numbers, so it is left as it is, but for ``--tune``.
    ``packed``: narrow elements are at fault, which packing repairs and no edit (`narrow_elements.py`).
    ``predicted``: a prediction tells which dispatches have it; where nothing worse was found, those without are not probed again.
    ``minimised``: a set of edits that repairs it is made smaller; not where every look takes the whole time limit.
    ``last_results``: the result of an op that feeds no other of the dispatch may be at fault.
    ``endless_code``: where it is found, the code is not generated, which would take minutes.
    ``lacks_code``: IREE has no code for an op or an element type on this target.
    ``may_vary``: the next run may end otherwise (memory ran out), so that its answer is not kept.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    title: ClassVar[str]
    what: ClassVar[str]
    why: ClassVar[str]
    remedy: ClassVar[str]
    effect: ClassVar[Effect]
    fails: ClassVar[str]
    repaired_by: ClassVar[str]
    target: ClassVar[str]
    iree: ClassVar[tuple[str, ...]] = ("3.13",)
    upstream: ClassVar[str] = ""
    stage: ClassVar[Stage] = Stage.LOWERED
    order: ClassVar[int]
    packed: ClassVar[bool] = False
    reported_only: ClassVar[bool] = False
    predicted: ClassVar[bool] = False
    minimised: ClassVar[bool] = True
    last_results: ClassVar[bool] = False
    endless_code: ClassVar[bool] = False
    lacks_code: ClassVar[bool] = False
    may_vary: ClassVar[bool] = False
    messages: ClassVar[tuple[str, ...]] = ()
    """Patterns in IREE's messages that mean this failure (`passes/iree/messages.py` names each)."""
    exceeds: ClassVar[str] = ""
    """The on-chip memory that a dispatch needs too much of (as `Allocation.space`); empty for either."""
    bounded: ClassVar[bool] = True
    """Whether the bytes that it needs are known."""
    ending: ClassVar[Ending | None] = None
    """How the process ends that meets this failure."""

    def concerns(self, backend: Backend) -> bool:
        """Whether code of ``backend`` is looked at."""
        raise NotImplementedError

    def may_occur(self, dispatch: Dispatch, configured: Callable[[], ConfiguredDispatch]) -> bool:
        """Whether the code of ``dispatch`` has to be generated to know. False only where it cannot occur. ``configured()`` has its
        loops and tiles, read once for all failures."""
        raise NotImplementedError

    def detect(self, dispatch: Dispatch, code: ir.Operation) -> Evidence | None:
        """What ``code``, generated for ``dispatch``, shows of it at ``stage``; ``code`` is the configured dispatch itself at CONFIGURED."""
        raise NotImplementedError

    def without_code(self, dispatch: Dispatch) -> Evidence:
        """What is known of it where no code is generated; nothing where only the code can show it."""
        from fissile.passes.analysis.kernel.evidence import NOTHING

        return NOTHING

    def matters(
        self, dispatch: Dispatch, evidence: Evidence, tune: bool = False, changed: bool = False
    ) -> bool:
        """Whether ``evidence`` is enough to report; ``tune``: also what is slow on another device."""
        return True

    def measure(self, dispatch: Dispatch, footprint: Footprint, limit: Limit | None) -> Evidence | None:
        """What the on-chip buffers show of it. ``limit`` stands in for the target's own: a budget, a vendor's figure."""
        return None

    def explain(self, dispatch: Dispatch, evidence: Evidence, ops: Sequence[SourceOp]) -> Finding | None:
        """The finding; None where the evidence is too little to matter. ``ops`` are the source ops that the dispatch's tags name."""
        raise NotImplementedError


CONVERTED = 50
"""The place of an error of IREE's conversion among the failures of a dispatch."""

_FAILURES: dict[str, Failure] = {}


def failure(cls: type[Failure]) -> type[Failure]:
    """Class decorator: enters the failure and its rule. Raises FailureDefinitionError for a wrong one."""
    who = f"failure class {cls.__module__}.{cls.__qualname__}"
    parts = (
        "code",
        "name",
        "title",
        "what",
        "why",
        "remedy",
        "effect",
        "order",
        "fails",
        "target",
        "repaired_by",
    )
    if missing := [part for part in parts if getattr(cls, part, None) in (None, "")]:
        raise FailureDefinitionError(f"{who} does not declare '{missing[0]}'")
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
        example=f"// {cls.target}\n{cls.fails}",
        repaired=f"the same program: fissile compile runs {cls.repaired_by} on it",
        effect=cls.effect,
    )
    _FAILURES[cls.code] = cls()
    return cls


@cache
def failures() -> tuple[Failure, ...]:
    """All failures, by order."""
    here = Path(__file__).parent
    for file in sorted(here.rglob("*.py")):  # `pkgutil` finds them too, and loads `inspect` for it
        if file.name != "__init__.py":
            importlib.import_module(".".join((__package__, *file.relative_to(here).with_suffix("").parts)))
    return tuple(sorted(_FAILURES.values(), key=lambda one: one.order))


def failures_of(backend: Backend) -> tuple[Failure, ...]:
    """Those that dispatches of ``backend`` may have."""
    return tuple(one for one in failures() if one.concerns(backend))


def codes_of(wanted: Callable[[Failure], object]) -> tuple[str, ...]:
    """The codes of the failures that are ``wanted``, by order."""
    return tuple(one.code for one in failures() if wanted(one))


def failure_that_ends(ending: Ending) -> Failure:
    """The failure that a process meets which is ended so."""
    return next(one for one in failures() if one.ending is ending)


def memory_failure(space: str, bounded: bool) -> Failure:
    """The failure of a dispatch that needs too much of ``space``; ``bounded``: it is known how much."""
    among = (one for one in failures() if one.exceeds or not one.bounded)
    return next(one for one in among if one.bounded is bounded and one.exceeds in ("", space))


def failure_named(text: str) -> Failure:
    """The failure that IREE names in its message ``text``: the first by order, the last of which takes any."""
    return next(one for one in failures() if any(re.search(pattern, text) for pattern in one.messages))
