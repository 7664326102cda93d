"""Every question asked of one dispatch, in one place: does it generate code, fit, and share memory safely?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fissile.finding import Finding
from fissile.passes.analysis.dispatches import Dispatch, dispatches
from fissile.passes.analysis.footprint import Allocation, Footprint
from fissile.passes.analysis.provenance import SourceOp
from fissile.passes.checks.codegen_failure import check_codegen
from fissile.passes.checks.workgroup_fit import check_fit
from fissile.passes.checks.workgroup_race import check_races

from .iree.names import FAILURE_MESSAGES, LOWERING_PIPELINES, RACING_CODEGEN
from .diagnostics import Diagnostic
from .probe import Probed, convert, probe
from .session import Module


@dataclass(frozen=True)
class CheckedDispatch:
    """A dispatch with what code generation said about it; ``finding`` is None where it passes."""

    dispatch: Dispatch
    footprint: Footprint
    finding: Finding | None
    races: tuple[Allocation, ...] = ()


class DispatchChecker:
    """Probes dispatches, each different body once: results are kept by fingerprint for the life of the checker."""

    def __init__(self) -> None:
        self._passed: dict[str, Probed] = {}

    def check(self, module: Module, ops: Sequence[SourceOp]) -> list[CheckedDispatch]:
        """All dispatches of ``module`` (phase executable-configurations), in program order.

        A target whose code generation cannot be probed (VMVX, Metal) passes unchecked.
        """
        return [
            self._check(dispatch, ops)
            for dispatch in dispatches(module.op)
            if dispatch.target.backend in LOWERING_PIPELINES
        ]

    def _check(self, dispatch: Dispatch, ops: Sequence[SourceOp]) -> CheckedDispatch:
        # Locations are no part of the fingerprint, but findings quote them: only a passing result is kept.
        if known := self._passed.get(dispatch.fingerprint):
            return CheckedDispatch(dispatch, known.footprint, None)
        probed = probe(dispatch)
        finding = (
            check_fit(dispatch, probed.footprint, ops)
            or _failure(dispatch, probed.failure, ops)
            or check_races(dispatch, probed.races, ops)
            or _failure(dispatch, convert(dispatch), ops)
        )
        if finding is None:
            self._passed[dispatch.fingerprint] = probed
        return CheckedDispatch(dispatch, probed.footprint, finding, probed.races)


def _failure(dispatch: Dispatch, said: Diagnostic | None, ops: Sequence[SourceOp]) -> Finding | None:
    if said is None:
        return None
    return check_codegen(dispatch, failure_code(said.text), said.message, said.text, said.tags, ops)


def shares_workgroup_memory(module: Module) -> bool:
    """Whether a dispatch would race: asked of programs that IREE compiles, so only where it happens.

    Only SPIR-V's BaseDistribute places no barrier after a fused producer (IREE 3.13), and only a dispatch of several
    source ops has one, so nothing else is probed: 0.01 to 0.03 s each.
    """
    return any(
        probe(dispatch).races
        for dispatch in dispatches(module.op)
        if dispatch.target.backend == "vulkan-spirv" and dispatch.codegen in RACING_CODEGEN
    )


def failure_code(text: str) -> str:
    """The rule for a code generation message of IREE; FIS108 where none is known."""
    return next((code for pattern, code in FAILURE_MESSAGES if re.search(pattern, text)), "FIS108")
