"""`fissile explain CODE`: the manual page of a finding."""

from __future__ import annotations

import argparse
import json
import textwrap

from fissile.errors import ExitCode, UsageError, closest
from fissile.rules import RETIRED, RULES, Rule


def run(args: argparse.Namespace) -> int:
    if args.json_schema:
        from fissile.pipelines.report.json_schema import REPORT

        print(json.dumps(REPORT, indent=2))
        return int(ExitCode.CLEAN)
    if args.strategies:
        from fissile.pipelines.report.declared_tables import strategies_text  # IREE's bindings: only for this

        print(strategies_text(), end="")
        return int(ExitCode.CLEAN)
    if not args.code:
        for rule in sorted(RULES.values(), key=lambda r: r.code):
            print(f"{rule.code}  {rule.name:<22} {rule.title}")
        return int(ExitCode.CLEAN)
    print("\n".join(page(find_rule(code)) for code in args.code), end="")
    return int(ExitCode.CLEAN)


def find_rule(text: str) -> Rule:
    """A rule by code or name, in any case; of a retired code, the rule that it became part of."""
    text = RETIRED.get(text.upper(), text)
    for rule in RULES.values():
        if text.lower() in (rule.code.lower(), rule.name):
            return rule
    names = [*RULES, *(rule.name for rule in RULES.values())]
    raise UsageError(
        f"unknown finding '{text}'",
        closest(text.upper() if text[:3].upper() == "FIS" else text, names) or "fissile explain lists all",
    )


def page(rule: Rule) -> str:
    """The manual page of ``rule``, wrapped to 88 columns."""
    parts = [f"{rule.code} {rule.name}: {rule.title}\n"]
    for heading, text in (
        ("what", rule.what),
        ("why", rule.why),
        ("what to do", rule.remedy),
        ("fails", rule.example),
        ("repaired", rule.repaired),
    ):
        if text:
            parts.append(f"{heading}\n{textwrap.indent(_wrapped(text), '    ')}\n")
    if stock_effect := rule.effect.stock():
        parts.append(f"stock IREE\n    {stock_effect}\n")
    return "\n".join(parts)


def _wrapped(text: str) -> str:
    if "\n" in text:  # a program: its lines are its own
        return text.strip("\n")
    return textwrap.fill(text, 84, break_on_hyphens=False, break_long_words=False)
