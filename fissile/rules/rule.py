"""One entry of the catalogue of finding codes, and how one is added."""

from __future__ import annotations

from dataclasses import dataclass

from fissile.effect import Effect


@dataclass(frozen=True)
class Rule:
    """``what`` happens, ``why`` it happens, ``remedy``: what fissile does or what a person can do.

    ``effect``: what stock IREE does with such a program. Severity, exit status and wording follow from it.
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


RULES: dict[str, Rule] = {}
"""All rules by code."""

RETIRED = dict.fromkeys(
    ("FIS113", "FIS115", "FIS116", "FIS117", "FIS123", "FIS124", "FIS128", "FIS129"), "FIS114"
)
"""Codes of earlier versions, which are not given out again, and the rule that each became part of."""


def define(*args: str, **kwargs: str | Effect) -> None:
    rule = Rule(*args, **kwargs)
    if rule.code in RULES:
        raise ValueError(f"duplicate rule {rule.code}: {RULES[rule.code].name} and {rule.name}")
    RULES[rule.code] = rule
