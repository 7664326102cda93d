"""The checks of other packages, on the output of IREE's input phase, in every check and every compile."""

from __future__ import annotations

from functools import partial

from fissile.dialect import load_dialects
from fissile.finding import Finding
from fissile.passes.containment import contained
from fissile.passes.definition import Pass, PassFailed
from fissile.passes.plugins import CHECKS, plugged

from .session import Module


def plugged_findings(module: Module) -> list[Finding]:
    """What they find in a copy of ``module``; one that throws is reported as not checked (FIS902)."""
    found: list[Finding] = []
    for cls in contained("checks of other packages", lambda: plugged(CHECKS), ()):
        found += contained(f"check '{cls.name}'", partial(_run, cls, module), [])
    return found


def _run(cls: type[Pass], module: Module) -> list[Finding]:
    found: list[Finding] = []
    copy = module.clone()
    load_dialects(copy.op.context, cls.dialects)
    try:
        with copy.op.context:
            cls().run(copy.op, found.append)
    except PassFailed as failed:
        found += failed.findings
    return found
