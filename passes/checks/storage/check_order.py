"""Run-time checks that IREE's schedule lets a dispatch overtake (FIS208)."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.program.check_order import overtaken_checks


def late_checks(module: ir.Operation, functions: Iterable[str]) -> list[Finding]:
    """A finding for each check that the guard made in one of ``functions``, in ``module`` at phase stream."""
    ours = tuple(f"@{name}: " for name in functions)
    late = {found.message: found for found in overtaken_checks(module) if found.message.startswith(ours)}
    return [
        Finding(
            "FIS208",
            f"a dispatch may run before the check of it: {message}",
            subject=message.partition(":")[0],
            notes=(f"submitted before it: {found.dispatch}",),
        )
        for message, found in late.items()
    ]
