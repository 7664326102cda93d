"""`fissile sweep` as a function: the matrix, what is there already, the rest on an engine, and the run as a whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fissile.errors import ExitCode

from .attempt import Limits
from .cells import Cell, find_models, matrix
from .changes import Change, changes_between, summary_of
from .environments import find_environments
from .local_engine import run_here
from .outcome import Outcome, Verdict
from .store import Store


@dataclass(frozen=True)
class SweepRequest:
    """What to compile, where, and what to keep. ``jobs`` cells at once; ``scheduler`` is a Dask cluster's address, or empty.

    ``again``: compile ``failed`` cells once more, or ``all``; empty: none that has a result.
    """

    models: tuple[str, ...]
    targets: tuple[str, ...]
    out: str
    pythons: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()
    jobs: int = 1
    scheduler: str = ""
    limits: Limits = field(default_factory=Limits)
    keep_modules: bool = False
    again: str = ""


@dataclass(frozen=True)
class Sweep:
    """A finished sweep. ``reused``: how many results were there before; ``since``: when the run was that ``changes`` compare with."""

    outcomes: dict[Cell, Outcome]
    changes: tuple[Change, ...]
    since: str
    reused: int
    seconds: float
    folder: str

    @property
    def counts(self) -> Counter:
        return Counter(outcome.verdict for outcome in self.outcomes.values())

    def exit_code(self, fail_on: str = "any") -> ExitCode:
        """3 where fissile failed, 1 where a model is not built (``fail_on`` any) or got worse (worse), else 0."""
        if self.counts[Verdict.INTERNAL]:
            return ExitCode.INTERNAL
        if fail_on == "worse":
            return (
                ExitCode.FINDINGS
                if any(change.kind == "worse" for change in self.changes)
                else ExitCode.CLEAN
            )
        return ExitCode.CLEAN if all(o.verdict.is_well for o in self.outcomes.values()) else ExitCode.FINDINGS


OTHER_VERSIONS = "fissile or IREE changed since the last run"

Progress = Callable[[Cell, Outcome, int, int], None]
"""Called with each cell that ended, how many have ended, and of how many."""


def run_sweep(request: SweepRequest, progress: Progress = lambda *_: None, planned=lambda *_: None) -> Sweep:
    """Compiles what has no result yet. Raises UsageError.

    Each result is written as it comes: whatever ends this, the same request goes on with what is missing. ``planned`` is called
    once with the number of cells, that of results that are there, and why those of the last run do not count, if so.
    """
    began = time.monotonic()
    cells = matrix(
        find_models(request.models), request.targets, find_environments(request.pythons), request.options
    )
    store = Store(request.out)
    by_key: dict[str, list[Cell]] = {}
    for cell in cells:
        by_key.setdefault(cell.key, []).append(cell)
    outcomes: dict[Cell, Outcome] = {}
    for same in by_key.values():
        kept = store.find(same[0])
        if kept is not None and not _wanted_again(kept, request.again):
            outcomes.update({cell: kept for cell in same})
    reused = len(outcomes)
    before = store.last_run()
    versions = sorted({" ".join(cell.environment.identity) for cell in cells})
    planned(
        len(cells),
        reused,
        OTHER_VERSIONS if before and before.get("versions") not in (None, versions) else "",
    )
    for cell, outcome, module in _run(
        [same[0] for same in by_key.values() if same[0] not in outcomes], request
    ):
        if outcome.verdict is not Verdict.LOST:  # the next sweep tries it again
            store.keep(cell, outcome, module)
        for twin in by_key[cell.key]:
            outcomes[twin] = outcome
            progress(twin, outcome, len(outcomes), len(cells))
    outcomes = {cell: outcomes[cell] for cell in cells}
    now = {cell.label: summary_of(outcome) for cell, outcome in outcomes.items()}
    changes = changes_between(before["cells"], now) if before else []
    store.keep_run({"finished": time.strftime("%Y-%m-%d %H:%M:%S"), "versions": versions, "cells": now})
    since = before["finished"] if before else ""
    return Sweep(outcomes, tuple(changes), since, reused, time.monotonic() - began, request.out)


def _wanted_again(outcome: Outcome, again: str) -> bool:
    return again == "all" or again == "failed" and not outcome.verdict.is_well


def _run(cells: Sequence[Cell], request: SweepRequest):
    if not cells:
        return ()
    if request.scheduler:
        from .cluster_engine import run_on_cluster

        return run_on_cluster(request.scheduler, cells, request.limits, request.keep_modules)
    return run_here(cells, request.jobs, request.limits, request.keep_modules)
