"""What one run of fissile has to say: findings, what was done, what was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import wire
from .effect import Effect
from .errors import ExitCode, UsageError
from .finding import Finding, Severity, ordered


@dataclass(frozen=True)
class Report:
    """The result of one command. ``output`` is the path that was written; empty if there is none.

    ``messages`` are IREE's own warnings and remarks, unchanged. ``seconds`` has one entry per named step.
    """

    command: str
    findings: tuple[Finding, ...] = ()
    output: str = ""
    messages: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    facts: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", ordered(self.findings))

    def __str__(self) -> str:
        """Every finding: its headline, place, notes and help. A `Result` also shows lines of the program, and bytes."""
        lines = []
        for finding in self.findings:
            lines.append(f"{finding.severity.value}[{finding.code}] {finding.message}")
            lines += [
                f"  --> {place.file}:{place.line}:{place.column}"
                for place in finding.places[:1]
                if place.line
            ]
            lines += [f"note: {note}" for note in finding.notes]
            lines += [f"help: {help_.title}" for help_ in finding.helps]
        return "\n".join(lines) or "no findings"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that remain as errors."""
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    def rejected_for(self, finding: Finding) -> str:
        """The code of a finding for which stock IREE rejects the program that it would build ``finding`` of; empty where it builds it."""
        if not finding.effect.is_built:
            return ""
        rejections = (
            other.code
            for other in self.findings
            if other.effect in (Effect.REFUSED, Effect.CRASHES, Effect.ENDLESS)
            and other.severity in (Severity.ERROR, Severity.REPAIRED)
            and (self.command == "compile" or other.target in ("", finding.target))
        )
        return next(rejections, "")

    @property
    def exit_code(self) -> ExitCode:
        """The exit status of the command: 0, or 1 if an error remains."""
        return ExitCode.FINDINGS if self.errors else ExitCode.CLEAN

    @property
    def repaired(self) -> bool:
        """Whether fissile repaired anything."""
        return any(f.severity is Severity.REPAIRED for f in self.findings)

    def to_json(self) -> dict:
        """As JSON values, with the exit status; `from_json` reads them back."""
        seconds = {name: round(value, 4) for name, value in self.seconds.items()}
        return wire.plain(self) | {"exit_code": int(self.exit_code), "seconds": seconds}

    @staticmethod
    def from_json(data: dict) -> Report:
        """The report from ``data``, which `to_json` returned. Raises UsageError if it is something else."""
        try:
            return wire.build(Report, data)
        except wire.WireError as error:
            raise UsageError(
                f"this is not a report of fissile in JSON: {error}",
                "give what Report.to_json returned, or what --format=json wrote",
            ) from None
