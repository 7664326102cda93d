"""One guarded compile inside a worker process: straight through where IREE can, repaired where it cannot."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from fissile.effect import Effect
from fissile.errors import FissileError
from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.checks.refusals.abi_types import check_abi_types
from fissile.passes.checks.refusals.executable_source import note_executable_source
from fissile.passes.checks.speed.recomputation import worth_cutting
from fissile.passes.definition import PassFailed
from fissile.passes.iree.dialects import EXECUTABLE_SOURCE
from fissile.passes.iree.messages import NO_ELEMENT_TYPE
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT
from fissile.passes.net import NOT_CHECKED, StartAgain, ask
from fissile.report import Report

from ..probe.one_dispatch import Probed, probe
from ..probe.probe_pool import ProbePool, Tell
from ..probe.stock_outcome import (
    built_wrong,
    exceeds_device,
    formed_dispatches,
    predicted_to_exceed,
    recomputed,
    translation_work,
)
from ..probe.unroll_limit import unrolls
from ..reduce import reduction
from ..repair.after_failure import RepairRun
from ..repair.failures import (
    RECOMPUTES,
    TOO_LARGE,
    TOO_LARGE_FOR_DEVICE,
    UNROLLED,
    Failure,
    Foreseen,
    NarrowStorage,
    StraightEnded,
    rejected,
    suggested,
)
from ..repair.trimming import find_borders, trim_from_now_on
from ..session import Module, PhaseFailed, phase_index
from .compile_run import OWN_HOOKS, CompileRun
from .emitted_spec import nothing_to_write
from .stepping_aside import stands_in

STOCK_SECONDS = 120.0
"""Of stock IREE, for a reduced program, where the request has no limit for one dispatch."""
DISPATCH_FINDINGS = "FIS1"
"""The rules about a dispatch; others are about the input."""

NOT_ON_STOCK = (
    "stock IREE was not run on it: it has no target for the device that is present (--match-device)"
)
"""Said of a reduced program whose failure was seen in fissile's own code generation alone."""


class GuardedCompile:
    """Compiles what ``run`` was asked for.

    ``ended`` says how an earlier straight compile of the same request took its process along; it is not tried again
    then. ``progress`` is told how many dispatches are about to be translated (one: with its fingerprint), and 0 when that is
    over; ``watch``
    the same of dispatches that the repair loop asks in this process (None: it asks in others).
    """

    def __init__(
        self,
        run: CompileRun,
        ended: str = "",
        progress: Tell = lambda *_: None,
        watch: Tell | None = None,
        endless: Iterable[str] = (),
        translate: bool = False,
    ) -> None:
        self._run = run
        self._ended = ended
        self._progress = progress
        self._watch = watch
        self._endless = tuple(endless)
        self._translate = translate
        self._run.ask = self._ask_watched

    def run(self) -> Report:
        """The whole pipeline; again where what IREE refuses before there are dispatches can be sliced off, and without a step
        of fissile's that threw midway."""
        while True:
            try:
                findings, failure = self._compile()
                if failure is not None and self._run.request.repair != "off":
                    if ask("unread borders", lambda why=failure: find_borders(self._run, why), []):
                        trim_from_now_on(self._run, failure)
                        self._run.forget_origin()
                        findings, failure = self._compile()
                break
            except StartAgain as again:
                self._run.leave_out(again.name)
            except PassFailed as refused:
                return self._run.report(refused.findings)
        if failure is not None:
            findings = [self._with_way_out(rejected(failure))]
        findings = self._with_mode(self._with_arguments(findings))
        return self._run.report(findings, written=failure is None)

    def bare(self, why: Finding) -> Report:
        """The program as stock IREE compiles it, with no step, look or repair that nobody asked for; ``why`` says so."""
        self._run.leave_out(*OWN_HOOKS)
        if stands_in(
            self._run.request
        ):  # an op of an unknown dialect crashes dispatch creation; stock refuses it
            self._run.session.context.allow_unregistered_dialects = False
        try:
            try:
                self._as_stock()
            except StartAgain as again:
                self._run.leave_out(again.name)
                self._as_stock()
        except PassFailed as refused:
            return self._run.report([*refused.findings, why])
        except PhaseFailed as failure:
            return self._run.report([rejected(failure), why])
        return self._run.report([why], written=True)

    def _as_stock(self) -> None:
        """Compiles straight to the end. Raises PhaseFailed where IREE does not get there."""
        with self._run.step("compile"):
            module = self._run.parse()
            self._run.phase_pipeline.advance(module, self._run.request.compile_to)
            self._run.write(module)

    def _with_mode(self, findings: list[Finding]) -> list[Finding]:
        """``findings``, the first refusal with the mode that the program is meant for, where that is another one."""
        refusal = next((f for f in findings if f.stops), None)
        if refusal is None or EXECUTABLE_SOURCE.encode() not in self._run.input.read_bytes():
            return findings
        try:
            module = self._run.parse().op
        except FissileError:  # what does not parse is refused for that
            return findings
        noted = ask("the mode", lambda: note_executable_source(refusal, module), refusal)
        return [noted if f is refusal else f for f in findings]

    def _with_arguments(self, findings: list[Finding]) -> list[Finding]:
        """``findings``, those about a type that IREE cannot pass replaced by what the user's own functions say of it."""
        refused = next((f for f in findings if NO_ELEMENT_TYPE in f.message), None)
        if refused is None:
            return findings
        named = ask(
            "types of arguments",
            lambda: check_abi_types(self._run.parse().op, NO_ELEMENT_TYPE, refused.detail),
            [],
        )
        return [*named, *(f for f in findings if f is not refused)] if named else findings

    def _with_way_out(self, finding: Finding) -> Finding:
        """With a note, where only the phase that the compile starts from keeps it from being repaired."""
        if (
            self._run.request.repair == "off"
            or self._can_go_back()
            or not finding.code.startswith(DISPATCH_FINDINGS)
        ):
            return finding
        return finding.with_(
            notes=(
                *finding.notes,
                f"it is not repaired: that is done at phase {BOUNDARIES_PLACED_AT}, which "
                f"--compile-from={self._run.request.compile_from} is behind",
            )
        )

    def _compile(self) -> tuple[list[Finding], Failure | None]:
        """A named line per step. The failure is one that no repair was tried for."""
        try:
            with self._run.step("parse"):
                module = self._run.parse()
            failure: Failure | None = StraightEnded(self._ended) if self._ended else None
            if failure is None:
                with self._run.step("compile"):
                    findings, failure = self._straight(module)
            if failure is None:
                self._emit_mlir()
                if path := self._run.request.emit_tuning_spec:
                    findings.append(nothing_to_write(path))
                return findings, None
            if not self._repairable(failure):
                return [], failure
            with self._run.step("repair"):
                # What the first look found holds for the module as it is; a repair looks again at what it makes.
                kept = findings if self._run.request.repair == "off" and not self._ended else []
                repaired = ask(
                    "the repair",
                    lambda: RepairRun(
                        self._run, self._progress, self._watch, self._endless, self._translate
                    ).run(failure),
                    None,
                    cpu_limit=0,
                    usage=True,
                )
            if repaired is None:
                return self._unrepaired(failure)
            unexplained = [f.code for f in repaired if f.code in ("FIS106", "FIS107") and not f.subject]
            if isinstance(failure, StraightEnded) and unexplained:
                # Fissile's own part may have crashed; every dispatch by itself is translated in time, and the whole is larger.
                self._run.facts["unexplained"] = unexplained[0]
            return [*kept, *repaired], None
        except PhaseFailed as failed:
            return [], failed

    def _unrepaired(self, failure: Failure) -> tuple[list[Finding], Failure | None]:
        """What is left where the repair itself threw: IREE's own answer; what would be wrong is an error."""
        if not isinstance(failure, Foreseen):
            return [], failure
        self._as_stock()
        found = list(failure.narrow.found) if isinstance(failure, NarrowStorage) else []
        if failure.wrong and not found:
            found = [Finding(NOT_CHECKED, f"{failure.message}; the repair failed", effect=Effect.WRONG)]
        return found, None

    def reduce(self) -> Report:
        """Writes a small program that fails as the request's input does, instead of compiling it."""
        while True:
            try:
                return self._reduce()
            except StartAgain as again:
                self._run.leave_out(again.name)

    def _reduce(self) -> Report:
        try:
            origin, _told = self._run.origin()
            with ProbePool(self._run.request.flags, self._run.request.dispatch_timeout) as pool:
                reduced = reduction.reduce(self._run.phase_pipeline, origin, pool, self._run.request.dispatch)
        except PassFailed as refused:
            return self._run.report(refused.findings)
        except PhaseFailed as failure:
            borders = [suggested(f, "`fissile compile` applies it") for f in find_borders(self._run, failure)]
            return self._run.report(borders or [rejected(failure)])
        silent = reduced.finding.effect.is_built
        device = self._run.request.match_device
        matched = [f"--match-device={device}"] if device else []
        compiler = "fissile compile --repair=suggest " if silent or device else "iree-compile "
        command = compiler + shlex.join(
            [*matched, *self._run.request.flags, "reduced.mlir", "-o", "/dev/null"]
        )
        head = f"// {reduced.finding.code}: {reduced.finding.message}\n// shown by: {command}\n"
        finding = reduced.finding
        self._run.output.write_text(head + reduced.text + "\n")
        self._run.facts.update(kept=reduced.kept, of=reduced.of)
        otherwise = reduced.differs or self._fails_otherwise(finding)
        self._run.facts["otherwise"] = otherwise
        told = finding.with_(
            severity=Severity.NOTE,
            places=(),
            notes=(
                f"{'IREE says nothing of it; shown' if silent else 'shown' if device else 'shown on stock IREE'} by: {command}",
                *((NOT_ON_STOCK,) if device else ()),
            ),
        )
        not_kept = Finding(
            "FIS152",
            f"the reduced program does not fail as its program does: {otherwise}",
            subject=finding.subject,
        )
        return self._run.report([told, *([not_kept] if otherwise else [])], written=True)

    def _fails_otherwise(self, finding: Finding) -> str:
        """What stock IREE does with the reduced program instead; empty also where it has no target for the device (NOT_ON_STOCK)."""
        request = self._run.request
        if request.match_device:
            return ""
        from ..reduce.reduced_again import fails_otherwise

        limit = request.dispatch_timeout or STOCK_SECONDS
        return fails_otherwise(self._run.output, request.flags, finding, limit)

    def _emit_mlir(self) -> None:
        """The module as it is, where it was asked for and nothing had to be repaired."""
        if self._run.request.emit_mlir and self._can_go_back():
            self._run.emit_mlir(self._run.origin()[0])

    def _ask_watched(self, dispatch: Dispatch) -> Probed:
        """Generates code for ``dispatch`` here: what does not end would not end in the straight compile either."""
        self._progress(1, dispatch.fingerprint)
        try:
            return probe(dispatch)
        finally:
            self._progress(0)

    # --- the straight compile

    def _straight(self, module: Module) -> tuple[list[Finding], Failure | None]:
        """Compiles as stock IREE does, looking at the configured dispatches on the way.

        What it finds counts where it succeeds; a repair looks again at what it makes.
        """
        findings: list[Finding] = []
        end = self._run.request.compile_to
        try:
            if phase_index(module.phase) < phase_index(DISPATCHES_CONFIGURED_AT) <= phase_index(end):
                if self._can_go_back():
                    findings += self._run.phase_pipeline.advance(module, BOUNDARIES_PLACED_AT)
                    ask("a copy for repairs", lambda: self._run.keep_origin(module, findings), None)
                findings += self._run.phase_pipeline.advance(module, DISPATCHES_CONFIGURED_AT)
                findings += self._run.look(module)
                if self._can_go_back() and (foreseen := self._foreseen(module, findings)):
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

    def _foreseen(self, module: Module, findings: list[Finding]) -> Foreseen | None:
        """Why code need not be generated for ``module`` as it is; what is slow is added to the ``findings`` so far."""
        run, asked = self._run, self._run.ask
        if run.request.repair != "off" and run.narrow.found:
            return NarrowStorage("narrow elements would be read or written wrongly", True, run.narrow)
        if run.request.repair != "off" and any(
            unrolls(d, run.tuning).elements for d in formed_dispatches(module)
        ):
            return UNROLLED
        if predicted_to_exceed(module):
            return TOO_LARGE
        if exceeds_device(module, asked):
            return TOO_LARGE_FOR_DEVICE
        wrong, left = built_wrong(module, asked, run.tuning)
        if wrong is not None:
            return Foreseen(wrong.message, wrong.effect.spoils_numbers)
        findings += left
        if may_recompute(module):
            findings += run.slow(run.origin()[0])
        return RECOMPUTES if run.tuning and any(f.code == "FIS140" for f in findings) else None

    def _can_go_back(self) -> bool:
        return phase_index(self._run.request.compile_from) <= phase_index(BOUNDARIES_PLACED_AT)

    def _repairable(self, failure: Failure) -> bool:
        """Whether the failure lies behind the phase that boundaries are placed at."""
        if not self._can_go_back() or phase_index(self._run.request.compile_to) <= phase_index(
            BOUNDARIES_PLACED_AT
        ):
            return False
        return not isinstance(failure, PhaseFailed) or phase_index(failure.phase) > phase_index(
            BOUNDARIES_PLACED_AT
        )


def may_recompute(module: Module) -> bool:
    """Whether a closer look at recomputed producers is worth it; ``module`` has configured dispatches."""
    return any(
        ask("recomputed producers", lambda d=d: worth_cutting(recomputed(d)), (), about=d)
        for d in formed_dispatches(module)
    )
