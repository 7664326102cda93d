"""A certificate: numbers that were compared, on which runtime, from which seed, with which result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fissile import wire
from fissile.finding import Finding, Severity

from .compare import Comparison


@dataclass(frozen=True)
class Check:
    """One run of one program, compared output by output with what it has to be.

    ``against`` says in words what that is. ``finding`` is FIS131 where nothing could be compared. ``refused``: a check of
    the program refuses the inputs, and others that were drawn; that is no disagreement.
    """

    program: str
    runtime: str
    seed: int | None
    against: str
    comparisons: tuple[Comparison, ...] = ()
    finding: Finding | None = None
    refused: bool = False

    @property
    def agrees(self) -> bool:
        return self.finding is None and bool(self.comparisons) and all(c.agrees for c in self.comparisons)

    @property
    def doubted(self) -> bool:
        """The reference is wrong by the witness, or agrees with the program against the witness."""
        return any(c.wrong in ("reference", "both") for c in self.comparisons)

    @property
    def sentence(self) -> str:
        where = f"{self.runtime}" + (f", seed {self.seed}" if self.seed is not None else "")
        if self.finding:
            return f"{where}: not compared: {self.finding.message}"
        if not self.comparisons:
            return f"{where}: not compared: the function has no results"
        bad = [(i, c) for i, c in enumerate(self.comparisons) if not c.agrees]
        shown = (
            bad
            or [(i, c) for i, c in enumerate(self.comparisons) if c.wrong]
            or list(enumerate(self.comparisons))
        )
        outputs = "; ".join(
            (f"output {i}: " if len(self.comparisons) > 1 else "") + c.sentence for i, c in shown
        )
        right = [c for c in self.comparisons if c.wrong == "reference"]
        verdict = "differs from" if bad else "is right, unlike" if right else "agrees with"
        return f"{where}: {verdict} {self.against}: {outputs}"

    def to_json(self) -> dict:
        return {
            "program": self.program,
            "runtime": self.runtime,
            "seed": self.seed,
            "against": self.against,
            "agrees": self.agrees,
            "sentence": self.sentence,
            "outputs": [c.to_json() for c in self.comparisons],
            "finding": wire.plain(self.finding),
        }


@dataclass(frozen=True)
class Certificate:
    """All checks of one question. ``skipped`` lists, in words, what was left out and is no failure."""

    subject: str
    checks: tuple[Check, ...]
    skipped: tuple[str, ...] = ()

    @property
    def compared(self) -> tuple[Check, ...]:
        """The checks but those whose inputs the program refuses."""
        return tuple(check for check in self.checks if not check.refused)

    @property
    def agrees(self) -> bool:
        """True only where something was compared, and everything that was compared agrees."""
        return bool(self.compared) and all(check.agrees for check in self.compared)

    @property
    def bit_identical(self) -> bool:
        return self.agrees and all(c.equal_bits for check in self.compared for c in check.comparisons)

    @property
    def sentence(self) -> str:
        """The verdict in one line, as a report's `numerics` row."""
        if not self.checks:
            return "nothing was compared"
        where = ", ".join(dict.fromkeys(check.runtime.split(" (")[0] for check in self.compared))
        if self.bit_identical:
            notes = dict.fromkeys(c.witness for check in self.checks for c in check.comparisons if c.witness)
            return "; ".join([f"bit-identical on {where}", *notes])
        if self.agrees:
            worst = max(
                (c for check in self.checks for c in check.comparisons),
                key=lambda c: (bool(c.wrong), c.max_rel, c.share),
            )
            return f"agrees on {where}: {worst.sentence}"
        return next(check.sentence for check in self.compared or self.checks if not check.agrees)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """FIS130 for each run that differs, FIS131 for each that could not be compared, FIS132 for each that agrees with
        one of two others that do not agree. Refused inputs are a warning, and an error where nothing else was compared."""
        return self.findings_with(Severity.WARNING if self.compared else Severity.ERROR)

    def findings_with(self, refused: Severity) -> tuple[Finding, ...]:
        """`findings`, with this severity of those about inputs that the program refuses."""
        bad = tuple(_finding(check) for check in self.compared if not check.agrees) or self._nothing()
        doubted = (_doubted(check) for check in self.checks if check.agrees and check.doubted)
        left = (c.finding.with_(severity=refused) for c in self.checks if c.refused and c.finding)
        return (*bad, *doubted, *dict.fromkeys(left))

    def _nothing(self) -> tuple[Finding, ...]:
        if self.checks:
            return ()
        return (
            Finding(
                "FIS131", f"{self.subject}: nothing was compared", subject=self.subject, notes=self.skipped
            ),
        )

    def to_json(self) -> dict:
        return {
            "subject": self.subject,
            "agrees": self.agrees,
            "bit_identical": self.bit_identical,
            "sentence": self.sentence,
            "checks": [c.to_json() for c in self.checks],
            "skipped": list(self.skipped),
        }


def joined(subject: str, certificates: Iterable[Certificate]) -> Certificate:
    """One certificate of several, for the same question about several functions."""
    parts = list(certificates)
    return Certificate(
        subject, tuple(c for p in parts for c in p.checks), tuple(s for p in parts for s in p.skipped)
    )


def _finding(check: Check) -> Finding:
    if check.finding:
        return check.finding
    if not check.comparisons:
        return Finding("FIS131", check.sentence, subject=check.program, target=check.runtime)
    return Finding(
        "FIS130", check.sentence, severity=Severity.ERROR, subject=check.program, target=check.runtime
    )


def _doubted(check: Check) -> Finding:
    return Finding(
        "FIS132", check.sentence, severity=Severity.WARNING, subject=check.program, target=check.runtime
    )
