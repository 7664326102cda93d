"""`fissile explain CODE`: the manual page of a finding."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap

from fissile.cli.fitted_text import LEAST, columns_of, fitted, print_fitted
from fissile.errors import ExitCode, UsageError, closest
from fissile.rules import RETIRED, RULES, Rule

MOST = 88
"""Columns of a manual page."""


def run(args: argparse.Namespace) -> int:
    if args.json_schema:
        from fissile.pipelines.report.json_schema import REPORT

        print(json.dumps(REPORT, indent=2))
        return int(ExitCode.CLEAN)
    if args.strategies:
        from fissile.pipelines.report.declared_tables import strategies_text  # IREE's bindings: only for this

        print_fitted(strategies_text())
        return int(ExitCode.CLEAN)
    if args.load_passes:
        from fissile.passes.catalogue import load_user_passes

        for file in args.load_passes:
            load_user_passes(file)
    if not args.code:
        rules = sorted(RULES.values(), key=lambda r: r.code)
        room = max(len(rule.name) for rule in rules)
        print_fitted("".join(f"{rule.code}  {rule.name:<{room}}  {rule.title}\n" for rule in rules))
        return int(ExitCode.CLEAN)
    width = min(MOST, columns_of(sys.stdout) or MOST)
    print("\n".join(_replaced(code) + page(find_rule(code), width) for code in args.code), end="")
    return int(ExitCode.CLEAN)


def find_rule(text: str) -> Rule:
    """A rule by code or name, in any case; of a retired code, the rule that it became part of."""
    text = RETIRED.get(text.upper(), text)
    for rule in RULES.values():
        if text.lower() in (rule.code.lower(), rule.name):
            return rule
    if text[:3].upper() == "FIS":
        near = max(
            sorted(RULES), key=lambda code: sum(a == b for a, b in zip(code, text.upper(), strict=False))
        )
        hint = f"did you mean '{near}'? `fissile explain` lists all"
    else:
        near_name = closest(text, [rule.name for rule in RULES.values()])
        hint = (
            near_name or "`fissile explain` lists all; --load-passes=FILE.py loads those of your own passes"
        )
    raise UsageError(f"unknown finding '{text}'", hint)


def _replaced(text: str) -> str:
    code = text.upper()
    return f"{code} is now part of {RETIRED[code]}.\n\n" if code in RETIRED else ""


def page(rule: Rule, width: int = MOST) -> str:
    """The manual page of ``rule``, in ``width`` columns; programs and commands keep their lines."""
    parts = [fitted(f"{rule.code} {rule.name}: {rule.title}", width) + "\n"]
    for heading, text in (
        ("what", rule.what),
        ("why", rule.why),
        ("what to do", rule.remedy),
        ("fails", rule.example),
        ("repaired", rule.repaired),
    ):
        if text:
            parts.append(f"{heading}\n{textwrap.indent(_wrapped(text, width - 4), '    ')}\n")
    if stock_effect := rule.effect.stock():
        parts.append(f"stock IREE\n{textwrap.indent(_wrapped(stock_effect, width - 4), '    ')}\n")
    return "\n".join(parts)


def _wrapped(text: str, width: int) -> str:
    if "\n" in text:  # a program: its lines are its own
        return text.strip("\n")
    return textwrap.fill(text, max(width, LEAST), break_on_hyphens=False, break_long_words=False)
