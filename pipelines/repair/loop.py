"""The repair loop: check, edit, check again, on clones; what passes is committed, what does not is thrown away.

All failing dispatches of a module are tried in the same round, so the number of rounds is the largest number
of trials of any one dispatch, not their sum. Dispatches with equal bodies are repaired alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.fusion_groups import fusion_groups, members
from fissile.passes.analysis.dispatch.producers import ProducerGraph, read_once
from fissile.passes.analysis.dispatch.program_graph import failing_groups, graph_ops
from fissile.passes.analysis.dispatch.provenance import SourceOp, describe_source_ops, tag_source_ops, untag
from fissile.passes.analysis.dispatch.structure import structure_of
from fissile.passes.analysis.layout.transposed_matrices import transposed_matrices
from fissile.passes.checks.speed.recomputation import check_recomputation, worth_cutting
from fissile.passes.checks.speed.transposed_matrices import check_transposed_matrices
from fissile.passes.checks.speed.unvectorised import check_unvectorised
from fissile.passes.containment import contained
from fissile.passes.failures.failure import codes_of
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCH_CREATION, DISPATCHES_CONFIGURED_AT
from fissile.passes.progress import trying

from ..phase_pipeline import PhasePipeline
from ..probe.dispatch_check import CheckedDispatch, DispatchChecker
from ..probe.probe_pool import ProbePool
from ..probe.unroll_limit import foresees_nothing, unrolls
from ..session import Module, PhaseFailed
from .edits import CUT, FOLD, Edit, apply_edits, edits, works_alone
from .repair_case import Case, Diagnosis
from .reporting import RepairFindings
from .speed_edits import speed_edits
from .trials import Offers

MAX_ROUNDS = 96
WHOLE_LIMIT = codes_of(lambda one: not one.minimised)
"""Failures of which every look takes the whole time limit: a set of edits that repairs one is not made smaller."""


class Checker(Protocol):
    """Which dispatches of a module fail; ``generated`` counts how often code was generated."""

    @property
    def generated(self) -> int: ...

    def check(self, module: Module, ops: Sequence[SourceOp]) -> list[CheckedDispatch]: ...


@dataclass(frozen=True)
class Repair:
    """The outcome: ``edits`` (on source ops of the module at global optimisation) and what is reported.

    ``complete`` is False where a dispatch still fails; its finding is an error then.
    """

    edits: tuple[Edit, ...]
    findings: tuple[Finding, ...]
    complete: bool
    rounds: int
    partial: bool = False
    """Whether ops that the edits made fail in turn, as IREE builds them: to be repaired in the edited module."""

    @property
    def compiles(self) -> bool:
        """Whether IREE compiles the edited program; its numbers may still be wrong."""
        return not any(f.stops for f in self.findings)


class RepairLoop:
    """Diagnoses and repairs one module, given at phase global-optimization. The module itself is never changed.

    ``phase_pipeline`` keeps it: nobody else has to. Its dispatches are checked by ``checker``, or by one that generates code in
    ``pool``. No more than ``most_rounds`` sets of edits are tried.
    """

    def __init__(
        self,
        phase_pipeline: PhasePipeline,
        origin: Module,
        pool: ProbePool | None = None,
        optimistic: bool = False,
        foresee: bool = True,
        tune: bool = False,
        *,
        checker: Checker | None = None,
        most_rounds: int = MAX_ROUNDS,
    ) -> None:
        phase_pipeline.keep(self)
        self._phase_pipeline = phase_pipeline
        self._origin = origin
        if checker is None:
            assert pool is not None, "code is generated in a pool"
            foreseen = partial(unrolls, tune=tune, changed=True) if foresee else foresees_nothing
            checker = DispatchChecker(pool, optimistic, foreseen, tune=tune, changed=True)
        self._checker = checker
        self._most_rounds = most_rounds
        self.ops: list[SourceOp] = describe_source_ops(origin.op)
        self._graph = ProducerGraph(origin.op)
        self._offers = Offers(self._graph)
        self._rounds = 0
        self._broken: set[str] = set()
        self._known: dict[frozenset[Edit], Diagnosis] = {}
        self._passing: tuple[frozenset[Edit], Module, list[Finding]] | None = None
        self._cases: list[Case] = []
        self._reporting = RepairFindings(self.ops, self._graph)

    @property
    def generated(self) -> int:
        """How many times code was generated for a dispatch."""
        return self._checker.generated

    def forget(self) -> None:
        """Diagnoses anew what was diagnosed: the session chooses other configurations from now on."""
        self._known.clear()
        self._passing = None

    def take(self, wanted: Iterable[Edit]) -> tuple[Module, list[Finding]] | None:
        """The module edited as ``wanted``, where it was the last that passed, and what was found on its way. Once.

        It has no tags any more and its dispatches are configured.
        """
        if self._passing is None or self._passing[0] != frozenset(wanted):
            return None
        (_edits, module, reported), self._passing = self._passing, None
        untag(module.op)
        return module, reported

    def diagnose(self, wanted: Iterable[Edit] = ()) -> Diagnosis:
        """Runs a tagged clone, edited as ``wanted``, to configured dispatches and checks each of them; once each."""
        edited = frozenset(wanted)
        if edited not in self._known:
            self._known[edited] = self._diagnose(edited)
        return self._known[edited]

    def _diagnose(self, wanted: frozenset[Edit]) -> Diagnosis:
        self._rounds += 1
        clone = self._origin.clone()
        tag_source_ops(clone.op)
        if not self._applied(clone, wanted):
            return Diagnosis(failed=PhaseFailed(BOUNDARIES_PLACED_AT, ()))
        try:
            reported = self._phase_pipeline.advance(clone, DISPATCH_CREATION)
            groups = fusion_groups(clone.op)
            reported += self._phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)
        except PhaseFailed as failure:
            return Diagnosis(failed=failure)
        found = Diagnosis(tuple(self._checker.check(clone, self.ops)), tuple(groups))
        if not found.failing:
            self._passing = wanted, clone, reported
        return found

    def _applied(self, clone: Module, wanted: Iterable[Edit]) -> bool:
        """Edits ``clone``; False where two edits do not go together, or a remedy throws, which is not tried again then."""
        done = contained(
            "a remedy",
            lambda: apply_edits(clone, wanted),
            None,
            about=", ".join(sorted({e.remedy for e in wanted})),
        )
        if done is None:
            self._broken |= {e.remedy for e in wanted if not works_alone(self._origin, e)}
        return bool(done)

    def drawn(self, before: Diagnosis, wanted: Iterable[Edit]) -> dict:
        """The program's dispatches before and after ``wanted`` as JSON values; a boundary stands behind each of `boundaries`."""
        cut = sorted({edit.op for edit in wanted if edit.remedy == CUT})
        after = self.diagnose(wanted).groups if wanted else ()
        return {
            "ops": graph_ops(self.ops, self._graph),
            "before": [list(group.tags) for group in before.groups],
            "after": [list(group.tags) for group in after],
            "failing": failing_groups(before.groups, (c.dispatch.tags for c in before.failing)),
            "boundaries": cut,
        }

    def slow(self, wanted: Iterable[Edit]) -> list[Finding]:
        """What is right and slow with ``wanted``, and left so: FIS140 of producers that are computed again for every use, among others."""
        checked = self.diagnose(wanted).checked
        found = [
            *(check_recomputation(c.dispatch, c.recomputed, self.ops) for c in checked),
            check_unvectorised(((c.dispatch, c.unvectorised) for c in checked), self.ops),
            check_transposed_matrices(self._matrices(self.diagnose(wanted), wanted), self.ops),
        ]
        left = [c.slow for c in checked if c.slow is not None]
        return [*left, *(finding for finding in found if finding is not None)]

    def repair(self, before: Diagnosis, tune: bool = False) -> Repair:
        """Looks for edits that make every dispatch of ``before`` pass; with ``tune`` cuts recomputed producers off too."""
        cases = self._cases = []
        self._open_cases(before, cases)
        tuned = self._speed_edits(before) if tune else {}
        committed = {edit for wanted in tuned.values() for edit in wanted}
        now = before
        while self._rounds < self._most_rounds:
            trial = {case.first.dispatch.name: self._next_trial(case) for case in cases}
            while any(tried is not None for tried in trial.values()):
                wanted = set(committed)
                for case in cases:
                    tried = trial[case.first.dispatch.name]
                    wanted |= case.spread(tried if tried is not None else case.accepted or ())
                broken = set(self._broken)
                trying(", ".join(sorted({edit.remedy for edit in wanted})) or "the program as it is")
                now = self.diagnose(wanted)
                if self._broken == broken:
                    break
                # One case's remedy threw: the others' trials are still to be seen.
                trial |= {
                    case.first.dispatch.name: self._next_trial(case)
                    for case in cases
                    if any(e.remedy in self._broken for e in trial[case.first.dispatch.name] or ())
                }
            else:
                break
            if now.failed is None:
                self._judge(cases, trial, now)
                self._open_cases(
                    now, cases, settled=[c for c in cases if trial[c.first.dispatch.name] is None]
                )
            else:
                for case in cases:
                    if (tried := trial.get(case.first.dispatch.name)) is not None:
                        case.reject(tried, now)
        for case in cases:
            case.take(case.accepted or case.partial)
        final: list[Edit] = sorted(
            committed | {edit for case in cases if case.accepted for edit in case.spread(case.accepted)}
        )
        after = self.diagnose(final) if final else before
        if folded := {id(case): fold for case in cases if (fold := self._fold_instead(case, after))}:
            folded_edits = sorted(
                committed
                | {edit for case in cases for edit in case.spread(folded.get(id(case), case.accepted or ()))}
            )
            instead = self.diagnose(folded_edits)
            if instead.failed is None and len(instead.failing) <= len(after.failing):
                for case in cases:
                    case.take(folded.get(id(case), case.accepted))
                final, after = folded_edits, instead
        repair = self._outcome(before, after, cases, tuple(final))
        if not tuned:
            return repair
        reported = [self._reporting.tuned(finding, some, before, after) for finding, some in tuned.items()]
        return replace(
            repair,
            findings=(*repair.findings, *reported),
            complete=after.failed is None and not after.failing,
        )

    def _speed_edits(self, before: Diagnosis) -> dict[Finding, tuple[Edit, ...]]:
        def fits(edit: Edit) -> bool:
            return bool(edit.by.match(self._graph.ops[edit.op]))

        return speed_edits(before, self.ops, self._matrices(before), fits)

    def _matrices(self, now: Diagnosis, edited: Iterable[Edit] = ()) -> dict[int, int]:
        """The matrices that are transposed in memory (`transposed_matrices`), on a target where that was measured, and are not ``edited``."""
        if not any(backend_named(c.dispatch.target.backend).recomputes for c in now.checked):
            return {}
        left = transposed_matrices(self._graph.ops)
        return {op: size for op, size in left.items() if op not in {edit.op for edit in edited}}

    def answers(self, repair: Repair) -> list[tuple[set[int], Finding]]:
        """For each failure that ``repair``, the last, was about: the source ops of its dispatches, and its finding."""
        return [(case.all_tags, finding) for case, finding in zip(self._cases, repair.findings, strict=False)]

    def _fold_instead(self, case: Case, after: Diagnosis) -> tuple[Edit, ...]:
        """The producers that ``case`` cut off as producers to fold, where a cut buys nothing: measured, `bench/speed/tune_choice.py`.

        Where each element of them is read once, as by a matrix and one vector. And where SPIR-V's root is computed without vectors
        behind the cut as well, by loops that read no window: the cut costs its dispatches and the tensors in memory, and gains no
        time. That not where narrow storage is packed: each read would unpack again.
        """
        first = case.first.dispatch
        if not case.accepted or any(edit.remedy != CUT for edit in case.accepted) or first.root is None:
            return ()
        if all(read_once(self._graph.ops[edit.op]) for edit in case.accepted):
            return edits(FOLD, (edit.op for edit in case.accepted))
        if first.target.storage_bits and not {8, 16} <= first.target.storage_bits:
            return ()
        structure = structure_of(self._graph.ops[first.root])
        if structure is None or not all(m.is_projected_permutation for m in structure.maps):
            return ()
        if not all(e.op != first.root and self._graph.reaches(e.op, [first.root]) for e in case.accepted):
            return ()
        now = [c.dispatch for c in after.checked if c.dispatch.root == first.root]
        return (
            edits(FOLD, (e.op for e in case.accepted))
            if any(d.codegen in backend_named(d.target.backend).racing for d in now)
            else ()
        )

    def producers_to_try(self, before: Diagnosis) -> list[tuple[int, ...]]:
        """The producers that another fusion could serve better, those of equal dispatches together: for the one who can measure."""
        found: set[int] = set()
        for checked in before.checked:
            if checked.finding is not None or worth_cutting(checked.recomputed):
                found |= {
                    c.tag for c in self._offers.candidates(checked, checked.dispatch.tags) if c.upstream
                }
        families: list[tuple[int, ...]] = []
        for tag in sorted(found):
            if not any(tag in family for family in families):
                alike = {
                    e.op
                    for case in self._cases
                    if tag in case.all_tags
                    for e in case.spread(edits(CUT, [tag]))
                }
                families.append((tag, *sorted(alike - {tag})))
        return families

    def _open_cases(self, diagnosis: Diagnosis, cases: list[Case], settled: Sequence[Case] = ()) -> None:
        """A case for each failing dispatch that no case covers yet; those that are ``settled`` have tried nothing new."""
        for failing in diagnosis.failing:
            tags = set(failing.dispatch.tags)
            own = [case for case in cases if tags & case.own_tags]
            cut_off = [case for case in settled if case.has_cut_off(tags)]
            if not tags or any(all(case is not one for one in cut_off) for case in own):
                continue
            families = members(list(diagnosis.groups), failing.dispatch.tags, failing.dispatch.root)
            families.sort(key=lambda family: len(tags & set(family)), reverse=True)
            trials = self._offers.trials(failing, families[0])
            minimise = failing.failure.code not in WHOLE_LIMIT
            shared, merged = diagnosis.shared, self._offers.merged(diagnosis.groups)
            cases.append(Case(failing, families, trials, minimise=minimise, shared=shared, merged=merged))

    def _offered(self, case: Case) -> tuple[Edit, ...] | None:
        """The next set among the case's trials, without remedies that throw."""
        while (
            wanted := contained(
                "what may help", lambda: next(case.trials, None), None, about=case.first.dispatch, cpu_limit=0
            )
        ) is not None:
            if not any(edit.remedy in self._broken for edit in wanted):
                return wanted
        return None

    def _next_trial(self, case: Case) -> tuple[Edit, ...] | None:
        return case.next_trial(lambda: self._offered(case))

    def _judge(self, cases: list[Case], trial: dict[str, tuple[Edit, ...] | None], now: Diagnosis) -> None:
        for case in cases:
            tried = trial[case.first.dispatch.name]
            if tried is None:
                continue
            if case.still_fails(now):
                left = case.left(now)
                case.reject(tried, now)
                more = {self._offers.after(tried, c, case.families[0]) for c in left} - {()}
                case.failed_with(tried, left, more)
            else:
                case.passed_with(tried)

    def _outcome(
        self, before: Diagnosis, after: Diagnosis, cases: list[Case], final: tuple[Edit, ...]
    ) -> Repair:
        complete = after.failed is None and not after.failing
        partial = [
            case
            for case in cases
            if case.accepted and case.accepted == case.partial and case.still_fails(after)
        ]
        findings = [
            self._reporting.not_repaired(case)
            if case.accepted is None or not complete and case not in partial and case.still_fails(after)
            else self._reporting.repaired(case, before, after)
            for case in cases
        ]
        covered = set().union(*(case.own_tags for case in cases)) if cases else set()
        left = (
            set().union(*(c.dispatch.tags for c in after.failing))
            if after.failed is None
            else set(range(len(self.ops)))
        )
        # A dispatch whose ops all stand in others too is repaired with those that are like it: it is reported where it is left.
        untagged = [
            c.failure
            for c in before.failing
            if not c.dispatch.tags or not covered & set(c.dispatch.tags) and left & set(c.dispatch.tags)
        ]
        return Repair(final, (*findings, *untagged), complete and not untagged, self._rounds, bool(partial))
