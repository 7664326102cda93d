"""What a refusal says beside IREE's message: the mode that was meant, the arguments by name, the phase that a repair needs."""

from __future__ import annotations

import re

from fissile.errors import FissileError
from fissile.finding import Finding, Severity
from fissile.passes.containment import contained
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ..session import phase_index
from .compile_run import CompileRun
from .request import CompileRequest

_OPSET = re.compile(rb"torch\.onnx_meta\.opset_version = (\d+)")
DISPATCH_FINDINGS = "FIS1"
"""The rules about a dispatch; others are about the input."""


def can_go_back(request: CompileRequest) -> bool:
    """Whether the compile starts before the phase that boundaries are placed at."""
    return phase_index(request.compile_from) <= phase_index(BOUNDARIES_PLACED_AT)


def with_mode(run: CompileRun, findings: list[Finding]) -> list[Finding]:
    """``findings``, the first refusal with what the program is instead, where it is none of tensors."""
    refusal = next((f for f in findings if f.stops), None)
    if refusal is None:
        return findings
    from fissile.passes.checks.refusals.other_program import SIGNS, note_other_program

    text = run.input.read_bytes()
    if not any(sign in text for sign in SIGNS):
        return findings
    try:
        module = run.parse().op
    except FissileError:  # what does not parse is refused for that
        return findings
    noted = contained("the kind of program", lambda: note_other_program(refusal, module), refusal)
    return [noted if f is refusal else f for f in findings]


def with_opset(run: CompileRun, findings: list[Finding]) -> list[Finding]:
    """``findings``, the ONNX ops that have no lowering with the opset of the model, if that is old and the program is text."""
    if not any(_is_onnx(finding) for finding in findings):
        return findings
    from fissile.passes.checks.refusals.front_end_ops import OLDEST_OPSET, note_old_opset

    found = _OPSET.search(run.input.read_bytes())
    if found is None or int(found[1]) >= OLDEST_OPSET:
        return findings
    return [note_old_opset(one, int(found[1])) if _is_onnx(one) else one for one in findings]


def _is_onnx(finding: Finding) -> bool:
    return finding.stops and finding.code == "FIS421" and finding.subject.startswith("onnx.")


def not_reached(run: CompileRun, findings: list[Finding]) -> list[Finding]:
    """``findings`` of an output that was written before code generation: what that will refuse is a warning."""
    note = (
        f"the output is written: --compile-to={run.request.compile_to} ends before IREE's code generation, "
        "which stops on it"
    )
    return [f.with_(severity=Severity.WARNING, notes=(*f.notes, note)) if f.stops else f for f in findings]


def with_way_out(run: CompileRun, finding: Finding) -> Finding:
    """With a note, where only the phase that the compile starts from keeps it from being repaired."""
    if (
        run.request.repair == "off"
        or can_go_back(run.request)
        or not finding.code.startswith(DISPATCH_FINDINGS)
    ):
        return finding
    return finding.with_(
        notes=(
            *finding.notes,
            f"it is not repaired: that is done at phase {BOUNDARIES_PLACED_AT}, which "
            f"--compile-from={run.request.compile_from} is behind",
        )
    )
