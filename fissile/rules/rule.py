"""One entry of the catalogue of finding codes, and how one is added."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fissile.effect import Effect

from .shown import Shown


@dataclass(frozen=True)
class Rule:
    """``what`` happens, ``why`` it happens, ``remedy``: what fissile does or what a person can do.

    ``effect``: what stock IREE does with such a program. Severity, exit status and wording follow from it. ``shown``: how the
    finding is seen and repaired, where ``example`` and ``repaired`` are not declared by a failure (`fissile.passes.failures`).
    """

    code: str
    name: str
    title: str
    what: str
    why: str
    remedy: str
    example: str = ""
    repaired: str = ""
    effect: Effect = Effect.NONE
    shown: Shown | None = None


class _Catalogue(Mapping[str, Rule]):
    """All rules by code. Those that failures (DECLARED_IN) and other packages (PLUGGED) declare are imported when a code is first missing, or all are listed."""

    def __init__(self) -> None:
        self._rules: dict[str, Rule] = {}
        self._declared = self._complete = False

    def enter(self, rule: Rule) -> None:
        if rule.code in self._rules:
            raise ValueError(f"duplicate rule {rule.code}: {self._rules[rule.code].name} and {rule.name}")
        self._rules[rule.code] = rule

    def _with_declared(self) -> dict[str, Rule]:
        """With those of this project's own packages."""
        if not self._declared:
            self._declared = True
            for name in DECLARED_IN:
                package = importlib.import_module(name)
                for found in pkgutil.walk_packages(package.__path__, f"{name}."):
                    importlib.import_module(found.name)
        return self._rules

    def _complete_it(self) -> dict[str, Rule]:
        """With those of other packages as well."""
        self._with_declared()
        if not self._complete:
            self._complete = True
            from importlib.metadata import entry_points  # only where a code is not known

            for group in PLUGGED:
                for entry in entry_points(group=group):
                    with suppress(
                        Exception
                    ):  # a package of others; `fissile.passes.plugins` says what is wrong with it
                        entry.load()
        return self._rules

    def __getitem__(self, code: str) -> Rule:
        if code in self._rules or code in self._with_declared():
            return self._rules[code]
        return self._complete_it()[code]

    def __contains__(self, code: object) -> bool:
        return code in self._rules or code in self._with_declared() or code in self._complete_it()

    def __iter__(self) -> Iterator[str]:
        return iter(self._complete_it())

    def __len__(self) -> int:
        return len(self._complete_it())


PLUGGED = ("fissile.passes", "fissile.checks", "fissile.remedies")
"""Entry points of other packages, whose modules may declare rules."""
DECLARED_IN = ("fissile.passes.failures",)
"""Packages whose modules declare rules of their own: one for each failure."""
RULES = _Catalogue()

RETIRED = {
    "FIS208": "FIS202",
    **dict.fromkeys(
        ("FIS113", "FIS115", "FIS116", "FIS117", "FIS123", "FIS124", "FIS128", "FIS129"), "FIS114"
    ),
    "FIS901": "FIS903",
}
"""Codes of earlier versions, which are not given out again, and the rule that each became part of."""


_OWN = re.compile(r"FIS\d{3}")


def brought(codes: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of those of ``codes`` that are not fissile's own: another process does not know them, where a file of passes declares them."""
    return tuple(RULES[code] for code in dict.fromkeys(codes) if not _OWN.fullmatch(code))


def receive(rules: Iterable[Rule]) -> None:
    """Enters ``rules`` of another process, where they are not known."""
    for rule in rules:
        if rule.code not in RULES:
            RULES.enter(rule)


def define(*args: Any, shown: Shown | None = None, **kwargs: Any) -> None:
    if shown is not None:
        kwargs |= {"example": shown.fails(), "repaired": shown.works(), "shown": shown}
    RULES.enter(Rule(*args, **kwargs))
