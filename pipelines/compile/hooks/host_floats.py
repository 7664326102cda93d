"""Narrow float constants on the host: what a compile does about them, when global optimisation is done."""

from __future__ import annotations

from dataclasses import replace

from fissile.finding import Finding
from fissile.passes.analysis.host.host_floats import host_floats
from fissile.passes.checks.refusals.host_floats import check_host_floats
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ...phase_pipeline import PhaseHook
from ...session import Module
from . import repairing


def findings_of(module: Module) -> list[Finding]:
    """FIS126 of each constant of ``module`` (at global optimisation), with what would be done about it."""
    if not (found := check_host_floats(host_floats(module.op))):
        return []
    from fissile.passes.remedies.host.fold_host_floats import FoldHostFloats

    advice = replace(FoldHostFloats().help(("pass", FoldHostFloats.name)), applied=False)
    return [finding.with_(helps=(advice,)) for finding in found]


def _fold(module: Module) -> list[Finding]:
    if not (found := check_host_floats(host_floats(module.op))):
        return []
    from fissile.passes.remedies.host.fold_host_floats import FoldHostFloats

    return repairing.apply(module, FoldHostFloats(), found)


FOLD = PhaseHook(BOUNDARIES_PLACED_AT, "fold-host-floats", _fold)
"""Puts such constants where they are used; reports FIS126 for each."""
