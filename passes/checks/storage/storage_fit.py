"""Decides every storage obligation of a module, and says in findings what does not fit or cannot be
known.

PROVED obligations leave no trace. REFUTED ones are errors: every call that gets there breaks them.
The others are the function's contract: what its caller must keep to.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from functools import partial

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Finding, Place, Severity
from fissile.passes.analysis.bounds.conditions import Condition, all_of, symbols
from fissile.passes.analysis.bounds.extents import Extents
from fissile.passes.analysis.bounds.size_terms import Symbol
from fissile.passes.analysis.storage.obligations import Obligation, collect
from fissile.passes.analysis.storage.proof import SMT_TIMEOUT_MS, Decision, Effort, decide
from fissile.passes.containment import contained
from fissile.verdict import Answer, Verdict

MAX_TIME_OUTS = 40
"""After this many questions that the SMT solver did not decide, it is not called again for the same module."""


@dataclass(frozen=True)
class Judged:
    """An obligation and what was decided about it."""

    obligation: Obligation
    decision: Decision

    @property
    def answer(self) -> Answer:
        return self.decision.verdict.answer

    @property
    def sentence(self) -> str:
        """What the compile error and the run-time error both say: what must hold, and which op needs it."""
        return self.obligation.sentence

    @property
    def example(self) -> str:
        """Sizes that break it, as text; empty where none are known."""
        named = symbols(self.obligation.condition)
        shown = [(s, v) for s, v in self.decision.values if s.ident in named] or self.decision.values
        return " and ".join(f"{symbol.text} is {self._shown(symbol, value)}" for symbol, value in shown)

    @staticmethod
    def _shown(symbol: Symbol, value: int) -> str:
        return ("false", "true")[value] if (symbol.low, symbol.high) == (0, 1) else str(value)


@dataclass(frozen=True)
class StorageReport:
    """``judged`` in program order; ``uncovered`` are ops with dynamic shapes that no rule knows, by name."""

    extents: Extents
    judged: tuple[Judged, ...]
    uncovered: dict[str, ir.Operation]

    def having(self, answer: Answer) -> list[Judged]:
        return [j for j in self.judged if j.answer is answer]

    def without(self, bounded: Set[ir.Operation]) -> StorageReport:
        """As if the indices of the ops ``bounded`` were proved to lie inside."""
        return replace(self, judged=tuple(j for j in self.judged if not _is_of(j.obligation, bounded)))

    def tiers(self) -> dict[str, int]:
        """How many obligations each tier proved."""
        counts: dict[str, int] = {}
        for judged in self.having(Answer.PROVED):
            counts[judged.decision.verdict.tier] = counts.get(judged.decision.verdict.tier, 0) + 1
        return counts


def _is_of(obligation: Obligation, ops: Set[ir.Operation]) -> bool:
    """Whether it is about the elements that one of ``ops`` loads its indices from."""
    return obligation.elements is not None and (obligation.op in ops or obligation.elements.at in ops)


def judge_storage(
    module: ir.Operation, *, smt_timeout_ms: int = SMT_TIMEOUT_MS, trust_asserts: bool = True
) -> StorageReport:
    """Collects and decides all obligations. ``smt_timeout_ms`` limits each SMT question; 0 switches
    SMT off."""
    collected = collect(module, trust_asserts=trust_asserts)
    time_outs, effort = 0, Effort()
    decided: dict[tuple, Decision | None] = {}
    judged = []
    for obligation in collected.obligations:
        key = (obligation.condition, obligation.facts, obligation.guards, obligation.called)
        if key not in decided:
            limit = smt_timeout_ms if time_outs < MAX_TIME_OUTS else 0
            answer = contained(
                "a size", partial(_decide, obligation, limit, effort), None, about=obligation.op
            )
            decided[key] = answer
            time_outs += answer is not None and answer.timed_out
        decision = decided[key]
        if decision is None:
            continue
        judged.append(Judged(obligation, decision))
    return StorageReport(collected.extents, tuple(judged), collected.uncovered)


def _decide(obligation: Obligation, timeout_ms: int, effort: Effort) -> Decision:
    decision = decide(obligation.condition, obligation.facts, timeout_ms, effort)
    if decision.verdict.answer is not Answer.REFUTED or obligation.called and not obligation.guards:
        return decision
    # It fails whenever it runs. Is it certain to run? If not, a program that never gets there is right.
    runs: Condition = all_of(guard.runs for guard in obligation.guards)
    if (
        obligation.called
        and decide(runs, obligation.facts[: obligation.certain], timeout_ms, effort).verdict.answer
        is Answer.PROVED
    ):
        return decision
    verdict = Verdict(
        Answer.UNKNOWN, decision.verdict.tier, "it fails wherever the op runs, which is not certain"
    )
    return replace(decision, verdict=verdict, fails_if_run=True)


def findings_of(
    report: StorageReport,
    asserted: bool,
    unprotected: Iterable[Obligation] = (),
    why: str = "no check can be placed outside a dispatch",
) -> list[Finding]:
    """FIS201 for what never fits, FIS202 for what the run checks (or, not ``asserted``, nobody),
    FIS204 and FIS205; ``why`` says why nothing checks what is ``unprotected``."""
    left_out = {id(o) for o in unprotected}
    found = [_refuted(j) for j in report.having(Answer.REFUTED)]
    for judged in _distinct(report.having(Answer.UNKNOWN)):
        found.append(
            _unprotected(judged, why) if id(judged.obligation) in left_out else _unknown(judged, asserted)
        )
    for name, op in sorted(report.uncovered.items()):
        found.append(
            Finding(
                "FIS204",
                f"nothing is known of the sizes that {name} needs: it is not checked",
                Severity.NOTE,
                name,
                places=_places(place_of(op), "not checked"),
            )
        )
    return found


def _distinct(judged: Iterable[Judged]) -> list[Judged]:
    seen: dict[tuple, Judged] = {}
    for j in judged:
        seen.setdefault((j.obligation.function, j.sentence, j.obligation.place), j)
    return list(seen.values())


def _refuted(judged: Judged) -> Finding:
    verdict = judged.decision.verdict
    notes = [f"decided by {verdict.tier}: {verdict.evidence}"]
    if judged.example:
        notes.insert(0, f"for example where {judged.example}")
    return Finding(
        "FIS201",
        judged.sentence,
        Severity.ERROR,
        _subject(judged.obligation),
        places=_places(judged.obligation.place, "never fits"),
        notes=tuple(notes),
    )


def _then(judged: Judged) -> str:
    """What becomes of a call that nothing ends."""
    stated = judged.obligation.kind == "fissile.require"
    return "goes on as if it held" if stated else "reads or writes past its storage"


def _unknown(judged: Judged, asserted: bool) -> Finding:
    verdict = judged.decision.verdict
    notes = (
        ["checked at run time: a call that violates it returns FAILED_PRECONDITION with this message"]
        if asserted
        else [f"not checked at run time: a call that violates it {_then(judged)}"]
    )
    if judged.example:
        notes.append(f"it does not hold, for example, where {judged.example}")
    if judged.decision.timed_out:
        notes.append(verdict.evidence)
    return Finding(
        "FIS202",
        judged.sentence,
        Severity.NOTE if asserted else Severity.WARNING,
        _subject(judged.obligation),
        places=_places(judged.obligation.place, "may not fit"),
        notes=tuple(notes),
    )


def _unprotected(judged: Judged, why: str) -> Finding:
    return Finding(
        "FIS205",
        judged.sentence,
        Severity.WARNING,
        _subject(judged.obligation),
        places=_places(judged.obligation.place, "may not fit, and nothing checks it"),
        notes=(why,),
    )


def _subject(obligation: Obligation) -> str:
    return f"@{obligation.function}" if obligation.function else ""


def _places(place: Place | None, label: str) -> tuple[Place, ...]:
    return (replace(place, label=label),) if place else ()


def contract_of(report: StorageReport) -> dict[str, tuple[str, ...]]:
    """Function -> what its caller must keep to: the unproved obligations, each once, in program order."""
    contract: dict[str, list[str]] = {}
    for judged in _distinct(report.having(Answer.UNKNOWN)):
        rows = contract.setdefault(judged.obligation.function, [])
        if judged.sentence not in rows:
            rows.append(judged.sentence)
    return {name: tuple(rows) for name, rows in contract.items()}


def runtime_message(judged: Judged, got: str = "") -> str:
    """The sentence with the function and the source line, as the caller of a violating call gets it; ``got`` is what is
    known of the value that broke it."""
    place = judged.obligation.place
    where = f" ({os.path.basename(place.file)}:{place.line})" if place and place.line else ""
    return f"@{judged.obligation.function}: {judged.sentence}{where}{'; ' if got else ''}{got}"


def smt_note(report: StorageReport) -> Finding | None:
    """FIS206 where a solver is not installed and might have proved something; else None."""
    missed = [j for j in report.judged if j.decision.missed_solver]
    if not missed:
        return None
    return Finding(
        "FIS206",
        f"{len(missed)} of the run-time checks might be proved unnecessary by a solver, and none is installed",
        Severity.NOTE,
        notes=("pip install 'fissile[storage]' installs z3",),
    )
