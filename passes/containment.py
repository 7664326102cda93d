"""Fault containment for every guard, check, prediction, probe and remedy: a step that throws or does not end fails alone.

`contained` runs one step. Where it throws, the fallback stands for "nothing is known", FIS902 names the step and its op, and the
caller goes on. A step changes nothing but clones; one that changes the module itself (`contained_change`) says how to put it back.
Outside `containing`, in a unit test or in `fissile-opt`, an exception stays an exception.

Answers pass: findings (PassFailed), IREE's own refusals, usage errors.
"""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from fissile.dialect import place_of
from fissile.errors import FissileError, InternalError, UsageError
from fissile.finding import Finding, Place, Severity

Answer = TypeVar("Answer")
Other = TypeVar("Other")
NOT_CHECKED, STEPPED_ASIDE = "FIS902", "FIS903"
CPU_LIMIT = 120.0
"""Seconds of processor time for one step; code generation has a limit of its own."""


class NotEnded(Exception):
    """A step took longer than CPU_LIMIT."""


class Containment:
    """The steps of one command that failed. ``command`` shows them again.

    ``expendable``: the process may be ended by SIGPROF, where a step stays in native code, which no exception leaves.
    """

    def __init__(self, command: str = "", expendable: bool = False) -> None:
        self._command = command
        self.expendable = expendable
        self._missed: dict[tuple, Finding] = {}
        self.limited = False

    @property
    def missed(self) -> tuple[Finding, ...]:
        return tuple(self._missed.values())

    def add(self, finding: Finding) -> None:
        """Keeps FIS902 once for each step, op and error."""
        if self._command and not any(note.startswith("report it") for note in finding.notes):
            finding = finding.with_(
                notes=(*finding.notes, f"report it, with what this prints: {self._command}")
            )
        self._missed.setdefault((finding.code, finding.message, finding.subject, finding.places), finding)

    def missing(self, step: str, about: object, error: BaseException, then: str) -> None:
        """Keeps that ``step`` of ``about`` ended in ``error``; ``then`` says what became of it."""
        subject, place = described(about)
        of = f" of {subject}" if subject else ""
        self.add(
            Finding(
                NOT_CHECKED,
                f"not checked: {step}{of}: {one_line(error)}",
                Severity.WARNING,
                subject,
                places=(place,) if place else (),
                notes=(then,),
                detail="".join(traceback.format_exception(error)),
            )
        )


_CURRENT: ContextVar[Containment | None] = ContextVar("containment", default=None)


@contextmanager
def containing(containment: Containment) -> Iterator[Containment]:
    """Every step until the end of the block is contained by ``containment``."""
    token = _CURRENT.set(containment)
    try:
        yield containment
    finally:
        _CURRENT.reset(token)


def current() -> Containment | None:
    return _CURRENT.get()


def passes_on(error: BaseException) -> bool:
    """Whether ``error`` is an answer (findings, IREE's refusal, a usage error, a step of fissile's own), not a failure of fissile's."""
    return (
        not isinstance(error, Exception)
        or isinstance(error, FissileError)
        and not isinstance(error, InternalError)
    )


def contained(
    step: str,
    compute: Callable[[], Answer],
    fallback: Other,
    *,
    about: object = None,
    cpu_limit: float = CPU_LIMIT,
    usage: bool = False,
) -> Answer | Other:
    """``compute()``, or ``fallback`` where it throws or takes more than ``cpu_limit`` seconds of processor time (0: no limit).

    ``usage``: a UsageError in it may be the user's and passes; elsewhere it is a failure as any other.

    ``step`` is a noun phrase for FIS902. ``about`` is the op or dispatch, or a name. ``compute`` changes nothing but a clone.
    """
    containment = _CURRENT.get()
    if containment is None:
        return compute()
    try:
        with _limit(containment, cpu_limit):
            return compute()
    except Exception as error:
        if passes_on(error) and (usage or not isinstance(error, UsageError)):
            raise
        containment.missing(step, about, error, "the rest was done without it")
        return fallback


def contained_change(
    step: str, act: Callable[[], Answer], put_back: Callable[[], object], fallback: Other
) -> Answer | Other:
    """``act()``, which changes the module; where it throws, ``put_back()`` undoes what it did, and the answer is ``fallback``."""
    containment = _CURRENT.get()
    if containment is None:
        return act()
    try:
        with _limit(containment, CPU_LIMIT):
            return act()
    except Exception as error:
        if passes_on(error):
            raise
        put_back()
        containment.missing(step, None, error, "the module was put back as it was before the step")
        return fallback


@contextmanager
def _limit(containment: Containment, seconds: float) -> Iterator[None]:
    """Raises NotEnded inside the block after ``seconds`` of processor time; the outermost limit counts. Main thread only."""
    if not seconds or containment.limited or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_signal) -> None:
        raise NotEnded(f"no answer after {seconds:g} seconds of processor time")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_PROF, 2 * seconds if containment.expendable else 0)
    containment.limited = True
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGVTALRM, before)
        containment.limited = False


def one_line(error: BaseException) -> str:
    """The error in one line: of what a callback raised inside IREE, the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    summary = lines[-1] if lines and "Traceback" in str(error) else lines[0] if lines else ""
    text = (
        summary
        if summary.startswith(type(error).__name__) or "Traceback" in str(error) and summary
        else f"{type(error).__name__}: {summary}"
    )
    return text.rstrip(": ")[:300]


def described(about: object) -> tuple[str, Place | None]:
    """The name and the place of an op, of a dispatch or of whatever has a name; never throws."""
    try:
        if about is None or isinstance(about, str):
            return about or "", None
        op = getattr(about, "operation", None)
        if op is not None and hasattr(op, "location"):
            return op.name, place_of(op)
        return str(getattr(about, "name", about)), getattr(about, "place", None)
    except Exception:  # the op may be what cannot be read
        return "", None
