"""How far a sweep is: a live table on a terminal, one line for each compile elsewhere; what is left after an interrupt."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from fissile.pipelines.sweep.cells import Cell
from fissile.pipelines.sweep.outcome import Outcome, Verdict
from fissile.shown_text import shown

_COLOURS = {Verdict.BUILT: "green", Verdict.REPAIRED: "blue"}


class Progress:
    """A context manager around the sweep; ``folder`` is the results folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._done = self._total = 0
        self._counts: dict[str, Counter] = {}
        self._why = ""
        self._live: Any = None  # rich is loaded where there is a terminal

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), get_renderable=self._table, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exc: object) -> None:
        if self._live is not None:
            self._live.stop()
        if kind is not None and self._total:
            print(
                f"fissile: {self._done} of {self._total} compiles have a result in {shown(self._folder)}; "
                "run the same command again to continue",
                file=sys.stderr,
            )

    def planned(self, total: int, reused: int, why: str = "") -> None:
        """``why`` results of the last run do not count; empty where they do."""
        self._done, self._total, self._why = reused, total, why
        if self._live is None:
            reason = f" ({why})" if why else ""
            print(f"fissile: {total} compiles, {reused} already done{reason}", file=sys.stderr)

    def ended(self, cell: Cell, outcome: Outcome, done: int, total: int) -> None:
        self._done, self._total = done, total
        self._counts.setdefault(cell.target, Counter())[outcome.verdict] += 1
        if self._live is None:
            why = f": {shown(outcome.why)}" if outcome.why else ""
            print(
                f"fissile: {done}/{total} {shown(cell.label)}: {outcome.verdict}, {outcome.seconds:.1f} s{why}",
                file=sys.stderr,
            )

    def _table(self):
        from rich.table import Table

        verdicts = [verdict for verdict in Verdict if any(row[verdict] for row in self._counts.values())]
        table = Table(
            title=f"{self._done} of {self._total} compiles", title_justify="left", caption=self._why
        )
        table.add_column("target")
        for verdict in verdicts:
            table.add_column(verdict.value, justify="right", style=_COLOURS.get(verdict, "red"))
        for target, row in self._counts.items():
            table.add_row(target, *(str(row[verdict]) for verdict in verdicts))
        return table
