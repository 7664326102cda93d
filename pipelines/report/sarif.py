"""A report as SARIF 2.1.0 (OASIS): rules from the catalogue, one result for each finding.

Repairs are properties of a result, not `fixes`: what was changed is IREE's intermediate program, not a text that a viewer could edit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import quote

from fissile.effect import Effect
from fissile.finding import Finding, Place, Severity
from fissile.report import Report
from fissile.rules import RULES, Rule
from fissile.shown_text import shown, shown_lines

from .json_document import versions

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.ERROR: "error",
    Severity.REPAIRED: "note",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}


def sarif(report: Report, exit_status: int) -> dict:
    """One SARIF log with one run. What an input can spell is made printable, and can neither hold a link nor a placeholder."""
    known = versions()
    rules = sorted(RULES.values(), key=lambda rule: rule.code)
    index = {rule.code: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "fissile",
                "version": known["fissile"],
                "semanticVersion": known["fissile"],
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "invocations": [
            {
                "executionSuccessful": exit_status in (0, 1),
                "exitCode": exit_status,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": _message(diagnostic)} for diagnostic in report.messages
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, index[finding.code], report.rejected_for(finding)) for finding in report.findings
        ],
        "properties": {"schema": known["schema"], "iree": known["iree"], "output": shown(report.output)},
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict:
    parts = [
        f"{heading}: {text}" for heading, text in (("Why", rule.why), ("What to do", rule.remedy)) if text
    ]
    level = "error" if rule.effect.is_error and rule.effect is not Effect.NONE else "warning"
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.what or rule.title},
        "help": {"text": "\n\n".join([*parts, f"`fissile explain {rule.code}` has the examples."])},
        "defaultConfiguration": {"level": level},
        "properties": {"effect": rule.effect.value},
    }


def _result(finding: Finding, rule_index: int, rejected_for: str) -> dict:
    lines = [shown(finding.message)]
    if stock := finding.stock_line(rejected_for):
        lines.append(f"Stock IREE: {shown(stock)}")
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": _message("\n".join(lines)),
        "locations": [_location(place, finding) for place in finding.places[:1] if place.file],
        "partialFingerprints": {"fissile/v1": _fingerprint(finding)},
        "properties": _properties(finding),
    }
    related = [place for place in finding.places[1:] if place.file]
    if related:
        result["relatedLocations"] = [
            {"id": number, **_location(place)} for number, place in enumerate(related, 1)
        ]
    return result


def _location(place: Place, finding: Finding | None = None) -> dict:
    physical: dict = {"artifactLocation": {"uri": _uri(place.file)}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": max(1, place.column)}
    location: dict = {"physicalLocation": physical}
    if place.label:
        location["message"] = _message(place.label)
    logical = (finding.subject if finding is not None else "", place.name)
    if names := [{"name": shown(name)} for name in dict.fromkeys(logical) if name]:
        location["logicalLocations"] = names
    return location


def _uri(file: str) -> str:
    """A file's name as a URI: relative names stay relative, which code scanning reads from the repository's root."""
    spelled = quote(os.fsencode(PurePath(file).as_posix()), safe="/")
    return f"file://{spelled}" if spelled.startswith("/") else spelled


def _properties(finding: Finding) -> dict:
    properties: dict = {
        "severity": finding.severity.value,
        "effect": finding.effect.value,
        "target": shown(finding.target),
        "subject": shown(finding.subject),
        "notes": [_lines(note) for note in finding.notes],
        "repairs": [
            {
                "title": shown(help_.title),
                "pass": shown(help_.remedy),
                "applied": help_.applied,
                "facts": {name: shown(sentence) for name, sentence in help_.facts},
            }
            for help_ in finding.helps
        ],
    }
    if finding.ledger is not None:
        properties["bytes"] = finding.ledger.total.value
        properties["certainty"] = finding.ledger.total.certainty.value
    if finding.limit is not None:
        properties["limit"] = finding.limit.bytes
        properties["limitSource"] = shown(finding.limit.source)
    return properties


def _fingerprint(finding: Finding) -> str:
    """The same for the same cause after lines were added above it."""
    file = finding.places[0].file if finding.places else ""
    return _digest((finding.code, file, finding.subject, finding.target))


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:32]


def _message(text: str) -> dict:
    """SARIF reads `{0}` as a placeholder and `[text](target)` as a link: neither is made of what a program spells."""
    return {"text": _lines(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _lines(text: str) -> str:
    return "\n".join(shown_lines(text))
