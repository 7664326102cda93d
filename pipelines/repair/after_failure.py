"""What is done where a straight compile fails, or would compute the wrong numbers, or slowly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fissile.finding import Finding, Severity
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT
from fissile.passes.iree.runtime_flags import RUNTIME_OF_BACKEND
from fissile.passes.net import ask

from ..compile.compile_run import CompileRun
from ..compile.emitted_spec import not_carried
from ..probe.probe_pool import ProbePool, Tell
from ..probe.stock_outcome import translation_work
from ..process.atomic_write import write_atomically
from ..process.scratch import scratch
from ..session import Module, PhaseFailed
from .edits import apply_edits, instead
from .failures import Failure, NarrowAfterRepair, NarrowStorage, PackingDoesNotHold, StraightEnded, rejected
from .loop import Diagnosis, Repair, Repairer
from .packing import (
    Narrow,
    find_narrow,
    find_packed_booleans,
    find_unlowered,
    may_be_unlowered,
    pack,
    unusable,
)
from .spec_search import FoundSpec, SpecSearch, in_force


class RepairRun:
    """Packs, repairs and finishes one compile, from the phase at which boundaries are placed."""

    def __init__(
        self,
        run: CompileRun,
        progress: Tell,
        watch: Tell | None = None,
        endless: Sequence[str] = (),
        translate: bool = False,
    ) -> None:
        self._run = run
        self._progress = progress
        self._watch = watch
        self._endless = endless
        self._translate = translate
        self._tell_narrow = False
        self._repairers = run.repairers

    def _repairer(self, module: Module, *how) -> Repairer:
        """A repairer that lives as long as this compile: its ops are of modules that IREE has freed, and the process crashes where
        Python's collector frees the two in the wrong order (an FFT of complex numbers on Vulkan)."""
        self._repairers.append(Repairer(self._run.phase_pipeline, module, *how, tune=self._run.tuning))
        return self._repairers[-1]

    def run(self, failure: Failure) -> list[Finding]:
        """Findings about what was done; the output is written unless one of them is an error.

        With --repair=suggest all of it is done as well: what is suggested has been seen to compile.
        """
        origin, told = self._run.origin()
        request = self._run.request
        with ProbePool(
            request.flags,
            request.dispatch_timeout,
            watch=self._watch,
            endless=self._endless,
            translate=self._translate,
        ) as pool:
            if isinstance(failure, StraightEnded):
                # What ended the straight compile is among what is asked from here on.
                self._run.ask = lambda dispatch: pool.probe_all([dispatch], convert=False)[0].probed
            repairs = request.repair != "off"
            found, refusals = self._packed(
                origin, self._narrow(origin, failure, pool) if repairs else Narrow(), failure, pool
            )
            if found is not None:
                return [*told, *found]
            # Unpacked, the module may still compile; its narrow storage is told as a warning then.
            try:
                rest = self._mend(origin, origin, failure, pool)
            except NarrowAfterRepair as after:
                found, refusals = self._packed(origin, after.narrow, failure, pool)
                if found is not None:
                    return [*told, *found]
                self._tell_narrow = True
                rest = self._mend(origin, origin, failure, pool)
            if repairs and any(f.stops for f in rest) and may_be_unlowered(origin, last=True):
                # A dispatch that fails of another reason first may have no code for such types either.
                diagnosis = self._repairer(origin, pool).diagnose()
                found, _why_not = self._packed(origin, find_unlowered(origin, diagnosis, ()), failure, pool)
                if found is not None:
                    return [*told, *found]
            already = {(f.code, f.message) for f in refusals}
            return [*told, *refusals, *(f for f in rest if (f.code, f.message) not in already)]

    def _packed(
        self, origin: Module, narrow: Narrow, failure: Failure, pool: ProbePool
    ) -> tuple[list[Finding] | None, tuple[Finding, ...]]:
        """The findings of ``origin`` packed and repaired, in the first form that holds; None where none compiles, and why it could not
        be packed."""
        *others, last = narrow.forms
        for form in others:
            findings, _why_not = self._packed_as(origin, form, failure, pool)
            if findings is not None and not self._withheld(findings):
                return findings, ()
        return self._packed_as(origin, last, failure, pool)

    def _packed_as(
        self, origin: Module, narrow: Narrow, failure: Failure, pool: ProbePool, module: Module | None = None
    ) -> tuple[list[Finding] | None, tuple[Finding, ...]]:
        """The same of one form; ``module`` is ``origin`` with other elements packed already, if some are."""
        packed = pack(module or origin, narrow)
        if packed.module is None:
            return None, packed.refusals
        try:
            findings = self._mend(packed.module, origin, failure, pool)
        except PackingDoesNotHold as why:
            return None, (unusable(narrow.found[0], why.message),)
        if any(f.stops for f in findings):
            if not narrow.in_place:
                return None, ()
            # What is computed rightly now may be stored in a way that IREE has no code for: those dispatches alone take words.
            diagnosis = self._repairer(packed.module, pool).diagnose()
            found, _why_not = self._packed_as(
                origin, find_unlowered(packed.module, diagnosis, ()), failure, pool, packed.module
            )
            return (None if found is None else [*packed.findings, *found]), ()
        return [*packed.findings, *findings], ()

    def _narrow(self, origin: Module, failure: Failure, pool: ProbePool) -> Narrow:
        """What packing is for. The straight compile has looked at storage, unless it did not come back; what code generation
        has no code for is asked here, where the program has element types for which that is likely."""
        if isinstance(failure, NarrowStorage):
            return failure.narrow
        if isinstance(failure, StraightEnded):
            clone = origin.clone()
            self._run.phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)
            if (narrow := find_narrow(clone, self._run.ask)).found:
                return narrow
        if not may_be_unlowered(origin):
            return Narrow()
        if (
            isinstance(failure, PhaseFailed)
            and (booleans := find_packed_booleans(origin, failure.message, str(failure))).found
        ):
            return booleans
        return find_unlowered(origin, self._repairer(origin, pool).diagnose())

    def _mend(self, module: Module, original: Module, failure: Failure, pool: ProbePool) -> list[Finding]:
        """Diagnoses ``module`` (at global optimisation), repairs what fails, and compiles it to the end.

        Where the straight compile was not seen to fail, dispatches that should pass are not asked first: the compile to
        the end is the answer, and where it is no, every dispatch is asked.
        """
        if not isinstance(failure, (PhaseFailed, StraightEnded)):
            try:
                return self._mend_once(module, original, failure, pool, True)
            except PhaseFailed:
                if self._run.request.emit_tuning_spec:
                    in_force(self._run.session, "")
        return self._mend_once(module, original, failure, pool, False)

    def _mend_once(
        self, module: Module, original: Module, failure: Failure, pool: ProbePool, optimistic: bool
    ) -> list[Finding]:
        """Raises PhaseFailed where the repaired module does not compile and ``optimistic`` may be why."""
        repairer = self._repairer(module, pool, optimistic, self._run.request.repair != "off")
        before, packed = repairer.diagnose(), module is not original
        if before.failed is not None:
            return [rejected(before.failed)]
        if not before.failing and isinstance(failure, StraightEnded):
            # Every dispatch comes as far as LLVM or SPIR-V: what ended the compile is behind that.
            pool.translate = True
            repairer = Repairer(
                self._run.phase_pipeline,
                module,
                pool,
                optimistic,
                self._run.request.repair != "off",
                tune=self._run.tuning,
            )
            before = repairer.diagnose()
        if not before.failing:
            if isinstance(failure, (PhaseFailed, StraightEnded)) and not packed:
                return [rejected(failure)]
        elif self._run.request.repair == "off":
            note = "--repair=off: nothing was changed"
            told = tuple(c.finding.with_(notes=(*c.finding.notes, note)) for c in before.failing)
            if self._withheld(told):
                return list(told)
            return self._finish(module, original, Repair((), told, True, 0), repairer, packed)
        spec = self._spec(module, repairer, before)
        repair = repairer.repair(spec.after if spec else before, tune=self._run.tuning)
        if spec:
            repair = replace(repair, findings=(*repair.findings, *spec.repaired))
        done, generated = list(repair.edits), repairer.generated
        if repair.partial and repair.compiles:
            # What the edits made of an op (an attention's sums) has no index in the module as it was.
            module = module.clone()
            apply_edits(module, repair.edits)
            repairer = self._repairer(module, pool)
            before = repairer.diagnose()
            second = repairer.repair(before, tune=self._run.tuning)
            repair = replace(
                second, findings=(*repair.findings, *second.findings), rounds=repair.rounds + second.rounds
            )
            done, generated = [*done, *repair.edits], generated + repairer.generated
        self._run.facts.update(
            edits=[f"{edit.remedy} {edit.op}" for edit in done],
            rounds=repair.rounds,
            generated=generated,
            graph=ask("the drawing", lambda: repairer.drawn(before, repair.edits), None),
        )
        if self._withheld(repair.findings):
            return list(repair.findings)
        if self._run.request.tune:
            with self._run.step("tune"):
                repair = self._fastest(module, repairer, repair, before)
        try:
            findings = self._finish(module, original, repair, repairer, packed)
        except PhaseFailed as failed:
            if optimistic:
                raise
            return [*repair.findings, rejected(failed)]
        if (
            not self._run.request.emit_tuning_spec
            or self._run.only_suggests
            or any(f.severity is Severity.ERROR for f in findings)
        ):
            return findings
        return [*findings, *self._emit_spec(spec)]

    def _withheld(self, findings: Sequence[Finding]) -> bool:
        """Whether there is no use in compiling on: IREE would stop, or its output would not be written."""
        return any(f.stops or f.withholds and not self._run.request.allow_wrong for f in findings)

    def _spec(self, module: Module, repairer: Repairer, before: Diagnosis) -> FoundSpec | None:
        """What a tuning spec repairs, where one was asked for. It is in force from here on."""
        if not self._run.request.emit_tuning_spec or not before.failing:
            return None
        with self._run.step("tuning-spec"):
            return SpecSearch(self._run.phase_pipeline, module, repairer, self._run.scratch).search(before)

    def _emit_spec(self, spec: FoundSpec | None) -> list[Finding]:
        """Writes the spec that was found, and tells what it does not repair."""
        path, found = self._run.request.emit_tuning_spec, spec.repaired if spec else ()
        if found:
            write_atomically(path, lambda partial: partial.write_text(spec.text))
        self._run.facts["tuning_spec"] = {"written": bool(found), "dispatches": [f.subject for f in found]}
        told = not_carried(path, len(found), spec.why_not if spec else {})
        return [told] if told else []

    def _fastest(self, module: Module, repairer: Repairer, repair: Repair, before: Diagnosis) -> Repair:
        """``repair``, or what runs faster and passes as well; as it is where no runtime for the target answers."""
        from ..numerics.runtimes import present
        from ..numerics.signature import signatures_of_module
        from .tuning import time_in_turns

        names = {RUNTIME_OF_BACKEND.get(c.dispatch.target.backend) for c in before.checked}
        runtime = next((r for r in present() if r.name in names), None)
        variants = repairer.variants(repair, before)
        signatures = tuple(signatures_of_module(self._run.parse().op).values())
        opaque = next((signature.opaque for signature in signatures if signature.opaque), "")
        if runtime is None or len(variants) < 2 or opaque:
            why = (
                "no runtime for the target answers here"
                if runtime is None
                else opaque or "nothing to choose from"
            )
            self._run.facts["tuned"] = why
            told = [
                f.with_(notes=(*f.notes, f"not timed: {why}")) if f.severity is Severity.REPAIRED else f
                for f in repair.findings
            ]
            return replace(repair, findings=tuple(told))
        with scratch() as folder:
            programs = []
            for number, (name, wanted) in enumerate(variants):
                clone, vmfb = module.clone(), Path(folder, f"{number}.vmfb")
                apply_edits(clone, wanted)
                try:
                    self._run.phase_pipeline.advance(clone, "end")
                except PhaseFailed:
                    if wanted == repair.edits:
                        raise
                    continue  # a candidate may be known to fit only; the choice itself has to compile
                self._run.session.write(clone, vmfb)
                programs.append((name, vmfb))
            timed = time_in_turns(programs, signatures, runtime)
        self._run.facts["tuned"] = {t.name: t.seconds if t.seconds is not None else t.why for t in timed}
        self._run.facts["tuned_processor"] = {t.name: t.processor for t in timed if t.seconds is not None}
        if timed[0].seconds is None:
            return repair
        wanted = dict(variants)[timed[0].name]
        rows = ", ".join(f"{t.name} {t.seconds * 1e3:.3g} ms" for t in timed if t.seconds is not None)
        note = f"timed on {runtime}: {rows}; took {timed[0].name}"
        told = [
            f.with_(notes=(*f.notes, note)) if f.severity is Severity.REPAIRED else f for f in repair.findings
        ]
        if wanted != repair.edits:
            told = [instead(f, timed[0].name, wanted) if f.severity is Severity.REPAIRED else f for f in told]
        return replace(repair, edits=wanted, findings=tuple(told))

    def _finish(
        self, module: Module, before: Module, repair: Repair, repairer: Repairer, packed: bool
    ) -> list[Finding]:
        """Compiles ``module``, edited as ``repair`` says, to the end; from where ``repairer`` left it, if it did.

        ``before`` is what it computed first. Raises PhaseFailed, and
        PackingDoesNotHold where a packed one has narrow elements nevertheless.
        """
        request, told = self._run.request, list(repair.findings)
        findings = repairer.slow(repair.edits)
        configured, original, repaired = repairer.take(repair.edits), "", ""
        if configured is None or request.verify or request.emit_mlir:
            edited = module.clone()
            apply_edits(edited, repair.edits)
            if request.verify:
                original, repaired = before.text(), edited.text()
            self._run.emit_mlir(edited)
        if configured is None:
            configured = edited, self._run.phase_pipeline.advance(edited, DISPATCHES_CONFIGURED_AT)
        edited, found = configured
        told_before = bool(self._run.narrow.found) or request.repair == "off"
        looked = self._run.look(edited)
        if packed and looked:
            raise PackingDoesNotHold(looked[0].message)
        if looked and not told_before and not self._tell_narrow:
            raise NarrowAfterRepair(self._run.narrow)
        findings += found + looked
        if self._withheld(looked):
            return [*told, *findings]
        self._progress(translation_work(edited))
        try:
            findings += self._run.phase_pipeline.advance(edited, request.compile_to)
        finally:
            self._progress(0)
        self._run.write(edited)
        if request.verify:
            from ..compile.verification import verify_repair, with_numerics  # NumPy: only where asked

            with self._run.step("verify"):
                certificate = verify_repair(original, repaired, request.verify_seeds)
            self._run.facts["certificate"] = certificate.to_json()
            told = with_numerics(told, certificate.sentence)
            findings += [*certificate.findings, *self._run.verify_artifact()]
        return [*told, *findings]
