"""A finding: one root cause, where it is, how the bytes add up, and what was or can be done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

from .effect import Effect
from .quantity import Bytes, total
from .rules import RULES


class Severity(Enum):
    """ERROR keeps the output from being written; REPAIRED was one; the others do not."""

    ERROR = "error"
    REPAIRED = "repaired"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Place:
    """A place in a source file, 1-based. ``label`` says what happens there; ``name`` is the front end's for it, a module's path
    (`model.layers.0.attn`), empty where the import kept none.

    Line 0 means that the program carries no line for it (built in memory, or stripped).
    """

    file: str
    line: int
    column: int = 1
    label: str = ""
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class LedgerLine:
    """One allocation: its bytes, the value it holds (``%xd 64x58x58xf32``) and why it is there."""

    bytes: Bytes
    value: str
    reason: str = ""


@dataclass(frozen=True)
class Ledger:
    """Allocations that add up to the headline's total (rule 1 of the design)."""

    lines: tuple[LedgerLine, ...]
    total: Bytes

    def __post_init__(self) -> None:
        summed = total(line.bytes for line in self.lines)
        if summed.value != self.total.value:
            raise ValueError(f"the ledger adds up to {summed.value}, its headline says {self.total.value}")

    @staticmethod
    def of(lines: Iterable[LedgerLine]) -> Ledger:
        """A ledger of ``lines``, largest first, with their sum."""
        rows = tuple(sorted(lines, key=lambda row: (-(row.bytes.value or 0), row.value)))
        return Ledger(rows, total(row.bytes for row in rows))


@dataclass(frozen=True)
class Limit:
    """A limit in bytes with where it comes from: IREE's table, a vendor's guide, a queried device."""

    bytes: int
    per: str
    source: str


@dataclass(frozen=True)
class Help:
    """A remedy that was checked: ``applied`` or only suggested. ``facts`` are (name, sentence) rows."""

    title: str
    remedy: str = ""
    applied: bool = False
    facts: tuple[tuple[str, str], ...] = ()
    advice: str = ""
    """``title`` as a suggestion; empty: the title reads as one."""


@dataclass(frozen=True)
class Finding:
    """One root cause.

    ``subject`` names what it is about (a dispatch, an op, a function); ``message`` is the headline
    without severity and code; ``places`` lists the place to blame first and the root second.
    ``effect`` is what stock IREE does with the program: the rule's, unless the finding knows better. A finding that is not
    repaired has the severity of its effect, unless another is given. ``stock`` quotes stock IREE on this program in one line.
    """

    code: str
    message: str
    severity: Severity = None  # type: ignore[assignment]  # derived below
    subject: str = ""
    target: str = ""
    places: tuple[Place, ...] = ()
    ledger: Ledger | None = None
    limit: Limit | None = None
    helps: tuple[Help, ...] = ()
    notes: tuple[str, ...] = ()
    detail: str = field(default="", compare=False)
    """The compiler's messages, verbatim; shown only on request."""
    effect: Effect = None  # type: ignore[assignment]  # derived below
    stock: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.code not in RULES:
            raise ValueError(
                f"finding with unknown code {self.code}: declare it with `fissile.rules.rule.define`"
            )
        if self.effect is None:
            object.__setattr__(self, "effect", RULES[self.code].effect)
        if self.severity is None:
            object.__setattr__(self, "severity", Severity.ERROR if self.effect.is_error else Severity.WARNING)

    def with_(self, **changes) -> Finding:
        """The same finding with some fields changed."""
        return replace(self, **changes)

    def stock_line(self, rejected_for: str = "") -> str:
        """What stock IREE does with the program; empty if the headline already quotes its message.

        ``rejected_for`` is the code of another finding for which stock IREE rejects the program before (`Report.rejected_for`).
        """
        quote = "" if self.stock in self.message else self.stock
        line = self.effect.stock(quote) if quote or self.severity is Severity.REPAIRED else ""
        return f"rejects the program for {rejected_for}; otherwise {line}" if line and rejected_for else line

    @property
    def withholds(self) -> bool:
        """Whether fissile withholds an output that IREE would write, because its numbers are or may be wrong."""
        return self.severity is Severity.ERROR and self.effect.spoils_numbers

    @property
    def stops(self) -> bool:
        """Whether no output can be written, even with `--allow-wrong-numbers`."""
        return self.severity is Severity.ERROR and not self.effect.is_built

    @property
    def sort_key(self) -> tuple:
        """The order of every report: severity, place, code."""
        order = list(Severity).index(self.severity)
        place = self.places[0] if self.places else Place("", 0, 0)
        return (order, place.file, place.line, place.column, self.code, self.subject, self.target)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings sorted by severity, place and code, without duplicates: stable between runs."""
    return tuple(sorted(dict.fromkeys(findings), key=lambda f: f.sort_key))
