"""`fissile check`: where every dispatch's on-chip bytes come from, without a full compile."""

from __future__ import annotations

import os
import shlex
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fissile.errors import UsageError
from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.passes.analysis.dispatch.program_graph import graph_ops
from fissile.passes.analysis.dispatch.provenance import describe_source_ops, source_ops, tag_source_ops
from fissile.passes.analysis.layout.transposed_matrices import transposed_matrices
from fissile.passes.checks.fit.limit_agreement import check_limit
from fissile.passes.checks.refusals.iree_version import check_version
from fissile.passes.containment import Containment, contained, containing, one_line, passes_on
from fissile.passes.definition import PassFailed
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT, LAST_SHARED_PHASE
from fissile.passes.iree.targets import flags_for
from fissile.report import Report
from fissile.target import Target

from ..compile.hooks import attentions, front_end, host_floats, host_updates, imports, schedule
from ..compile.hooks.guard import GUARDED_AT, GuardResult, guard, strips_asserts
from ..compile.hooks.plan import DIALECT_LOWERINGS, lower_dialect, stop_on_leftovers
from ..phase_pipeline import PhaseHook, PhasePipeline
from ..plugged_checks import plugged_findings
from ..probe.probe_pool import ProbePool
from ..process.limits import with_limits
from ..process.scratch import scratch
from ..repair.failures import rejected, suggested
from ..session import Module, PhaseFailed, Session
from ..targets import resolve_target
from . import baseline as baselines
from .after_codegen import doubtful_on_host
from .asked_for import AskedFor
from .check_input import accepted, caught_up, refuse_recursion, refused_by_iree, resumed
from .dispatch_findings import Formed, Looked, generate, renamed, without_codegen
from .measured import Measured, between, facts_of, no_facts
from .watched import Watched

PROBE_MODES = ("auto", "all", "never")


def check(
    source: str | os.PathLike,
    targets: Sequence[str | Target],
    *,
    budget: int | None = None,
    flags: Sequence[str] = (),
    probe: str = "auto",
    dispatch_timeout: float = 30.0,
    baseline: str | os.PathLike | None = None,
    update_baseline: bool = False,
    allow_pipelines: bool = False,
    memory: bool = False,
    simulate: bool = False,
    watched: Watched | None = None,
) -> Report:
    """Findings and every dispatch's bytes for the MLIR file ``source`` on each of ``targets``.

    ``budget`` bytes stand in for each target's own limit. ``flags`` are further session flags of
    iree-compile. ``probe``: "auto" generates code for every dispatch but those of a calibrated structure that
    fit by prediction, "all" for every one, "never" for none. ``dispatch_timeout`` seconds for each, 0
    for none. ``allow_pipelines`` runs pass pipelines that the program brings along (FIS005). ``report.facts`` has
    "targets": bytes, certainty and buffers of every dispatch; with ``memory`` the live bytes over program time, too.
    ``simulate`` runs the code of each dispatch for a GPU in NumPy (FIS189). ``watched``: by a caller that outlives this process.
    Raises UsageError.
    """
    if probe not in PROBE_MODES:
        raise UsageError(f"unknown probe mode '{probe}'", "known: " + ", ".join(PROBE_MODES))
    if not targets:
        raise UsageError("no target to check for", "--target gfx942; `fissile targets` lists them")
    chosen = list(dict.fromkeys(t if isinstance(t, Target) else resolve_target(t) for t in targets))
    if budget is not None:
        chosen = [target.with_budget(budget) for target in chosen]
    asked = AskedFor(memory, simulate)
    return CheckRun(
        Path(source), chosen, tuple(flags), probe, dispatch_timeout, allow_pipelines, watched, asked
    ).run(Path(baseline) if baseline else None, update_baseline)


class CheckRun:
    """One check: what all targets share, and then target by target. Its parts are for `measure` too."""

    def __init__(
        self,
        source: Path,
        targets: list[Target],
        flags: tuple[str, ...],
        mode: str,
        timeout: float,
        allow_pipelines: bool = False,
        watched: Watched | None = None,
        asked: AskedFor | None = None,
    ) -> None:
        self.asked = asked or AskedFor()
        self.watched = watched or Watched()
        self.source = source
        self.allow_pipelines = allow_pipelines
        self.targets, self.gpu = targets, any(target.family != "llvm-cpu" for target in targets)
        self.flags = flags
        self.mode = mode
        self.timeout = timeout
        self.seconds: dict[str, float] = {}
        self.messages: dict[str, None] = {}
        self.storage: tuple[Finding, ...] = ()
        self.entered: tuple[Finding, ...] = ()
        self.misread: tuple[Finding, ...] = ()
        self.contract: dict[str, list[str]] = {}
        self.instead: tuple[str, ...] = ()
        self._rewrites: dict[str, list[PhaseHook]] = {}
        """Target -> what its modules pass on the way, because IREE rejects the program as a whole without."""

    def run(self, baseline: Path | None, update: bool) -> Report:
        """The whole pipeline, contained: what fissile itself fails at is reported as not checked."""
        words = f"{shlex.quote(str(self.source))} --target {' --target '.join(t.name for t in self.targets)}"
        command = with_limits(f"FISSILE_TRACEBACK=1 fissile check --strict {words}")
        with containing(Containment(command, expendable=False)) as containment:
            report = self._run(baseline, update)
        return replace(report, findings=(*report.findings, *containment.missed))

    def _run(self, baseline: Path | None, update: bool) -> Report:
        """What all targets share once, then target by target."""
        findings: list[Finding] = []
        facts: list[dict] = []
        with scratch() as folder:
            try:
                self.watched.at("", LAST_SHARED_PHASE)
                with self._step("parse"):
                    shared, signatures = self.share(folder / "shared.mlirbc")
            except PhaseFailed as failure:
                return self._report([rejected(failure)], [])
            except PassFailed as failure:
                return self._report(list(failure.findings), [])
            before = baselines.read(baseline, signatures) if baseline and not update else None
            watch, endless = self.watched.watch, self.watched.endless
            with ProbePool(self.flags, self.timeout, watch=watch, endless=endless) as pool:
                for target in self.targets:
                    with self._step(target.name):
                        found, gathered = self._net_under(pool, target, shared)
                    findings += found
                    facts.append(gathered)
        if baseline and before is not None:
            findings += baselines.compare(before, facts, baseline)
        report = self._report([*findings, *self.storage], facts)
        if baseline and update:
            baselines.write(baseline, signatures, facts)
        return report

    # --- what is the same for every target

    def share(self, path: Path) -> tuple[Path, list[str]]:
        """Parses and lowers the input as far as no target matters; returns the file it is in, and the
        signatures."""
        session = self._session(self.flags)
        module = self._parsed(session)
        signatures, self.instead = accepted(module)
        hooks = self._phase_pipeline(session).hooks
        phase_pipeline = PhasePipeline(session, (PhaseHook(GUARDED_AT, "guard", self._guard), *hooks))
        refused: PhaseFailed | None = None
        try:
            phase_pipeline.advance(module, LAST_SHARED_PHASE)
            refused = None if module.is_valid() else self._refusal(self.flags, None, LAST_SHARED_PHASE)
        except PhaseFailed as failure:
            refused = failure
        if refused or contained("ops of the front end", lambda: front_end.has_refused_ops(module), False):
            module = self._parsed(session)
            message = refused.message if refused else ""
            entered = contained("front-end ops", lambda: front_end.rewritten(module, message, self.flags), ())
            self.entered = tuple(suggested(one, "`fissile compile` applies it") for one in entered)
            if refused and not entered:
                raise refused
            phase_pipeline.advance(module, LAST_SHARED_PHASE)
        session.write(module, path, "ir-bytecode")
        self._heard(session)
        return path, signatures

    def _guard(self, module: Module) -> list[Finding]:
        """Sizes against capacities: what is refuted or not proved is reported, and the caller's contract is kept."""
        refuse_recursion(module)
        result = contained(
            "storage",
            lambda: guard(
                module.op,
                "check",
                asserts_stripped=strips_asserts(self.flags),
                declared=module.marks.declared,
                bounded=module.marks.bounded,
            ),
            GuardResult(),
        )
        self.storage = (
            *plugged_findings(module),
            *result.findings,
            *contained("loops and sorts", lambda: host_updates.findings_of_input(module), ()),
        )
        self.contract = {name: list(conditions) for name, conditions in result.contract.items()}
        return []

    def _phase_pipeline(self, session: Session, target: Target | None = None) -> PhasePipeline:
        hooks = [
            PhaseHook(phase, "lower-dialect", lower_dialect(pipeline))
            for phase, pipeline in DIALECT_LOWERINGS
        ]
        hooks.append(PhaseHook(BOUNDARIES_PLACED_AT, "check-leftovers", stop_on_leftovers))
        return PhasePipeline(session, hooks + (self._rewrites.get(target.name, []) if target else []))

    def _net_under(self, pool: ProbePool, target: Target, shared: Path) -> tuple[list[Finding], dict]:
        """`_target`; where it throws as a whole, nothing is known of the target, which is an error (FIS903)."""
        try:
            return self._target(pool, target, shared)
        except Exception as error:
            if passes_on(error):
                raise
            why = Finding(
                "FIS903",
                f"the program could not be checked: {one_line(error)}",
                Severity.ERROR,
                str(self.source),
                target.name,
                detail="".join(traceback.format_exception(error)),
            )
            return [why], no_facts(target)

    def _target(self, pool: ProbePool, target: Target, shared: Path) -> tuple[list[Finding], dict]:
        """The findings of ``target``, and its bytes as JSON values."""
        gathered = no_facts(target)
        if ended := self.watched.ended.get(target.name):
            return [ended], gathered
        try:
            formed = self.form(target, shared)
        except PhaseFailed as failure:
            return [refused_by_iree(failure, self.instead).with_(target=target.name)], gathered
        except PassFailed as failure:
            return [finding.with_(target=target.name) for finding in failure.findings], gathered
        findings = self.asked.look(formed, gathered)
        looked = (
            without_codegen(formed, target)
            if self.mode == "never"
            else generate(pool, formed, target, self.flags, self.mode == "auto")
        )
        findings += looked.findings and contained(
            "repairs", lambda: self._advised(looked, target, shared), looked.findings
        )
        between_limits = between(looked.measured, target)
        limits = contained("the target's limit", lambda: check_limit(target, between_limits), None)
        facts = [self._facts(one, target, formed) for one in looked.measured]
        gathered["dispatches"] = [fact for fact in facts if fact is not None]
        if formed.graph:
            gathered["graph"] = formed.graph
        findings += [
            finding.with_(target=target.name)
            for finding in (*formed.findings, *self._behind(formed, target, shared, findings))
        ]
        return [*findings, *([limits] if limits else [])], gathered

    def _advised(self, looked: Looked, target: Target, shared: Path) -> list[Finding]:
        def reform() -> tuple[PhasePipeline, Module]:
            flags = (*self.flags, *flags_for(target))
            phase_pipeline = self._phase_pipeline(self._session(flags), target)
            return phase_pipeline, self._optimise(flags, phase_pipeline, shared, target)[0]

        from .repair_advice import advise  # the repair loop, with all remedies

        return advise(looked.findings, looked.failing, looked.narrow, looked.checker, reform)

    def _facts(self, one: Measured, target: Target, formed: Formed) -> dict | None:
        return contained(
            "facts of a dispatch", lambda: facts_of(one, target, formed.ops), None, about=one.dispatch
        )

    def form(self, target: Target, shared: Path) -> Formed:
        """Forms and configures the dispatches for ``target``, of the program as `compile` would rewrite it. Raises PhaseFailed."""
        while True:
            try:
                return self._formed(target, shared)
            except PhaseFailed as failure:
                if not self._rewritten(target, failure):
                    raise

    def _rewritten(self, target: Target, failure: PhaseFailed) -> bool:
        """Whether ``failure`` may be gone if the program is formed again: its modules are rewritten on the way, from now on."""
        from ..repair.whole_program import rewrites_for

        hooks = self._rewrites.setdefault(target.name, [])
        known = [hook.name for hook in hooks]
        rewrite = next((one for one in rewrites_for(failure) if str(one.remedy) not in known), None)
        if rewrite is None:
            return False
        hooks.append(rewrite.hook(failure.message))
        return True

    def _formed(self, target: Target, shared: Path) -> Formed:
        flags = (*self.flags, *flags_for(target))
        session = self._session(flags)
        phase_pipeline = self._phase_pipeline(session, target)
        try:
            self.watched.at(target.name, BOUNDARIES_PLACED_AT)
            module, findings = self._optimise(flags, phase_pipeline, shared, target)
            ops = describe_source_ops(module.op)
            matrices = contained(
                "transposed matrices", lambda: transposed_matrices(source_ops(module.op)), {}
            )
            drawn = contained("the drawing", lambda: graph_ops(ops, ProducerGraph(module.op)), None)
            tag_source_ops(module.op)
            self.watched.at(target.name, DISPATCHES_CONFIGURED_AT)
            phase_pipeline.advance(module, DISPATCHES_CONFIGURED_AT)
            if not module.is_valid() and (
                refused := self._refusal(flags, shared, DISPATCHES_CONFIGURED_AT, target)
            ):
                raise refused
        finally:
            self._heard(session)
        findings += contained("the schedule", lambda: schedule.findings_of(module), [])
        formed = [renamed(d, target) for d in dispatches(module.op)]
        groups = [{"name": dispatch.name, "ops": list(dispatch.tags)} for dispatch in formed]
        graph = {"ops": drawn, "dispatches": groups} if drawn else None
        return Formed(module, formed, ops, findings, graph, matrices)

    def _behind(self, formed: Formed, target: Target, shared: Path, found: list[Finding]) -> list[Finding]:
        """What IREE refuses behind code generation: looked for with `all`, and where the host is in doubt, if nothing was refused before."""
        refused = any(
            not f.effect.is_built for f in (*formed.findings, *found) if f.severity is Severity.ERROR
        )
        if self.mode == "never" or refused or not (self.mode == "all" or doubtful_on_host(formed.module.op)):
            return []
        self.watched.at(target.name, "end")
        self.watched.translating(max(1, len(formed.dispatches)))
        failure = self._refusal((*self.flags, *flags_for(target)), shared, "end", target)
        self.watched.translating(0)
        return [refused_by_iree(failure, self.instead)] if failure else []

    def _optimise(
        self, flags: Sequence[str], phase_pipeline: PhasePipeline, shared: Path, target: Target
    ) -> tuple[Module, list[Finding]]:
        """``shared`` after global optimisation, and what was rewritten on the way there. Raises PhaseFailed."""
        module = resumed(phase_pipeline.session, shared)
        reported = caught_up(module, self._rewrites.get(target.name, ()))
        reported += phase_pipeline.advance(module, BOUNDARIES_PLACED_AT)
        if not module.is_valid() and (refused := self._refusal(flags, shared, BOUNDARIES_PLACED_AT, target)):
            raise refused
        return module, [
            *(
                suggested(finding, "`fissile compile` applies it")
                for finding in reported
                if self._rewrites.get(target.name)
            ),
            *attentions.advised(module),
            *host_floats.findings_of(module),
            *host_updates.findings_of(module, phase_pipeline.session),
        ]

    def _parsed(self, session: Session) -> Module:
        parsed = imports.parsed(session, self.source, self.flags, self.allow_pipelines, self.gpu)
        module, self.misread = parsed
        return module

    def _refusal(
        self, flags: Sequence[str], shared: Path | None, phase: str, target: Target | None = None
    ) -> PhaseFailed | None:
        """What IREE says on the way to ``phase`` with its verifier on; None where it takes ``shared``, or the input, all the same."""
        session = Session(flags)
        start = resumed(session, shared) if shared else self._parsed(session)
        try:
            self._phase_pipeline(session, target).advance(start, phase)
        except PhaseFailed as failure:
            return failure
        return None

    def _session(self, flags: Sequence[str]) -> Session:
        # IREE's verifier between passes costs a fifth of the time here; the input is verified, and what comes of it.
        return Session(flags, verify_ir=False)

    def _heard(self, session: Session) -> None:
        heard = (one for one in session.diagnostics if one.severity in ("warning", "remark"))
        self.messages.update(dict.fromkeys(one.text for one in heard))

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def _report(self, findings: list[Finding], facts: list[dict]) -> Report:
        found = (*check_version(), *self.misread, *self.entered, *findings)
        all_facts = {"targets": facts, "contract": self.contract}
        return Report("check", found, "", tuple(self.messages), dict(self.seconds), all_facts)
