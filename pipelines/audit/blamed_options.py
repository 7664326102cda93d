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

Flags = tuple[str, ...]
"""One option: a word, and the words of its value where that stands apart."""


def options_of(flags: Sequence[str]) -> list[Flags]:
    """``flags``, option by option."""
    options: list[Flags] = []
    for word in flags:
        if word.startswith("-") or not options:
            options.append((word,))
        else:
            options[-1] = (*options[-1], word)
    return options


def blamed(flags: Sequence[str], compiles: Callable[[Sequence[str]], bool]) -> tuple[Flags, ...]:
    """The smallest set of options of ``flags`` without which the program compiles; empty where none is to blame.

    ``compiles`` says whether it does with the flags that it is given. Options that name the target stay.
    """
    options = options_of(flags)
    left_out = [option for option in options if _may_be_left_out(option[0])]
    if not 0 < len(left_out) <= MAX_OPTIONS or not compiles(_without(options, left_out)):
        return ()
    for option in tuple(left_out):
        fewer = [other for other in left_out if other is not option]
        if fewer and compiles(_without(options, fewer)):
            left_out = fewer
    return tuple(left_out)


def finding_of_options(
    source: str, flags: Sequence[str], refusal: Finding, *, start: str, dispatch_timeout: float
) -> Finding | None:
    """FIS007 in the place of ``refusal``, where an option of ``flags``, or one that the target needs, is what IREE refuses ``source`` for."""
    until = time.monotonic() + SECONDS

    def compiles(others: Sequence[str]) -> bool:
        left = until - time.monotonic()
        if left <= 0:
            return False
        try:
            report = compiled_by_fissile(Path(source), others, start, dispatch_timeout, time_limit=left)
        except FissileError:
            return False
        return not report.errors

    if (needed := model_of(flags)) and needed not in flags:
        name = needed.partition("=")[0]
        others = [option for option in options_of(flags) if option[0].partition("=")[0] != name]
        if compiles((*(word for option in others for word in option), needed)):
            return _finding(refusal, f"the target needs {needed}", f"add {needed}", "with it")
    if found := blamed(flags, compiles):
        names = " and ".join(" ".join(option) for option in found)
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


def _may_be_left_out(word: str) -> bool:
    name = word.lstrip("-")
    return not word.startswith(TARGET_FLAGS) and not re.match("|".join(PRINTED_AT_EXIT), name)


def _without(options: Sequence[Flags], left_out: Sequence[Flags]) -> tuple[str, ...]:
    return tuple(word for option in options if not any(option is one for one in left_out) for word in option)
