"""Findings about one op with different types, or of the same on several targets, are one finding."""

from __future__ import annotations

from collections.abc import Iterable

from fissile.finding import Finding, Help

MOST_NOTES = 8
OF_REFERENCE = ("rejects the op too", "accepts the op alone")
"""Ends of the notes that compare one target with llvm-cpu."""


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """``findings`` by rule, op, target and headline: places, ways out and notes are joined."""
    groups: dict[tuple, list[Finding]] = {}
    for finding in findings:
        key = (finding.code, finding.subject, finding.target, _sentence(finding))
        groups.setdefault(key, []).append(finding)
    return [_joined(group) for group in groups.values()]


def merged_targets(findings: Iterable[Finding]) -> list[Finding]:
    """``findings``: those that differ in nothing but the target are one, whose headline names all of them.

    Which target it is stays in ``target``, as a list; what stock says is that for the first.
    """
    groups: dict[tuple, list[Finding]] = {}
    for finding in findings:
        target = finding.target
        general = finding.message.replace(target, "", 1) if target else finding.message
        ways = tuple(one.title for one in finding.helps)
        key = (finding.code, finding.severity, finding.subject, general, finding.places, ways, bool(target))
        groups.setdefault(key, []).append(finding)
    return [_for_all(group) if len(group) > 1 else group[0] for group in groups.values()]


def _for_all(group: list[Finding]) -> Finding:
    first = group[0]
    names = list(dict.fromkeys(finding.target for finding in group))
    both = ", ".join(names)
    notes = dict.fromkeys(note for one in group for note in one.notes if not note.endswith(OF_REFERENCE))
    return first.with_(
        target=both,
        message=first.message.replace(first.target, _listed(names), 1) if first.target else first.message,
        notes=tuple(notes),
        helps=_helps(one for finding in group for one in finding.helps),
    )


def _listed(names: list[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


def _sentence(finding: Finding) -> str:
    """The headline without the number of places."""
    head, times, rest = finding.message.partition(" times)")
    return head.rpartition(" (")[0] + rest if times else finding.message


def _joined(group: list[Finding]) -> Finding:
    first, *rest = group
    if not rest:
        return first
    places = tuple(dict.fromkeys(place for one in group for place in one.places))
    notes = tuple(dict.fromkeys(note for one in group for note in one.notes))
    lines = {(place.file, place.line, place.column) for place in places if not place.label}
    times = f" ({len(lines)} times)" if len(lines) > 1 else ""
    sentence = _sentence(first)
    return first.with_(
        message=sentence.replace(first.subject, first.subject + times, 1)
        if first.subject in sentence
        else sentence,
        places=places,
        notes=notes[:MOST_NOTES],
        helps=_helps(one for finding in group for one in finding.helps),
    )


def _helps(helps: Iterable[Help]) -> tuple[Help, ...]:
    """Each way out once, with the facts of all."""
    facts: dict[str, dict[tuple[str, str], None]] = {}
    for one in helps:
        facts.setdefault(one.title, {}).update(dict.fromkeys(one.facts))
    return tuple(Help(title, facts=tuple(rows)) for title, rows in facts.items())
