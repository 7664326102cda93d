"""Options of the command line without which IREE takes a program that it refuses: each is tried, none is known beforehand."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from fissile.errors import FissileError
from fissile.finding import Finding, Help
from fissile.passes.iree.flags import PRINTED_AT_EXIT
from fissile.passes.iree.legality.candidates import TARGET_FLAGS
from fissile.passes.iree.targets import model_of

from .repairable import compiled_by_fissile

CODE = "FIS007"
MAX_OPTIONS = 8
"""A compile for each of them, beside the first; a command line has one or two of the kind."""
SECONDS = 120.0
"""For all of these compiles. What was found until then is true, if not the smallest set."""

Compiles = Callable[[Sequence[str]], bool | None]
"""Whether the program compiles with flags, each one word; None where the time is over before that is known."""


def blamed(flags: Sequence[str], compiles: Compiles) -> tuple[str, ...]:
    """The smallest set of options of ``flags`` without which the program compiles; empty where none is to blame.

    Options that name the target stay. The program has to fail with all of ``flags`` when it is compiled in the same way: what
    was refused because repairs were off, or is only predicted, compiles with the options as well.
    """
    left_out = [flag for flag in dict.fromkeys(flags) if _may_be_left_out(flag)]
    if not 0 < len(left_out) <= MAX_OPTIONS or not compiles(_without(flags, left_out)):
        return ()
    if compiles(flags) is not False:
        return ()
    for flag in tuple(left_out):
        fewer = [other for other in left_out if other != flag]
        if fewer and compiles(_without(flags, fewer)):
            left_out = fewer
    return tuple(left_out)


def finding_of_options(
    source: str, flags: Sequence[str], refusal: Finding, *, start: str, dispatch_timeout: float
) -> Finding | None:
    """FIS007 in the place of ``refusal``, where an option of ``flags``, or one that the target needs, is what IREE refuses ``source`` for."""
    until = time.monotonic() + SECONDS

    def compiles(others: Sequence[str]) -> bool | None:
        left = until - time.monotonic()
        if left <= 0:
            return None
        try:
            report = compiled_by_fissile(Path(source), others, start, dispatch_timeout, time_limit=left)
        except FissileError:
            return False
        return not report.errors or (None if time.monotonic() >= until else False)

    if (needed := model_of(flags)) and needed not in flags:
        name = needed.partition("=")[0]
        others = [flag for flag in flags if flag.partition("=")[0] != name]
        if compiles((*others, needed)) and compiles(flags) is False:
            return _finding(refusal, f"the target needs {needed}", f"add {needed}", "with it")
    if found := blamed(flags, compiles):
        names = " and ".join(found)
        one = "it" if len(found) == 1 else "them"
        return _finding(
            refusal, f"IREE rejects the program for {names}", f"leave out {names}", f"without {one}"
        )
    return None


def _finding(refusal: Finding, message: str, way_out: str, when: str) -> Finding:
    return Finding(
        CODE,
        message,
        target=refusal.target,
        stock=refusal.stock or refusal.message,
        helps=(Help(way_out, facts=(("tried", f"{when}, the program compiles"),)),),
    )


def _may_be_left_out(flag: str) -> bool:
    return not flag.startswith(TARGET_FLAGS) and not re.match("|".join(PRINTED_AT_EXIT), flag.lstrip("-"))


def _without(flags: Sequence[str], left_out: Sequence[str]) -> tuple[str, ...]:
    return tuple(flag for flag in flags if flag not in left_out)
