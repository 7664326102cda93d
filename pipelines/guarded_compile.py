"""One guarded compile inside a worker process: straight through where IREE can, repaired where it cannot."""

from __future__ import annotations

import shlex
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fissile.passes.analysis.dispatches import dispatches
from fissile.passes.analysis.provenance import describe_source_ops, tag_source_ops
from fissile.passes.analysis.recomputation import recomputed_producers
from fissile.passes.checks.leftover_ops import leftover_ops
from fissile.passes.checks.narrow_storage import check_narrow_storage
from fissile.passes.checks.recomputation import check_recomputation, worth_cutting
from fissile.passes.definition import PassFailed

from fissile.finding import Finding, Severity
from fissile.report import Report

from . import reduction
from .dispatch_check import shares_workgroup_memory
from .edits import apply_edits, instead
from .failures import Failure, NarrowStorage, RaceFound, StraightEnded, TuningAsked, rejected, suggested
from .guard import GUARDED_AT, guard, strips_asserts
from .iree.names import (
    BOUNDARIES_PLACED_AT,
    DEVICES_ASSIGNED_AT,
    DISPATCHES_CONFIGURED_AT,
    PREPROCESSED_AFTER,
    RECOMPUTING_BACKENDS,
)
from .iree.runtime_flags import RUNTIME_OF_BACKEND
from .itinerary import Itinerary, Stop
from .packing import NOT_PACKED, pack
from .pass_runner import run_pipeline
from .probe_pool import ProbePool
from .repair import Diagnosis, Repair, Repairer
from .request import CompileRequest
from .session import Module, PhaseFailed, Session, phase_index

DIALECT_LOWERINGS = (
    # Preconditions and storage become IREE's own ops as soon as the input is in IREE's dialects, and groups must:
    # phase abi crashes on an unregistered op with a region. Boundaries wait until ops are optimised.
    ("input", "builtin.module(fissile-lower-requires,fissile-lower-storage,fissile-lower-groups)"),
    (BOUNDARIES_PLACED_AT, "builtin.module(fissile-lower-groups,fissile-lower-boundaries)"),
)

STDIN_NAME = "<stdin>"
"""What iree-compile calls standard input in locations."""


class GuardedCompile:
    """Compiles one request. ``output`` is the temporary file that the caller moves into place on success.

    ``spooled_input`` holds what came from standard input, where the request's input is "-". ``ended`` says how an
    earlier straight compile of the same request took its process along; it is not tried again then.
    ``progress`` is told how many dispatches are about to be translated, and 0 when that is over.
    """

    def __init__(self, request: CompileRequest, output: Path, spooled_input: Path | None = None,
                 ended: str = "", progress: Callable[[int], None] = lambda dispatches: None) -> None:
        self.request = request
        self.output = output
        self.ended = ended
        self.progress = progress
        self.input = spooled_input or Path(request.input)
        self.input_name = STDIN_NAME if spooled_input else ""
        self.seconds: dict[str, float] = {}
        self.facts: dict[str, object] = {}
        self.backends: tuple[str, ...] = ()
        self.guarded: tuple[Finding, ...] = ()
        self.session = Session(verify_ir=request.verify_ir, dump_phases_to=request.dump_phases_to)
        if request.remarks_filter:
            self.session.remarks(request.remarks_filter, request.remarks_file)
        self.itinerary = Itinerary(self.session, self._stops())

    def run(self) -> Report:
        """The whole pipeline, a named line per step."""
        try:
            with self._step("parse"):
                module = self._parse()
            failure: Failure | None = StraightEnded(self.ended) if self.ended else None
            if failure is None:
                with self._step("compile"):
                    findings, failure = self._straight(module)
            if failure is None:
                return self._report(findings, written=True)
            if not self._repairable(failure):
                return self._report([rejected(failure)])
            with self._step("repair"):
                # What the first look found holds for the module as it is; a repair looks again at what it makes.
                kept = findings if self.request.repair == "off" and not self.ended else []
                findings = [*kept, *self._repair(failure)]
        except PhaseFailed as failure:
            return self._report([rejected(failure)])
        except PassFailed as failure:
            return self._report(failure.findings)
        return self._report(findings, written=True)

    def reduce(self) -> Report:
        """Writes a small program that fails as the request's input does, instead of compiling it."""
        try:
            origin = self._parse()
            self.itinerary.advance(origin, BOUNDARIES_PLACED_AT)
            with ProbePool(self.request.flags, self.request.dispatch_timeout) as pool:
                reduced = reduction.reduce(self.itinerary, origin, pool, self.request.dispatch)
        except PhaseFailed as failure:
            return self._report([rejected(failure)])
        command = "iree-compile " + shlex.join([*self.request.flags, "reduced.mlir", "-o", "/dev/null"])
        head = f"// {reduced.finding.code}: {reduced.finding.message}\n// shown by: {command}\n"
        self.output.write_text(head + reduced.text + "\n")
        self.facts.update(kept=reduced.kept, of=reduced.of)
        told = reduced.finding.with_(severity=Severity.NOTE, places=(), notes=(f"shown on stock IREE by: {command}",))
        return self._report([told], written=True)

    # --- the straight compile

    def _parse(self) -> Module:
        module = self.session.parse(self.input, self.input_name)
        module.phase = self.request.compile_from
        if phase_index(module.phase) >= phase_index(BOUNDARIES_PLACED_AT):
            stop_on_leftovers(module)
        return module

    def _straight(self, module: Module) -> tuple[list[Finding], Failure | None]:
        """Compiles as stock IREE does, looking at the configured dispatches on the way.

        What it finds counts where it succeeds; a repair looks again at what it makes.
        """
        findings: list[Finding] = []
        end = self.request.compile_to
        try:
            if phase_index(module.phase) < phase_index(DISPATCHES_CONFIGURED_AT) <= phase_index(end):
                findings += self.itinerary.advance(module, DISPATCHES_CONFIGURED_AT)
                findings += self._look(module)
                if self._can_go_back():
                    if self.request.repair == "auto" and any(f.code == "FIS110" for f in findings):
                        return findings, NarrowStorage()
                    if shares_workgroup_memory(module):
                        return findings, RaceFound()
                    if may_recompute(module):
                        origin = self._parse()
                        self.itinerary.advance(origin, BOUNDARIES_PLACED_AT)
                        findings += self._slow(origin)
                    if self.tuning and any(f.code == "FIS140" for f in findings):
                        return findings, TuningAsked()
                self.progress(len(dispatches(module.op)))
            findings += self.itinerary.advance(module, end)
            self._write(module)
        except PhaseFailed as failure:
            return findings, failure
        finally:
            self.progress(0)
        if self.request.verify:
            findings += self._verify_artifact()
        return findings, None

    # --- repair

    def _can_go_back(self) -> bool:
        return phase_index(self.request.compile_from) <= phase_index(BOUNDARIES_PLACED_AT)

    def _repairable(self, failure: Failure) -> bool:
        """Whether the failure lies behind the phase that boundaries are placed at."""
        if not self._can_go_back() or phase_index(self.request.compile_to) <= phase_index(BOUNDARIES_PLACED_AT):
            return False
        return not isinstance(failure, PhaseFailed) or phase_index(failure.phase) > phase_index(BOUNDARIES_PLACED_AT)

    def _repair(self, failure: Failure) -> list[Finding]:
        origin = self._parse()
        self.itinerary.advance(origin, BOUNDARIES_PLACED_AT)
        with ProbePool(self.request.flags, self.request.dispatch_timeout) as pool:
            packed = pack(self.itinerary, origin) if self.request.repair == "auto" else NOT_PACKED
            if packed.module is not None:
                findings = self._mend(packed.module, origin, failure, pool)
                if not any(f.severity is Severity.ERROR for f in findings):
                    return [*packed.findings, *findings]
            # Unpacked, the module may still compile; its narrow storage is told as a warning then.
            return [*packed.refusals, *self._mend(origin, origin, failure, pool)]

    def _mend(self, module: Module, original: Module, failure: Failure, pool: ProbePool) -> list[Finding]:
        """Diagnoses ``module`` (at global optimisation), repairs what fails, and compiles it to the end."""
        repairer = Repairer(self.itinerary, module, pool)
        before = repairer.diagnose()
        if before.failed is not None:
            return [rejected(before.failed)]
        if not before.failing:
            if isinstance(failure, (PhaseFailed, StraightEnded)) and module is original:
                return [rejected(failure)]
        elif self.request.repair == "off":
            note = "--repair=off: nothing was changed"
            return [c.finding.with_(notes=(*c.finding.notes, note)) for c in before.failing]
        repair = repairer.repair(before, tune=self.tuning)
        self.facts.update(edits=[f"{edit.remedy} {edit.op}" for edit in repair.edits], rounds=repair.rounds)
        if not repair.complete and not repair.only_races_left:
            return list(repair.findings)
        if self.request.repair == "suggest":
            return [suggested(finding) for finding in repair.findings]
        if self.request.tune:
            with self._step("tune"):
                repair = self._fastest(module, repairer, repair, before)
        return self._finish(module.clone(), original, repair)

    def _fastest(self, module: Module, repairer: Repairer, repair: Repair, before: Diagnosis) -> Repair:
        """``repair``, or what runs faster and passes as well; as it is where no runtime for the target answers."""
        from .numerics.runtimes import present
        from .numerics.signature import choose, signatures_of_module
        from .tuning import time_in_turns

        names = {RUNTIME_OF_BACKEND.get(c.dispatch.target.backend) for c in before.checked}
        runtime = next((r for r in present() if r.name in names), None)
        variants = repairer.variants(repair, before)
        if runtime is None or len(variants) < 2:
            self.facts["tuned"] = "no runtime for the target answers here" if runtime is None else "nothing to choose from"
            return repair
        with tempfile.TemporaryDirectory(prefix="fissile-variants-") as folder:
            programs = []
            for number, (name, wanted) in enumerate(variants):
                clone, vmfb = module.clone(), Path(folder, f"{number}.vmfb")
                apply_edits(clone, wanted)
                self.itinerary.advance(clone, "end")
                self.session.write(clone, vmfb)
                programs.append((name, vmfb))
            signature = choose(signatures_of_module(self._parse().op), None, str(self.input))
            timed = time_in_turns(programs, signature, runtime)
        self.facts["tuned"] = {t.name: t.seconds if t.seconds is not None else t.why for t in timed}
        if timed[0].seconds is None:
            return repair
        wanted = dict(variants)[timed[0].name]
        rows = ", ".join(f"{t.name} {t.seconds * 1e3:.3g} ms" for t in timed if t.seconds is not None)
        note = f"timed on {runtime}: {rows}; took {timed[0].name}"
        told = [f.with_(notes=(*f.notes, note)) if f.severity is Severity.REPAIRED else f for f in repair.findings]
        if wanted != repair.edits:
            told = [instead(f, timed[0].name, wanted) if f.severity is Severity.REPAIRED else f for f in told]
        return replace(repair, edits=wanted, findings=tuple(told))

    def _finish(self, origin: Module, before: Module, repair: Repair) -> list[Finding]:
        """Edits the real module, which carries no tags, and compiles it to the end; ``before`` is what it computed first."""
        original = before.text() if self.request.verify else ""
        apply_edits(origin, repair.edits)
        repaired = origin.text() if self.request.verify else ""
        if self.request.emit_mlir:
            self.session.write(origin, self.request.emit_mlir, "ir")
        told = list(repair.findings)
        try:
            slow = self._slow(origin) if RECOMPUTING_BACKENDS[0] in self.backends else []
            findings = slow + self.itinerary.advance(origin, DISPATCHES_CONFIGURED_AT)
            findings += self._look(origin)
            findings += self.itinerary.advance(origin, self.request.compile_to)
            self._write(origin)
        except PhaseFailed as failure:
            return [*told, rejected(failure)]
        if self.request.verify:
            from .verification import verify_repair, with_numerics  # NumPy: only where asked

            with self._step("verify"):
                certificate = verify_repair(original, repaired, self.request.verify_seeds)
            self.facts["certificate"] = certificate.to_json()
            told = with_numerics(told, certificate.sentence.replace("local-task", "llvm-cpu"))
            findings += [*certificate.findings, *self._verify_artifact()]
        return [*told, *findings]

    def _verify_artifact(self) -> list[Finding]:
        """Runs what was written where a runtime for it answers: a finding where it differs from the input on llvm-cpu."""
        if self.request.compile_from != "start" or self.request.compile_to != "end":
            return []
        if self.request.output_format != "vm-bytecode":
            return []
        from .verification import verify_artifact

        with self._step("verify"):
            certificate, why_not = verify_artifact(self.input, self.output, self.backends, self.request.verify_seeds)
        self.facts["artifact"] = certificate.to_json() if certificate else why_not
        return list(certificate.findings) if certificate else []

    def _look(self, module: Module) -> list[Finding]:
        """Findings about configured dispatches that need no code generation."""
        formed = dispatches(module.op)
        self.backends = tuple(dict.fromkeys(d.target.backend for d in formed))
        return check_narrow_storage(formed)

    def _slow(self, origin: Module) -> list[Finding]:
        """FIS140 about a module at global optimisation; looked at on a tagged clone, which tells ops apart exactly."""
        clone = origin.clone()
        ops = describe_source_ops(clone.op)
        tag_source_ops(clone.op)
        self.itinerary.advance(clone, DISPATCHES_CONFIGURED_AT)
        formed = [d for d in dispatches(clone.op) if d.target.backend in RECOMPUTING_BACKENDS]
        return [f for d in formed if (f := check_recomputation(d, recomputed_producers(d), ops))]

    # --- stops, output, report

    def _stops(self) -> list[Stop]:
        request = self.request
        stops: list[Stop] = [Stop(GUARDED_AT, "guard", self._guard)] if request.guard != "off" else []
        if request.preprocessing:
            stops.append(self._pipeline_stop(PREPROCESSED_AFTER, request.preprocessing))
        if request.match_device:
            stops.append(Stop(DEVICES_ASSIGNED_AT, "match-device", self._match_device))
        stops += [self._pipeline_stop(phase, pipeline) for phase, pipeline in request.pipelines_after]
        stops += [Stop(phase, "lower-dialect", lower_dialect(pipeline)) for phase, pipeline in DIALECT_LOWERINGS]
        stops.append(Stop(BOUNDARIES_PLACED_AT, "check-leftovers", stop_on_leftovers))
        return stops

    def _pipeline_stop(self, phase: str, pipeline: str) -> Stop:
        def act(module: Module) -> list[Finding]:
            found: list[Finding] = []
            run_pipeline(pipeline, module.op, report=found.append, verify_contracts=self.request.verify_contracts)
            return found

        return Stop(phase, pipeline, act)

    def _guard(self, module: Module) -> list[Finding]:
        """Storage is proved, refuted or asserted; what is refuted ends the compile."""
        result = guard(module.op, self.request.guard, asserts_stripped=strips_asserts(self.request.flags))
        if any(finding.severity is Severity.ERROR for finding in result.findings):
            raise PassFailed(result.findings)
        # A repair parses again and comes by here again; it is told once.
        self.guarded = result.findings
        self.facts["contract"] = {name: list(conditions) for name, conditions in result.contract.items()}
        return []

    def _match_device(self, module: Module) -> list[Finding]:
        from .devices.match import match_target
        from .devices.vulkan import query_device

        device = query_device()
        self.facts["device"] = device.name
        self.facts["device_changes"] = [str(change) for change in match_target(module.op, device)]
        return []

    def _write(self, module: Module) -> None:
        if self.request.compile_to != "end" or self.request.output_format == "vm-asm":
            form = "ir-bytecode" if self.request.mlir_bytecode else "ir"
        else:
            form = self.request.output_format
        self.session.write(module, self.output, form, self.request.mlir_bytecode_version)

    @property
    def tuning(self) -> bool:
        return self.request.tune or self.request.fusion == "tune"

    def _report(self, findings: Iterable[Finding], written: bool = False) -> Report:
        if self.request.werror:
            findings = [f.with_(severity=Severity.ERROR) if f.severity is Severity.WARNING else f for f in findings]
        findings = (*findings, *self.guarded)
        written = written and not any(f.severity is Severity.ERROR for f in findings)
        messages = tuple(d.text for d in self.session.diagnostics if d.severity in ("warning", "remark"))
        return Report("compile", findings, self.request.output if written else "",
                      tuple(dict.fromkeys(messages)), dict(self.seconds), dict(self.facts))

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def may_recompute(module: Module) -> bool:
    """Whether a closer look at recomputed producers is worth it; ``module`` has configured dispatches."""
    return any(
        worth_cutting(recomputed_producers(d)) for d in dispatches(module.op) if d.target.backend in RECOMPUTING_BACKENDS
    )


def stop_on_leftovers(module: Module) -> list[Finding]:
    """Raises PassFailed where fissile ops are left that IREE cannot translate; it names each. Else no finding.

    Dispatch creation crashes on an op that it does not know on tensors (IREE 3.13), so this comes before it.
    """
    if found := leftover_ops(module.op):
        raise PassFailed(found)
    return []


def lower_dialect(pipeline: str) -> Callable[[Module], list[Finding]]:
    """A stop that lowers fissile ops a program was written with; a program without any is not touched."""

    def act(module: Module) -> list[Finding]:
        found: list[Finding] = []
        if leftover_ops(module.op):
            run_pipeline(pipeline, module.op, report=found.append)
        return found

    return act
