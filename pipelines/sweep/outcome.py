"""What is kept of one cell: how the compile ended, what it reported, what it wrote."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum

from ..process.child import Ended


class Verdict(StrEnum):
    """How a cell ended, best first."""

    BUILT = "built"
    """Exit status 0, and nothing was repaired."""
    REPAIRED = "repaired"
    """Exit status 0 after a repair."""
    REFUSED = "refused"
    """Exit status 1: an error remains."""
    USAGE = "usage"
    """Exit status 2: an option, or the file is no model."""
    ENDLESS = "endless"
    """It did not end within the time of one cell."""
    INTERNAL = "internal"
    """Exit status 3, or a signal ended it."""
    LOST = "lost"
    """No worker of the cluster could compile it: each one was lost, or lacks what it takes."""

    @property
    def is_well(self) -> bool:
        return self in (Verdict.BUILT, Verdict.REPAIRED)


_BY_STATUS = {1: Verdict.REFUSED, 2: Verdict.USAGE}


@dataclass(frozen=True)
class Outcome:
    """``codes`` are the finding codes by severity, as often as they occur; ``why`` is one line for what is not well.

    ``module`` is the SHA-256 of the compiled module, empty where none was written; ``seconds`` is wall time on ``machine``.
    """

    verdict: Verdict
    codes: dict[str, dict[str, int]] = field(default_factory=dict)
    why: str = ""
    module: str = ""
    module_bytes: int = 0
    seconds: float = 0.0
    machine: str = ""
    report: dict = field(default_factory=dict)


def outcome_of(ended: Ended, report: dict, module: bytes, seconds: float, machine: str) -> Outcome:
    """``report`` is the compile's report as JSON, empty where it wrote none."""
    codes: dict[str, dict[str, int]] = {}
    for finding in report.get("findings", ()):
        row = codes.setdefault(finding["severity"], {})
        row[finding["code"]] = row.get(finding["code"], 0) + 1
    if ended.status == 0:
        verdict = Verdict.REPAIRED if "repaired" in codes else Verdict.BUILT
    elif ended.status is None:
        verdict = Verdict.ENDLESS
    else:
        verdict = _BY_STATUS.get(ended.status, Verdict.INTERNAL)
    return Outcome(
        verdict,
        {severity: dict(sorted(row.items())) for severity, row in sorted(codes.items())},
        "" if verdict.is_well else _why(ended, report),
        hashlib.sha256(module).hexdigest() if module else "",
        len(module),
        round(seconds, 3),
        machine,
        report,
    )


def _why(ended: Ended, report: dict) -> str:
    """The first error's headline, else the last line that the program printed about itself."""
    for finding in report.get("findings", ()):
        if finding["severity"] == "error":
            return f"{finding['code']}: {finding['message']}"
    if ended.reason:
        return ended.reason
    lines = [line for line in ended.err.splitlines() if "error:" in line] or ended.err.splitlines()
    return lines[-1].strip() if lines else f"exit status {ended.status}"
