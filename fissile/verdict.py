"""The three answers a proof obligation can have; there is no fourth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Answer(Enum):
    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "needs a runtime check"


@dataclass(frozen=True)
class Verdict:
    """An answer with its evidence: the tier that decided, and a sentence a person can check."""

    answer: Answer
    tier: str
    evidence: str
    counterexample: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError("a verdict needs its evidence")
        if self.counterexample and self.answer is not Answer.REFUTED:
            raise ValueError("only a refutation has a counterexample")
