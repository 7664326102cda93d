"""What one run of fissile has to say: findings, what was done, what was written."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import ExitCode
from .finding import Finding, Severity, from_json, ordered, to_json


@dataclass(frozen=True)
class Report:
    """The result of one command. ``output`` is the path that was written, empty where none was.

    ``messages`` are IREE's own warnings and remarks, unchanged. ``seconds`` has one entry per named step.
    """

    command: str
    findings: tuple[Finding, ...] = ()
    output: str = ""
    messages: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict, compare=False)
    facts: dict[str, object] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "findings", ordered(self.findings))

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity is Severity.ERROR)

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.FINDINGS if self.errors else ExitCode.CLEAN

    @property
    def repaired(self) -> bool:
        return any(f.severity is Severity.REPAIRED for f in self.findings)

    def to_json(self) -> dict:
        return {
            "command": self.command,
            "exit_code": int(self.exit_code),
            "output": self.output,
            "findings": [to_json(f) for f in self.findings],
            "messages": list(self.messages),
            "seconds": {name: round(value, 4) for name, value in self.seconds.items()},
            "facts": self.facts,
        }

    @staticmethod
    def from_json(data: dict) -> Report:
        return Report(
            command=data["command"],
            findings=tuple(from_json(f) for f in data["findings"]),
            output=data["output"],
            messages=tuple(data["messages"]),
            seconds=data["seconds"],
            facts=data["facts"],
        )
