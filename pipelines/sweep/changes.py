"""What changed since the last finished sweep into the same folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .outcome import Outcome, Verdict

_ORDER = list(Verdict)


@dataclass(frozen=True)
class Change:
    """``label`` names the cell; ``kind`` is worse, better, findings, module, new or gone; ``sentence`` says what changed."""

    label: str
    kind: str
    sentence: str


KINDS = ("worse", "better", "findings", "module", "new", "gone")
"""In the order of a report."""


def summary_of(outcome: Outcome) -> dict:
    """What a run keeps of a cell, to be compared with the next run's."""
    return {
        "verdict": outcome.verdict.value,
        "codes": outcome.codes,
        "module": outcome.module,
        "why": outcome.why,
    }


def changes_between(before: Mapping[str, dict], now: Mapping[str, dict]) -> list[Change]:
    """Label -> summary of two runs; the worst first. A cell that is no longer requested is gone."""
    found = []
    for label, summary in now.items():
        if label not in before:
            found.append(Change(label, "new", summary["verdict"]))
        elif change := _change(before[label], summary):
            found.append(Change(label, *change))
    found += [
        Change(label, "gone", f"was {old['verdict']}") for label, old in before.items() if label not in now
    ]
    return sorted(found, key=lambda change: (KINDS.index(change.kind), change.label))


def _change(old: dict, new: dict) -> tuple[str, str] | None:
    if old["verdict"] != new["verdict"]:
        worse = _ORDER.index(Verdict(new["verdict"])) > _ORDER.index(Verdict(old["verdict"]))
        return "worse" if worse else "better", f"{old['verdict']} -> {new['verdict']}"
    if old["codes"] != new["codes"]:
        return "findings", f"{_codes(old['codes'])} -> {_codes(new['codes'])}"
    if old["module"] != new["module"]:
        return "module", "compiled to other bytes"
    return None


def _codes(codes: Mapping[str, Mapping[str, int]]) -> str:
    rows = [f"{code} x{count}" for row in codes.values() for code, count in sorted(row.items())]
    return ", ".join(rows) or "no findings"
