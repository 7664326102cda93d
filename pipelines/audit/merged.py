"""Findings of one op with different types are one finding, with all places."""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding

MOST_NOTES = 8


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """``findings`` by rule, op, way out and headline: places and notes are joined."""
    groups: dict[tuple, list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.subject, _sentence(finding), finding.helps), []).append(
            finding
        )
    return [_joined(group) for group in groups.values()]


def _sentence(finding: Finding) -> str:
    """The headline without the number of places."""
    head, _, rest = finding.message.partition(" times)")
    return finding.message if not rest else head.rpartition(" (")[0] + rest


def _joined(group: list[Finding]) -> Finding:
    if len(group) == 1:
        return group[0]
    first = group[0]
    places = tuple(dict.fromkeys(place for one in group for place in one.places))
    notes = tuple(dict.fromkeys(note for one in group for note in one.notes))
    sentence = _sentence(first)
    message = sentence.replace(first.subject, f"{first.subject} ({len(places)} times)", 1)
    return first.with_(message=message, places=places, notes=notes[:MOST_NOTES])
