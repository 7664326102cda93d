"""What a refusal says beside IREE's message: the mode that was meant, the arguments by name, the phase that a repair needs."""

from __future__ import annotations

from fissile.errors import FissileError
from fissile.finding import Finding
from fissile.passes.containment import contained
from fissile.passes.iree.messages import NO_ELEMENT_TYPE
from fissile.passes.iree.ops import HAL_EXECUTABLE_SOURCE
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT

from ..session import phase_index
from .compile_run import CompileRun
from .request import CompileRequest

DISPATCH_FINDINGS = "FIS1"
"""The rules about a dispatch; others are about the input."""


def can_go_back(request: CompileRequest) -> bool:
    """Whether the compile starts before the phase that boundaries are placed at."""
    return phase_index(request.compile_from) <= phase_index(BOUNDARIES_PLACED_AT)


def with_mode(run: CompileRun, findings: list[Finding]) -> list[Finding]:
    """``findings``, the first refusal with the mode that the program is meant for, where that is another one."""
    refusal = next((f for f in findings if f.stops), None)
    if refusal is None or HAL_EXECUTABLE_SOURCE.encode() not in run.input.read_bytes():
        return findings
    try:
        module = run.parse().op
    except FissileError:  # what does not parse is refused for that
        return findings
    from fissile.passes.checks.refusals.executable_source import note_executable_source

    noted = contained("the mode", lambda: note_executable_source(refusal, module), refusal)
    return [noted if f is refusal else f for f in findings]


def with_argument_types(run: CompileRun, findings: list[Finding]) -> list[Finding]:
    """``findings``, those about a type that IREE cannot pass replaced by what the user's own functions say of it."""
    refused = next((f for f in findings if NO_ELEMENT_TYPE in f.message), None)
    if refused is None:
        return findings
    from fissile.passes.checks.refusals.abi_types import check_abi_types

    named = contained(
        "types of arguments",
        lambda: check_abi_types(run.parse().op, NO_ELEMENT_TYPE, refused.detail),
        [],
    )
    return [*named, *(f for f in findings if f is not refused)] if named else findings


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
