"""What a program brings along that would run as IREE compiles it: pass pipelines and native code."""

from __future__ import annotations

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.program.embedded_pipelines import embedded_pipelines, may_embed_pipelines
from fissile.passes.analysis.program.native_code import may_hold_native_code, native_code
from fissile.passes.checks.refusals.embedded_pipelines import check_embedded_pipeline
from fissile.passes.checks.refusals.native_code import check_native_code
from fissile.passes.definition import PassFailed


def may_bring_code(source: bytes) -> bool:
    """Whether `refuse_brought_code` can find anything in ``source``: a search of bytes, so that a healthy program pays nothing."""
    return may_embed_pipelines(source) or may_hold_native_code(source)


def refuse_brought_code(module: ir.Operation, source: bytes, runs_constants: bool = True) -> None:
    """Raises PassFailed for what ``module``, parsed from ``source``, brings along: FIS005 for each pass pipeline, FIS006 for native code.

    ``runs_constants``: a phase or pass follows that evaluates constants or builds executables.
    """
    found: list[Finding] = []
    if may_embed_pipelines(source):
        found += [check_embedded_pipeline(one) for one in embedded_pipelines(module)]
    if runs_constants and may_hold_native_code(source):
        found += [check_native_code(one) for one in native_code(module)]
    if found:
        raise PassFailed(found)
