"""What is done where a straight compile fails, or would compute the wrong numbers, or slowly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.containment import contained
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT

from ..compile.compile_run import CompileRun
from ..compile.emitted_spec import not_carried, tuned_spec
from ..probe.one_dispatch import Probed
from ..probe.probe_pool import CodegenProgress, ProbePool
from ..probe.stock_outcome import Generate, translation_work
from ..process.atomic_write import write_atomically
from ..session import Module, PhaseFailed
from .edits import apply_edits
from .failures import Failure, NarrowStorage, StraightEnded, rejected
from .loop import Diagnosis, Repair, RepairLoop
from .outcome import Outcome
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


class AfterFailure:
    """Packs, repairs and finishes one compile, from the phase at which boundaries are placed.

    ``failure`` is what the direct compile came to, ``kept`` are its findings that hold for what is made here. ``generate`` generates
    code for one dispatch in this process.
    """

    def __init__(
        self,
        run: CompileRun,
        failure: Failure,
        kept: Iterable[Finding],
        pool: ProbePool,
        progress: CodegenProgress,
        generate: Generate,
    ) -> None:
        self._run = run
        self._failure = failure
        self._pool = pool
        self._progress = progress
        ended = isinstance(failure, StraightEnded)
        # What ended the straight compile is among what is probed from here on.
        self._generate = self._apart if ended else generate
        self._origin, on_the_way = run.origin()
        self._on_the_way = (*kept, *on_the_way)
        self._packed_in_vain: set[Narrow] = set()

    # --- the attempts. With --repair=suggest all of it is done as well: what is suggested has been seen to compile.

    def packed(self, so_far: Outcome) -> Outcome:
        """Narrow elements that the target has no storage or no code for, as 32-bit words, and that repaired."""
        return self._packed_first(so_far, self._narrow() if self._repairs else Narrow())

    def repaired(self, so_far: Outcome) -> Outcome:
        """The program as it is, dispatch by dispatch."""
        done = self._repair(self._origin)
        return so_far.with_(
            findings=done.findings,
            narrow=done.narrow,
            failure=done.failure or so_far.failure,
            over=bool(done.failure),
        )

    def packed_again(self, so_far: Outcome) -> Outcome:
        """Packed, for what a repair has been seen to make of narrow elements."""
        return self._packed_first(so_far, so_far.narrow)

    def repaired_again(self, so_far: Outcome) -> Outcome:
        """Unpacked, the module may still compile; its narrow storage is a warning then."""
        done = self._repair(self._origin, narrow_is_left=True)
        return so_far.with_(
            findings=done.findings,
            narrow=Narrow(),
            failure=done.failure or so_far.failure,
            over=bool(done.failure),
        )

    def may_be_unlowered(self, so_far: Outcome) -> bool:
        """Whether a dispatch that fails of another reason first may have no code for its types either."""
        return (
            self._repairs
            and (any(f.stops for f in so_far.findings) or self._withheld(so_far.findings))
            and contained("element types", lambda: may_be_unlowered(self._origin, last=True), False)
        )

    def packed_last(self, so_far: Outcome) -> Outcome:
        """Packed for whatever fails; where that does not hold, what the repair came to stays the answer."""
        diagnosis = self._repair_loop(self._origin).diagnose()
        found, _why_not = self._packed(find_unlowered(self._origin, diagnosis, ()))
        return so_far if found is None else so_far.answered([*self._on_the_way, *found])

    def report(self, so_far: Outcome) -> Outcome:
        """What the repair came to, and why nothing could be packed."""
        already = {(f.code, f.message) for f in so_far.refusals}
        rest = (f for f in so_far.findings if (f.code, f.message) not in already)
        return so_far.answered([*self._on_the_way, *so_far.refusals, *rest])

    # --- what they share

    @property
    def _repairs(self) -> bool:
        return self._run.request.repair != "off"

    def _apart(self, dispatch: Dispatch) -> Probed:
        return self._pool.probe_all([dispatch], convert=False)[0].probed

    def _repair_loop(self, module: Module, optimistic: bool = False, foresee: bool = True) -> RepairLoop:
        return RepairLoop(
            self._run.phase_pipeline, module, self._pool, optimistic, foresee, tune=self._run.tuning
        )

    def _packed_first(self, so_far: Outcome, narrow: Narrow) -> Outcome:
        chosen = replace(narrow, found=())
        if (
            narrow.found and chosen in self._packed_in_vain
        ):  # what is packed, and so the module, would be the same
            return so_far
        found, refusals = self._packed(narrow)
        if found is not None:
            return so_far.answered([*self._on_the_way, *found])
        if narrow.found:
            self._packed_in_vain.add(chosen)
        return so_far.with_(refusals=refusals)

    def _packed(self, narrow: Narrow) -> tuple[tuple[Finding, ...] | None, tuple[Finding, ...]]:
        """The findings of the program packed and repaired, in the first form that holds; None where none compiles, and why it could
        not be packed."""
        *others, last = narrow.forms
        for form in others:
            findings, _why_not = self._packed_as(self._origin, form)
            if findings is not None and not self._withheld(findings):
                return findings, ()
        return self._packed_as(self._origin, last)

    def _packed_as(
        self, module: Module, narrow: Narrow
    ) -> tuple[tuple[Finding, ...] | None, tuple[Finding, ...]]:
        """The same of one form; ``module`` is the program, with other elements packed already, if some are."""
        packed = pack(module, narrow)
        if packed.module is None:
            return None, packed.refusals
        done = self._repair(packed.module)
        if left := done.narrow.found:
            return None, (unusable(narrow.found[0], left[0].message),)
        stopped = done.failure is not None
        as_it_is = None if stopped or self._withheld(done.findings) else (*packed.findings, *done.findings)
        if stopped or any(f.stops for f in done.findings):
            if not narrow.in_place:
                return as_it_is, ()
            # What is computed rightly now may be stored in a way that IREE has no code for: those dispatches alone take words.
            diagnosis = self._repair_loop(packed.module).diagnose()
            found, _why_not = self._packed_as(packed.module, find_unlowered(packed.module, diagnosis, ()))
            return (as_it_is if found is None else (*packed.findings, *found)), ()
        return (*packed.findings, *done.findings), ()

    def _narrow(self) -> Narrow:
        """What packing is for. The straight compile has looked at storage, unless it did not come back; what code generation
        has no code for is probed here, where the program has element types for which that is likely."""
        failure, origin = self._failure, self._origin
        if isinstance(failure, NarrowStorage):
            return failure.narrow
        if isinstance(failure, StraightEnded):
            clone = origin.clone()
            self._run.phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)
            if (narrow := find_narrow(clone, self._generate)).found:
                return narrow
        if not may_be_unlowered(origin):
            return Narrow()
        if (
            isinstance(failure, PhaseFailed)
            and (booleans := find_packed_booleans(origin, failure.message, str(failure))).found
        ):
            return booleans
        return find_unlowered(origin, self._repair_loop(origin).diagnose())

    def _repair(self, module: Module, narrow_is_left: bool = False) -> Outcome:
        """Diagnoses ``module`` (at global optimisation), repairs what fails, and compiles it to the end.

        Where the straight compile was not seen to fail, dispatches that should pass are not probed first: the compile to
        the end is the answer, and where it is no, every dispatch is probed.
        """
        if not isinstance(self._failure, (PhaseFailed, StraightEnded)):
            done = self._repair_once(module, True, narrow_is_left)
            if done.failure is None:
                return done
            if self._run.request.emit_tuning_spec:
                in_force(self._run.session, "")
        return self._repair_once(module, False, narrow_is_left)

    def _repair_once(self, module: Module, optimistic: bool, narrow_is_left: bool) -> Outcome:
        """The outcome has a failure where the repaired module does not compile and ``optimistic`` may be why, or packing; it has what is
        narrow where that is to be packed first."""
        failure, request = self._failure, self._run.request
        repair_loop = self._repair_loop(module, optimistic, self._repairs)
        before, packed = repair_loop.diagnose(), module is not self._origin
        if before.failed is not None:
            return Outcome((rejected(before.failed),), failure=before.failed if packed else None)
        if not before.failing and isinstance(failure, StraightEnded):
            # Every dispatch comes as far as LLVM or SPIR-V: what ended the compile is behind that.
            self._pool.translate_all()
            repair_loop = self._repair_loop(module, optimistic, self._repairs)
            before = repair_loop.diagnose()
        if not before.failing:
            if isinstance(failure, (PhaseFailed, StraightEnded)) and not packed:
                return Outcome((rejected(failure),))
        elif not self._repairs:
            note = "--repair=off: nothing was changed"
            found = tuple(c.failure.with_(notes=(*c.failure.notes, note)) for c in before.failing)
            if self._withheld(found):
                return Outcome(found)
            return self._finish(module, Repair((), found, True, 0), repair_loop, packed, narrow_is_left)
        spec = self._spec(module, repair_loop, before)
        repair = repair_loop.repair(spec.after if spec else before, tune=self._run.tuning)
        if spec:
            repair = replace(repair, findings=(*repair.findings, *spec.repaired))
        done, generated = list(repair.edits), repair_loop.generated
        if repair.partial and repair.compiles:
            # What the edits made of an op (an attention's sums) has no index in the module as it was.
            module = module.clone()
            apply_edits(module, repair.edits)
            repair_loop = self._repair_loop(module)
            before = repair_loop.diagnose()
            second = repair_loop.repair(before, tune=self._run.tuning)
            repair = replace(
                second, findings=(*repair.findings, *second.findings), rounds=repair.rounds + second.rounds
            )
            done, generated = [*done, *repair.edits], generated + repair_loop.generated
        self._run.facts.update(
            edits=[f"{edit.remedy} {edit.op}" for edit in done],
            rounds=repair.rounds,
            generated=generated,
            graph=contained("the drawing", lambda: repair_loop.drawn(before, repair.edits), None),
        )
        if self._withheld(repair.findings):
            return Outcome(repair.findings)
        tuned = ""
        if request.tune:
            from ..tune.fastest import Fastest

            with self._run.step("tune"):
                repair, tuned = Fastest(self._run, module, repair_loop).of(repair, before)
        finished = self._finish(module, repair, repair_loop, packed, narrow_is_left)
        if finished.narrow.found or finished.failure is not None and optimistic:
            return finished
        if finished.failure is not None:
            refused = (*repair.findings, rejected(finished.failure))
            return Outcome(refused, failure=finished.failure if packed else None)
        if (
            not request.emit_tuning_spec
            or self._run.only_suggests
            or any(f.severity is Severity.ERROR for f in finished.findings)
        ):
            return finished
        emitted = self._emit_tuned(tuned, bool(done)) if request.tune else self._emit_spec(spec)
        return Outcome((*finished.findings, *emitted))

    def _withheld(self, findings: Sequence[Finding]) -> bool:
        """Whether there is no use in compiling on: IREE would stop, or its output would not be written."""
        return any(
            f.stops and self._run.request.generates_code or f.withholds and not self._run.request.allow_wrong
            for f in findings
        )

    def _spec(self, module: Module, repair_loop: RepairLoop, before: Diagnosis) -> FoundSpec | None:
        """What a tuning spec repairs, where one was requested. It is in force from here on."""
        if not self._run.request.emit_tuning_spec or self._run.request.tune or not before.failing:
            return None
        with self._run.step("tuning-spec"):
            return SpecSearch(self._run.phase_pipeline, module, repair_loop, self._run.scratch).search(before)

    def _emit_spec(self, spec: FoundSpec | None) -> list[Finding]:
        """Writes the spec that was found, and reports what it does not repair."""
        path, found = self._run.request.emit_tuning_spec, spec.repaired if spec else ()
        if spec is not None and found:
            text = spec.text
            write_atomically(path, lambda partial: partial.write_text(text))
        self._run.facts["tuning_spec"] = {"written": bool(found), "dispatches": [f.subject for f in found]}
        reported = not_carried(path, len(found), spec.why_not if spec else {})
        return [reported] if reported else []

    def _emit_tuned(self, text: str, edited: bool) -> list[Finding]:
        """Writes the tiles that `--tune` took, and reports what a spec cannot say: the repairs that are no tiles."""
        path = self._run.request.emit_tuning_spec
        if text:
            write_atomically(path, lambda partial: partial.write_text(text))
        self._run.facts["tuning_spec"] = {"written": bool(text), "dispatches": []}
        reported = tuned_spec(path, bool(text), edited)
        return [reported] if reported else []

    def _finish(
        self, module: Module, repair: Repair, repair_loop: RepairLoop, packed: bool, narrow_is_left: bool
    ) -> Outcome:
        """Compiles ``module``, edited as ``repair`` says, to the end; from where ``repair_loop`` left it, if it did.

        The outcome has a failure where IREE does not get there, and what is narrow where a packed module has narrow elements
        nevertheless, or another one has such that the program had not; ``narrow_is_left``: those are reported.
        """
        request, found = self._run.request, list(repair_loop.slow(repair.edits))
        configured, original, repaired = repair_loop.take(repair.edits), "", ""
        try:
            if configured is None or request.verify or request.emit_mlir:
                edited = module.clone()
                apply_edits(edited, repair.edits)
                if request.verify:
                    original, repaired = self._origin.text(), edited.text()
                self._run.emit_mlir(edited)
            if configured is None:
                configured = edited, self._run.phase_pipeline.advance(edited, DISPATCHES_CONFIGURED_AT)
            edited, on_the_way = configured
            known = bool(self._run.narrow.found) or not self._repairs or narrow_is_left
            looked = self._run.look(edited, self._generate)
            if looked and (packed or not known):
                return Outcome(narrow=self._run.narrow)
            found += [*on_the_way, *looked]
            if self._withheld(looked):
                return Outcome((*repair.findings, *found))
            self._progress(translation_work(edited))
            try:
                found += self._run.phase_pipeline.advance(edited, request.compile_to)
            finally:
                self._progress(0)
            self._run.write(edited)
        except PhaseFailed as failed:
            return Outcome(failure=failed)
        done = list(repair.findings)
        if request.verify:
            from ..compile.verification import verify_repair, with_numerics  # NumPy: only with --verify

            with self._run.step("verify"):
                certificate = verify_repair(original, repaired, request.verify_seeds)
            self._run.facts["certificate"] = certificate.to_json()
            done = with_numerics(done, certificate.sentence)
            found += [*certificate.findings_with(Severity.WARNING), *self._run.verify_artifact()]
        return Outcome((*done, *found))
