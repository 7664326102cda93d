"""The repair loop: check, cut, check again, on clones; what passes is committed, what does not is thrown away.

All failing dispatches of a module are tried in the same round, so the number of rounds is the largest number
of trials of any one dispatch, not their sum. Dispatches with equal bodies are repaired alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.fusion_groups import FusionGroup, fusion_groups, members
from fissile.passes.analysis.producers import ProducerGraph
from fissile.passes.analysis.provenance import SourceOp, describe_source_ops, tag_source_ops
from fissile.passes.checks.recomputation import check_recomputation, worth_cutting
from fissile.quantity import Bytes, total

from .cut_search import Candidate, translate, trial_sets
from .boundaries import apply_cuts
from .dispatch_check import CheckedDispatch, DispatchChecker
from .iree.names import DISPATCH_CREATION, DISPATCHES_CONFIGURED_AT
from .itinerary import Itinerary
from .probe_pool import ProbePool
from .session import Module, PhaseFailed

MAX_ROUNDS = 96
UNKNOWN_CROSSING = 1 << 40
"""Ranks a result of dynamic size behind every static one."""


@dataclass(frozen=True)
class Diagnosis:
    """What a module's dispatches look like with certain cuts: ``failed`` is set where IREE does not get that far."""

    checked: tuple[CheckedDispatch, ...] = ()
    groups: tuple[FusionGroup, ...] = ()
    failed: PhaseFailed | None = None

    @property
    def failing(self) -> tuple[CheckedDispatch, ...]:
        return tuple(c for c in self.checked if c.finding is not None)


@dataclass(frozen=True)
class Repair:
    """The outcome: ``cuts`` (source op indices of the module at global optimisation) and what to tell.

    ``complete`` is False where a dispatch still fails; its finding is an error then.
    """

    cuts: tuple[int, ...]
    findings: tuple[Finding, ...]
    complete: bool
    rounds: int

    @property
    def only_races_left(self) -> bool:
        """Whether all that is left are races: IREE compiles such a program, so it is told and not withheld."""
        return all(f.severity is not Severity.ERROR for f in self.findings)


@dataclass
class _Case:
    """One failing dispatch and all of equal body: what is being tried for it."""

    first: CheckedDispatch
    families: list[tuple[int, ...]]
    trials: Iterator[tuple[int, ...]]
    tried: list[tuple[int, ...]] = field(default_factory=list)
    accepted: tuple[int, ...] | None = None
    to_leave_out: list[int] = field(default_factory=list)
    minimise: bool = True

    def spread(self, tags: Sequence[int]) -> set[int]:
        """``tags`` of the first dispatch, and what stands in their place in every dispatch of equal body."""
        return {tag for family in self.families for tag in translate(tags, self.families[0], family)} | set(tags)

    @property
    def all_tags(self) -> set[int]:
        return {tag for family in self.families for tag in family} | set(self.first.dispatch.tags)


class Repairer:
    """Diagnoses and repairs one module, given at phase global-optimization. The module itself is never changed."""

    def __init__(self, itinerary: Itinerary, origin: Module, pool: ProbePool) -> None:
        self._itinerary = itinerary
        self._origin = origin
        self._checker = DispatchChecker(pool)
        self.ops: list[SourceOp] = describe_source_ops(origin.op)
        self._graph = ProducerGraph(origin.op)
        self._rounds = 0

    def diagnose(self, cuts: Sequence[int] = ()) -> Diagnosis:
        """Runs a tagged clone with ``cuts`` to configured dispatches and checks each of them."""
        self._rounds += 1
        clone = self._origin.clone()
        tag_source_ops(clone.op)
        apply_cuts(clone, cuts)
        try:
            self._itinerary.advance(clone, DISPATCH_CREATION)
            groups = fusion_groups(clone.op)
            self._itinerary.advance(clone, DISPATCHES_CONFIGURED_AT)
        except PhaseFailed as failure:
            return Diagnosis(failed=failure)
        return Diagnosis(tuple(self._checker.check(clone, self.ops)), tuple(groups))

    def repair(self, before: Diagnosis, tune: bool = False) -> Repair:
        """Looks for the cuts that make every dispatch of ``before`` pass; with ``tune`` cuts recomputed producers too."""
        cases: list[_Case] = []
        self._open_cases(before, cases)
        tuned = self._tune(before) if tune else {}
        committed = {tag for tags in tuned.values() for tag in tags}
        now = before
        while self._rounds < MAX_ROUNDS:
            trial = {case.first.dispatch.name: self._next_trial(case) for case in cases}
            if not any(tags is not None for tags in trial.values()):
                break
            cuts = set(committed)
            for case in cases:
                tags = trial[case.first.dispatch.name]
                cuts |= case.spread(tags if tags is not None else case.accepted or ())
            now = self.diagnose(sorted(cuts))
            if now.failed is None:
                self._judge(cases, trial, now)
                self._open_cases(now, cases)
        cuts = sorted(committed | {tag for case in cases if case.accepted for tag in case.spread(case.accepted)})
        after = self.diagnose(cuts) if cuts else before
        repair = self._tell(before, after, cases, tuple(cuts))
        if not tuned:
            return repair
        told = [self._tell_tuned(finding, tags, before, after) for finding, tags in tuned.items()]
        return replace(repair, findings=(*repair.findings, *told), complete=after.failed is None and not after.failing)

    def _tune(self, before: Diagnosis) -> dict[Finding, tuple[int, ...]]:
        """Findings about recomputed producers, with the cuts that end the recomputation in all dispatches of equal body."""
        tuned: dict[Finding, tuple[int, ...]] = {}
        for checked in before.checked:
            producers = worth_cutting(checked.recomputed)
            tags = {p.tag for p in producers if p.tag is not None}
            finding = check_recomputation(checked.dispatch, producers, self.ops)
            if not tags or finding is None:
                continue
            families = members(list(before.groups), tuple({*checked.dispatch.tags, *tags}))
            first = max(families, key=lambda family: len(tags & set(family)))
            spread = tags | {tag for family in families for tag in translate(sorted(tags), first, family)}
            tuned[finding] = tuple(sorted(spread))
        return tuned

    def _tell_tuned(self, finding: Finding, tags: tuple[int, ...], before: Diagnosis, after: Diagnosis) -> Finding:
        crossing = [self._graph.result_bytes(tag) or 0 for tag in tags]
        more = len(after.checked) - len(before.checked)
        facts = (
            ("costs", f"{more} more dispatch{'es' if more != 1 else ''} in the module; {sum(crossing)} bytes written once to "
                      "memory, then read"),
            ("pass", f"fissile-place-boundaries{{ops={','.join(map(str, tags))}}}"),
        )
        names = " and ".join(dict.fromkeys(self.ops[tag].name or f"the result of {self.ops[tag].op}" for tag in tags))
        return finding.with_(severity=Severity.REPAIRED, notes=(), helps=(
            Help(f"computed {names} once, in a dispatch of its own", "fissile-place-boundaries", True, facts),))

    def _open_cases(self, diagnosis: Diagnosis, cases: list[_Case]) -> None:
        """A case for each failing dispatch that no case covers yet."""
        for failing in diagnosis.failing:
            tags = set(failing.dispatch.tags)
            if not tags or any(tags & case.all_tags for case in cases):
                continue
            families = members(list(diagnosis.groups), failing.dispatch.tags)
            families.sort(key=lambda family: len(tags & set(family)), reverse=True)
            case = _Case(failing, families, iter(()))
            endless = failing.finding.code == "FIS106"
            case.trials = trial_sets(self._candidates(failing, families[0]), self._excess(failing), endless)
            case.minimise = not endless
            cases.append(case)

    def _candidates(self, failing: CheckedDispatch, tags: Sequence[int]) -> list[Candidate]:
        blamed = failing.footprint.by_tag()
        racing = {tag for race in failing.races for tag in race.tags[:1]}
        root = failing.dispatch.root
        found = []
        for tag in tags:
            if self._graph.ops[tag].name == "linalg.fill" or not self._graph.reaches(tag, tags):
                continue
            crossing = self._graph.result_bytes(tag)
            found.append(
                Candidate(
                    tag=tag,
                    blamed=blamed.get(tag, Bytes.exact(0)).value or 0,
                    crossing=UNKNOWN_CROSSING if crossing is None else crossing,
                    racing=tag in racing,
                    upstream=root is not None and tag != root and self._graph.reaches(tag, [root]),
                )
            )
        return found

    @staticmethod
    def _excess(failing: CheckedDispatch) -> int:
        finding = failing.finding
        if finding is None or finding.limit is None or finding.ledger is None or finding.ledger.total.value is None:
            return 0
        return max(0, finding.ledger.total.value - finding.limit.bytes)

    @staticmethod
    def _next_trial(case: _Case) -> tuple[int, ...] | None:
        """The next set to try: a new one, or the accepted one with one boundary left out; None when done."""
        if case.accepted is not None:
            while case.to_leave_out:
                out = case.to_leave_out.pop()
                smaller = tuple(tag for tag in case.accepted if tag != out)
                if smaller and smaller not in case.tried:
                    case.tried.append(smaller)
                    return smaller
            return None
        tags = next(case.trials, None)
        if tags is not None:
            case.tried.append(tags)
        return tags

    @staticmethod
    def _judge(cases: list[_Case], trial: dict[str, tuple[int, ...] | None], now: Diagnosis) -> None:
        for case in cases:
            tags = trial[case.first.dispatch.name]
            if tags is None or any(case.all_tags & set(c.dispatch.tags) for c in now.failing):
                continue
            if case.accepted is None or len(tags) < len(case.accepted):
                case.accepted = tags
                case.to_leave_out = list(tags) if len(tags) > 1 and case.minimise else []

    def _tell(self, before: Diagnosis, after: Diagnosis, cases: list[_Case], cuts: tuple[int, ...]) -> Repair:
        findings: list[Finding] = []
        complete = after.failed is None and not after.failing
        for case in cases:
            finding = case.first.finding
            if case.accepted is None or not complete and self._still_fails(case, after):
                tried = len(case.tried)
                note = (
                    f"no fusion boundary helps: {tried} set{'s' if tried != 1 else ''} of producers tried"
                    if tried
                    else "no fusion boundary can help: the dispatch has no producer that could be cut off"
                )
                severity = Severity.WARNING if finding.code == "FIS111" else finding.severity
                findings.append(finding.with_(severity=severity, notes=(*finding.notes, note)))
                continue
            findings.append(
                finding.with_(severity=Severity.REPAIRED, helps=(self._help(case, before, after),),
                              notes=(*finding.notes, *self._what_does_not_help(case)))
            )
        covered = set().union(*(case.all_tags for case in cases)) if cases else set()
        untagged = [c.finding for c in before.failing if not covered & set(c.dispatch.tags)]
        findings.extend(untagged)
        return Repair(cuts, tuple(findings), complete and not untagged, self._rounds)

    @staticmethod
    def _still_fails(case: _Case, after: Diagnosis) -> bool:
        return after.failed is not None or any(case.all_tags & set(c.dispatch.tags) for c in after.failing)

    def _help(self, case: _Case, before: Diagnosis, after: Diagnosis) -> Help:
        names = [self.ops[tag].name or f"the result of {self.ops[tag].op}" for tag in case.accepted]
        listed = names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
        them = "it" if len(names) == 1 else "them"
        largest = max(
            (total(a.bytes for a in c.footprint.allocations) for c in after.checked
             if case.all_tags & set(c.dispatch.tags)),
            key=lambda b: b.value or 0, default=Bytes.exact(0),
        )
        crossing = [self._graph.result_bytes(tag) for tag in sorted(case.spread(case.accepted))]
        known = sum(c for c in crossing if c is not None)
        through = f"{known} bytes" + (" and results of dynamic size" if None in crossing else "")
        more = len(after.checked) - len(before.checked)
        facts = [
            ("after", f"{largest} bytes (exact, counted after bufferization; IREE chose its tiles anew)"),
            ("costs", f"{more} more dispatch{'es' if more != 1 else ''} in the module; {through} written once to "
                      "global memory, then read by tile"),
        ]
        alike = len(case.families) - 1
        if alike > 0:
            facts.append(("alike", f"{alike} more dispatch{'es' if alike > 1 else ''} of equal body, cut the same way"))
        facts.append(("pass", f"fissile-place-boundaries{{ops={','.join(map(str, sorted(case.spread(case.accepted))))}}}"))
        return Help(f"kept {listed} out of this dispatch, read {them} back by tile", "fissile-place-boundaries", True,
                    tuple(facts))

    def _what_does_not_help(self, case: _Case) -> tuple[str, ...]:
        failed = [t for t in case.tried if len(t) < len(case.accepted)]
        if not failed:
            return ()
        names = sorted({self.ops[t[0]].name or self.ops[t[0]].op for t in failed if len(t) == 1})
        return (f"a boundary on {' or '.join(names)} alone is not enough",) if names else ()
