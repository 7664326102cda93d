"""Narrow elements on a target without narrow storage: the module packed into 32-bit words, if every op can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fissile.passes.analysis.dispatches import dispatches
from fissile.passes.checks.narrow_storage import check_narrow_storage
from fissile.passes.checks.sign_extension import check_sign_extension
from fissile.passes.definition import PassFailed

from fissile.finding import Finding, Help, Severity

from .dispatch_check import Ask, sign_losses
from .iree.names import QUANTISATION_AS_GENERICS
from .pass_runner import run_pipeline
from .session import Module

PASS = "fissile-pack-narrow-storage"
ATTENTION_APART = "fissile-decompose-attention"
"""Comes before: what has narrow elements inside of an attention is packed as any other op, and no SPIR-V target takes one whole."""


@dataclass(frozen=True)
class Packed:
    """``module`` is the packed clone, None where nothing had to be packed or not all could be.

    ``findings`` tell what was packed, ``refusals`` why it could not be.
    """

    module: Module | None
    findings: tuple[Finding, ...] = ()
    refusals: tuple[Finding, ...] = ()


NOT_PACKED = Packed(None)


def pack(origin: Module, before: Sequence[Finding], lost: Sequence[str]) -> Packed:
    """Packs a clone of ``origin`` (at global optimisation), whose dispatches bind narrow elements, as ``before`` says.

    ``lost``: only these types, where storage is wide enough and their sign gets lost. The caller asks the same check of what
    it makes of the result, and takes `unusable` where it still finds something.
    """
    if not before:
        return NOT_PACKED
    packed = origin.clone()
    found: list[Finding] = []
    try:
        chosen = f"{PASS}{{types={','.join(lost)}}}" if lost else PASS
        passes = f"{QUANTISATION_AS_GENERICS},{ATTENTION_APART},{chosen},fissile-lower-boundaries,canonicalize,cse"
        run_pipeline(f"builtin.module({passes})", packed.op, report=found.append)
    except PassFailed as refused:
        return Packed(None, refusals=tuple(f.with_(severity=Severity.WARNING) for f in refused.findings))
    return Packed(packed, tuple(_told(finding) for finding in before))


def find_narrow(configured: Module, ask: Ask) -> tuple[list[Finding], tuple[str, ...]]:
    """What packing is for: FIS110, or, where the target has narrow storage, FIS118 and the types that lose their sign."""
    if missing := check_narrow_storage(dispatches(configured.op)):
        return missing, ()
    losses = sign_losses(configured, ask)
    return check_sign_extension(losses), tuple(dict.fromkeys(kind for _dispatch, types in losses for kind in types))


def unusable(finding: Finding, why: str) -> Finding:
    return finding.with_(notes=(*finding.notes, f"packing into 32-bit words was tried and does not hold: {why}"))


def _told(finding: Finding) -> Finding:
    element = finding.message.split(": ", 1)[1]
    return finding.with_(
        severity=Severity.REPAIRED,
        message=f"stock IREE would compute wrong numbers: {element}",
        notes=(),
        helps=(Help("reads and writes these buffers as 32-bit words, and computes in 32 bits in between", PASS, True,
                    (("pass", PASS),)),),
    )
