"""The program compiled as stock IREE compiles it, to the end, with a look at the configured dispatches on the way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.containment import contained
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT

from ..phase_pipeline import PhasePipeline
from ..probe.stock_outcome import (
    built_wrong,
    exceeds_device,
    formed_dispatches,
    may_recompute,
    predicted_to_exceed,
    translation_work,
    unvectorised,
)
from ..probe.unroll_limit import unrolls
from ..repair.failures import (
    RECOMPUTES,
    SLOW_CODES,
    TOO_LARGE,
    TOO_LARGE_FOR_DEVICE,
    UNROLLED,
    Failure,
    Foreseen,
    NarrowStorage,
)
from ..session import Module, PhaseFailed, phase_index
from .compile_run import CompileRun
from .refusal_advice import can_go_back

if TYPE_CHECKING:
    from ..probe.one_dispatch import Probed
    from ..probe.probe_pool import CodegenProgress


class StraightCompile:
    """``progress`` is called with how many dispatches are about to be translated (one: with its fingerprint), and 0 when that is over."""

    def __init__(self, run: CompileRun, progress: CodegenProgress) -> None:
        self._run, self._progress = run, progress

    def through(self, phases: PhasePipeline) -> None:
        """Compiles to the end with no look on the way. Raises PhaseFailed where IREE does not get there."""
        with self._run.step("compile"):
            module = self._run.parse()
            phases.advance(module, self._run.request.compile_to)
            self._run.write(module)

    def probe_watched(self, dispatch: Dispatch) -> Probed:
        """Generates code for ``dispatch`` here: what does not end would not end in the straight compile either."""
        from ..probe.one_dispatch import probe

        self._progress(1, dispatch.fingerprint)
        try:
            return probe(dispatch)
        finally:
            self._progress(0)

    def looked_at(self, module: Module) -> tuple[list[Finding], Failure | None]:
        """Compiles as stock IREE does, looking at the configured dispatches on the way.

        What it finds counts where it succeeds; a repair looks again at what it makes.
        """
        findings: list[Finding] = []
        end = self._run.request.compile_to
        try:
            if self._looks_at(module) and phase_index(DISPATCHES_CONFIGURED_AT) <= phase_index(end):
                if can_go_back(self._run.request):
                    findings += self._run.phase_pipeline.advance(module, BOUNDARIES_PLACED_AT)
                    contained("a copy for repairs", lambda: self._run.keep_origin(module, findings), None)
                findings += self._run.phase_pipeline.advance(module, DISPATCHES_CONFIGURED_AT)
                findings += self._run.look(module, self.probe_watched)
                if can_go_back(self._run.request) and (foreseen := self._foreseen(module, findings)):
                    return findings, foreseen
                self._progress(translation_work(module))
            findings += self._run.phase_pipeline.advance(module, end)
            self._run.write(module)
        except PhaseFailed as failure:
            return findings, failure
        finally:
            self._progress(0)
        if self._run.request.verify:
            findings += self._run.verify_artifact()
        return findings, None

    @staticmethod
    def _looks_at(module: Module) -> bool:
        """Whether ``module`` has no configured dispatches yet, or was read with them."""
        here, configured = phase_index(module.phase), phase_index(DISPATCHES_CONFIGURED_AT)
        return here < configured or here == configured and module.is_read

    def _foreseen(self, module: Module, findings: list[Finding]) -> Foreseen | None:
        """Why code need not be generated for ``module`` as it is; what is slow is added to the ``findings`` so far."""
        run, probe_watched = self._run, self.probe_watched
        if run.request.repair != "off" and run.narrow.found:
            return NarrowStorage("narrow elements would be read or written wrongly", True, run.narrow)
        if run.request.repair != "off" and any(
            bool(unrolls(d, run.tuning)) for d in formed_dispatches(module)
        ):
            return UNROLLED
        if predicted_to_exceed(module):
            return TOO_LARGE
        if exceeds_device(module, probe_watched):
            return TOO_LARGE_FOR_DEVICE
        wrong, left = built_wrong(module, probe_watched, run.tuning)
        if wrong is not None:
            return Foreseen(wrong.message, wrong.effect.spoils_numbers)
        findings += left
        if may_recompute(module, run.origin()[0]):
            findings += run.slow(run.origin()[0])
        else:
            findings += contained(
                "transposed operands", partial(unvectorised, module, run.origin()[0]), [], cpu_limit=0
            )
        return RECOMPUTES if run.tuning and any(f.code in SLOW_CODES for f in findings) else None
