"""Attentions that IREE crashes over, or refuses, before there is a dispatch: decomposed when global optimisation is done."""

from __future__ import annotations

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.attention_configuration import (
    unconfigurable_attentions,
)
from fissile.passes.analysis.dispatch.narrow_types import targets_of
from fissile.passes.analysis.dispatch.provenance import source_ops
from fissile.passes.iree.attributes import read_target
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ...phase_pipeline import PhaseHook
from ...repair.failures import suggested
from ...session import Module


def _decompose(module: Module) -> list[Finding]:
    targets = [read_target(text) for text in sorted(targets_of(module.op))]
    found = unconfigurable_attentions(module.op, {target.backend for target in targets})
    if not found:
        return []
    from fissile.passes.checks.refusals.attention_configuration import check_attention_configuration
    from fissile.passes.remedies.decompose.decompose_attention import NUMERICS, DecomposeAttention

    from ...pass_runner import run_pipeline

    remedy = DecomposeAttention()
    able = [one for one in found if remedy.match(one.op)]
    if not able:
        return []
    index = {op: i for i, op in enumerate(source_ops(module.op))}
    text = f"{DecomposeAttention.name}{{ops={','.join(str(index[one.op]) for one in able)}}}"
    done = Help(
        remedy.sentence().format(ops="it"),
        remedy.name,
        True,
        (("pass", text), ("numerics", NUMERICS)),
        remedy.sentence(advice=True).format(ops="it"),
    )
    name = next(target.name for target in targets if backend_named(target.backend).configures_attention)
    repaired = [
        finding.with_(severity=Severity.REPAIRED, helps=(done,))
        for finding in check_attention_configuration(able, name)
    ]
    module.about_to_change()
    run_pipeline(f"builtin.module({text},fissile-lower-boundaries)", module.op, report=repaired.append)
    return repaired


DECOMPOSE = PhaseHook(BOUNDARIES_PLACED_AT, "decompose-attentions", _decompose)
"""Decomposes such attentions; reports FIS107 or FIS108 of each."""


def advised(module: Module) -> list[Finding]:
    """Decomposes what IREE would crash over in this process; with what `fissile compile` does about it as advice."""
    return [suggested(found, "`fissile compile` applies it") for found in DECOMPOSE.act(module)]
