"""What becomes of an output whose numbers are known to be wrong: withheld, or written where the user insists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from fissile import wire
from fissile.effect import Effect
from fissile.finding import Finding, Severity

from ..repair.failures import Foreseen, NarrowStorage

OPTION = "--allow-wrong-numbers"
_SEEN = "seen-wrong.json"
"""In the scratch folder of a compile: what is wrong with the program as it is."""


def settled(findings: Iterable[Finding], allowed: bool) -> list[Finding]:
    """``findings`` with the errors that withhold an output made warnings where wrong numbers are ``allowed``; else with a note
    of the option, where nothing but wrong numbers stands in the way.
    """
    findings = list(findings)
    if allowed:
        return [_allowed(f) if f.withholds else f for f in findings]
    if any(f.severity is Severity.ERROR and not f.effect.spoils_numbers for f in findings):
        return findings
    note = f"no output is written; {OPTION} writes it, wrong as it is"
    return [f.with_(notes=(*f.notes, note)) if f.withholds else f for f in findings]


def _allowed(finding: Finding) -> Finding:
    return finding.with_(
        severity=Severity.WARNING, notes=(*finding.notes, f"the output is written all the same: {OPTION}")
    )


def wrong_as_it_is(failure: Foreseen, code: str) -> list[Finding]:
    """The errors of a program that is compiled as it is after all, although ``failure`` was seen; ``code`` where it has no finding."""
    found = list(failure.narrow.found) if isinstance(failure, NarrowStorage) else []
    if failure.wrong and not found:
        found = [Finding(code, f"{failure.message}; the repair failed", effect=Effect.WRONG)]
    return found


def write_down(folder: Path, found: Sequence[Finding]) -> None:
    """Keeps ``found`` for the process that compiles the program as it is, if a repair takes this one along."""
    with suppress(OSError):
        (folder / _SEEN).write_bytes(wire.encode(tuple(found)))


def written_down(folder: Path) -> list[Finding]:
    """What a process that did not come to its end had seen to be wrong."""
    try:
        return list(wire.decode(tuple[Finding, ...], (folder / _SEEN).read_bytes()))
    except (OSError, wire.WireError):
        return []
