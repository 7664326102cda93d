"""Ops of a front end that IREE does not lower, written with ops that it does, as soon as the input is parsed.

Only where stock IREE has refused the program: what it lowers itself stays as it is.
"""

from __future__ import annotations

from fissile.finding import Finding
from fissile.passes.containment import contained
from fissile.passes.remedies.entry.decompose_diff import DecomposeDiff
from fissile.passes.remedies.entry.decompose_nll_loss import DecomposeNllLoss
from fissile.passes.remedies.entry.rename_torch_ops import RenameTorchOps

from ...pass_runner import run_pipeline
from ...probe.diagnostics import quoted
from ...session import Module

REMEDIES = (RenameTorchOps, DecomposeDiff, DecomposeNllLoss)
"""In this order: what one writes, the next may find."""
_PIPELINE = f"builtin.module({','.join(one.name for one in REMEDIES)})"


def rewritten(module: Module, message: str) -> tuple[Finding, ...]:
    """Rewrites ``module``, which no phase has changed, in place; FIS421 for each kind of op, with IREE's ``message``."""
    found: list[Finding] = []
    run_pipeline(_PIPELINE, module.op, report=found.append)
    return tuple(finding.with_(stock=quoted(message)) for finding in found)


def can_enter(module: Module, message: str) -> bool:
    """Whether `rewritten` changes anything; tried on a clone."""
    return bool(contained("ops of the front end", lambda: rewritten(module.clone(), message), ()))
