"""Why a straight compile is not the end of it, and the finding where nothing repairs it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fissile.finding import Finding, Severity
from fissile.passes.checks.refusals.before_dispatches import PARTIAL, check_kept_partial_bytes
from fissile.passes.checks.refusals.front_end_ops import check_front_end_op
from fissile.passes.checks.refusals.unknown_op import check_unread_op
from fissile.passes.failures.failure import Ending, failure_that_ends
from fissile.passes.failures.not_built.codegen_failed import CodegenFailed
from fissile.passes.iree.messages import UNREGISTERED
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ..probe.diagnostics import Diagnostic, failure_code, quoted
from ..session import PhaseFailed, phase_index
from .packing import Narrow


@dataclass(frozen=True)
class Foreseen:
    """A look at the configured dispatches ended the straight compile: it would fail, or make a wrong or a slow program."""

    message: str
    wrong: bool = False
    """Whether IREE would build it, and compute other numbers."""


TOO_LARGE = Foreseen("a dispatch will need more on-chip memory than its target has")
TOO_LARGE_FOR_DEVICE = Foreseen("a dispatch needs more workgroup memory than the device has")
UNROLLED = Foreseen("the code of a dispatch is unrolled and compiles for minutes")
RECOMPUTES = Foreseen("producers are computed again for every use")
SLOW_CODES = ("FIS140", "FIS212", "FIS213")
"""Of findings that stand for it, or for another reason why the program is right and slow."""


@dataclass(frozen=True)
class NarrowStorage(Foreseen):
    """Narrow elements would be read or written wrongly, where ``narrow`` says."""

    narrow: Narrow = Narrow()


@dataclass(frozen=True)
class StraightEnded:
    """The straight compile crashed or did not end (``ending``); its process is gone. ``message`` says how."""

    message: str
    ending: Ending


NO_TARGET = "FIS004"
Failure = PhaseFailed | StraightEnded | Foreseen


def rejected(failure: Failure) -> Finding:
    """A finding for a failure that has no repair, with IREE's own words and places."""
    if isinstance(failure, StraightEnded):
        return Finding(
            failure_that_ends(failure.ending).code,
            failure.message,
            notes=("every dispatch by itself generates code: nothing to repair was found",),
        )
    if not isinstance(failure, PhaseFailed):
        raise AssertionError(f"the second look does not find what the first found: {failure.message}")
    errors = failure.errors or tuple(failure.diagnostics)
    first = errors[0] if errors else Diagnostic("error", failure.message, failure.message)
    early = phase_index(failure.phase) <= phase_index(BOUNDARIES_PLACED_AT)
    code = failure_code(first.text)
    if early and code != NO_TARGET:
        code = "FIS001"
    if code == "FIS003":
        return Finding(
            code,
            "the module has no functions: there is nothing to compile",
            places=first.places[:1],
            notes=("give a module with at least one public function",),
            detail=first.text,
        )
    if code == NO_TARGET:
        return no_target(first)
    if code == CodegenFailed.code and not first.places:
        code = "FIS002"
    if failure.phase == "start" and (unknown := check_unread_op(first.message, first.places[:1])) is not None:
        return unknown.with_(stock=quoted(first.message), detail=first.text)
    if code == PARTIAL:
        return check_kept_partial_bytes(first.message, first.places[:1]).with_(
            stock=quoted(first.message), detail=first.text
        )
    rest = tuple(f"also: {quoted(d.message)}" for d in errors[1:4] if d.message != first.message)
    if early and (unlowered := check_front_end_op(first.message, first.places[:1])) is not None:
        return unlowered.with_(
            stock=quoted(first.message), detail="\n".join(d.text for d in failure.diagnostics)
        )
    return Finding(
        code,
        f"IREE stops before phase {failure.phase}: {quoted(first.message)}"
        if failure.phase != "start"
        else f"the input is not a valid module: {first.message}",
        places=first.places[:1],
        notes=rest,
        stock=CRASHES_ON_UNKNOWN_OP
        if UNREGISTERED in first.message
        else quoted(first.message)
        if errors
        else "",
        detail="\n".join(d.text for d in failure.diagnostics),
    )


CRASHES_ON_UNKNOWN_OP = (
    "it takes an op of a dialect that it does not know, and crashes on it in a later phase"
)
"""iree-compile allows such ops as it parses; dispatch creation ends by SIGSEGV (3.13). The compile here does not allow them."""


def no_target(diagnostic: Diagnostic) -> Finding:
    """FIS004 for IREE's message about a device, backend or architecture; what it knows instead is a note."""
    wrong, _, known = diagnostic.message.partition("; ")
    return Finding(
        NO_TARGET,
        f"IREE has no target to generate code for: {wrong}",
        notes=(*((known,) if known else ()), "`fissile targets` lists what IREE 3.13 knows"),
        detail=diagnostic.text,
    )


def suggested(
    finding: Finding, note: str = "--repair=suggest: nothing was changed; --repair=auto applies it"
) -> Finding:
    """A repaired finding as it reads where nothing was applied; ``note`` says what applies it."""
    if finding.severity is not Severity.REPAIRED:
        return finding
    helps = tuple(replace(h, applied=False, title=h.advice or h.title, advice="") for h in finding.helps)
    return finding.with_(severity=Severity.ERROR, helps=helps, notes=(*finding.notes, note))
