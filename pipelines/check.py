"""`fissile check`: where every dispatch's on-chip bytes come from, without a full compile."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fissile.dialect.attributes import text_of
from fissile.passes.analysis.configured import read_configured
from fissile.passes.analysis.dispatches import Dispatch, dispatches
from fissile.passes.analysis.narrow_types import UNCOMMON
from fissile.passes.analysis.predict import predict
from fissile.passes.analysis.prediction import Prediction
from fissile.passes.analysis.provenance import SourceOp, describe_source_ops, tag_source_ops
from fissile.passes.analysis.vector_alignment import may_misplace
from fissile.passes.checks.limit_agreement import check_limit
from fissile.passes.checks.narrow_storage import check_narrow_storage
from fissile.passes.checks.unrolled_code import check_unrolled
from fissile.passes.definition import PassFailed
from fissile.passes.remedies.expand_scalars import may_lack

from fissile.errors import UsageError
from fissile.finding import Finding, Severity
from fissile.report import Report
from fissile.target import Target

from . import baseline as baselines
from . import host_floats
from .compile_run import DIALECT_LOWERINGS, lower_dialect, stop_on_leftovers
from .dispatch_check import asks_about_threads, unrolls
from .failures import rejected, suggested
from .guard import GUARDED_AT, guard, strips_asserts
from .iree.names import (
    BOUNDARIES_PLACED_AT,
    DISPATCHES_CONFIGURED_AT,
    LOWERING_PIPELINES,
    VECTOR_MOVING_BACKENDS,
)
from .iree.targets import LAST_SHARED_PHASE, flags_for
from .itinerary import Itinerary, Stop
from .measured import Measured, between, facts_of, findings_of
from .probe import probe
from .probe_pool import ProbePool, ProbeResult
from .session import Module, PhaseFailed, Session
from .targets import resolve_target
from .trimming import TRIM

PROBE_MODES = ("auto", "all", "never")
_EXECUTABLES = (
    "hal.executable",
    "hal.executable.source",
    "hal.executable.binary",
    "stream.executable",
    "flow.executable",
)
_FUNCTIONS = ("func.func", "util.func")


def measure(
    source: str | os.PathLike, target: Target, *, flags: Sequence[str] = (), dispatch_timeout: float = 30.0
) -> list[Measured]:
    """Every different dispatch of ``source`` on ``target``, predicted and probed: how far the two agree.

    Code generation runs up to IREE's resource check. Raises PhaseFailed where IREE does not come that far.
    """
    one = _Check(Path(source), [target], tuple(flags), "bytes", dispatch_timeout)
    with tempfile.TemporaryDirectory(prefix="fissile-check-") as scratch:
        shared, _signatures_ = one._share(Path(scratch) / "shared.mlirbc")
        measured, _ops, _findings = one._form(target, shared)
    return list({m.dispatch.fingerprint: m for m in measured}.values())


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
) -> Report:
    """Findings and every dispatch's bytes for the MLIR file ``source`` on each of ``targets``.

    ``budget`` bytes stand in for each target's own limit. ``flags`` are further session flags of
    iree-compile. ``probe``: "auto" asks IREE's code generation where the prediction has doubts or exceeds the
    limit, "all" asks it for every dispatch, "never" for none. ``dispatch_timeout`` seconds per question, 0
    for none. ``allow_pipelines`` runs pass pipelines that the program brings along (FIS005). ``report.facts`` has "targets": bytes, certainty and buffers of every dispatch. Raises
    UsageError.
    """
    if probe not in PROBE_MODES:
        raise UsageError(f"unknown probe mode '{probe}'", "known: " + ", ".join(PROBE_MODES))
    if not targets:
        raise UsageError("no target to check for", "--target gfx942; `fissile targets` lists them")
    chosen = list(dict.fromkeys(t if isinstance(t, Target) else resolve_target(t) for t in targets))
    if budget is not None:
        chosen = [target.with_budget(budget) for target in chosen]
    return _Check(Path(source), chosen, tuple(flags), probe, dispatch_timeout, allow_pipelines).run(
        Path(baseline) if baseline else None, update_baseline
    )


class _Check:
    def __init__(
        self, source: Path, targets: list[Target], flags: tuple[str, ...], mode: str, timeout: float,
        allow_pipelines: bool = False,
    ) -> None:
        self.source = source
        self.allow_pipelines = allow_pipelines
        self.targets = targets
        self.flags = flags
        self.mode = mode
        self.timeout = timeout
        self.seconds: dict[str, float] = {}
        self.messages: dict[str, None] = {}
        self.storage: tuple[Finding, ...] = ()
        self.contract: dict[str, list[str]] = {}

    def run(self, baseline: Path | None, update: bool) -> Report:
        """The whole pipeline: what all targets share once, then target by target."""
        findings: list[Finding] = []
        facts: list[dict] = []
        with tempfile.TemporaryDirectory(prefix="fissile-check-") as scratch:
            try:
                with self._step("parse"):
                    shared, signatures = self._share(Path(scratch) / "shared.mlirbc")
            except PhaseFailed as failure:
                return self._report([rejected(failure)], [])
            except PassFailed as failure:
                return self._report(list(failure.findings), [])
            if not signatures:
                return self._report([_no_functions()], [])
            before = baselines.read(baseline, signatures) if baseline and not update else None
            for target in self.targets:
                with self._step(target.name):
                    found, told = self._target(target, shared)
                findings += found
                facts.append(told)
        if baseline and before is not None:
            findings += baselines.compare(before, facts, baseline)
        report = self._report([*findings, *self.storage], facts)
        if baseline and update:
            baselines.write(baseline, signatures, facts)
        return report

    # --- what is the same for every target

    def _share(self, path: Path) -> tuple[Path, list[str]]:
        """Parses and lowers the input as far as no target matters; returns the file it is in, and the
        signatures."""
        session = self._session(self.flags)
        module = session.parse_input(self.source, allow_pipelines=self.allow_pipelines)
        _refuse_executables(module)
        signatures = _signatures(module)
        stops = self._itinerary(session).stops
        Itinerary(session, (Stop(GUARDED_AT, "guard", self._guard), *stops)).advance(module, LAST_SHARED_PHASE)
        session.write(module, path, "ir-bytecode")
        self._heard(session)
        return path, signatures

    def _guard(self, module: Module) -> list[Finding]:
        """Sizes against capacities: what is refuted or not proved is told, and the caller's contract is kept."""
        result = guard(module.op, "check", asserts_stripped=strips_asserts(self.flags))
        self.storage = result.findings
        self.contract = {name: list(conditions) for name, conditions in result.contract.items()}
        return []

    def _itinerary(self, session: Session) -> Itinerary:
        stops = [
            Stop(phase, "lower-dialect", lower_dialect(pipeline)) for phase, pipeline in DIALECT_LOWERINGS
        ]
        stops.append(Stop(BOUNDARIES_PLACED_AT, "check-leftovers", stop_on_leftovers))
        return Itinerary(session, stops)

    # --- one target

    def _target(self, target: Target, shared: Path) -> tuple[list[Finding], dict]:
        told = {
            "name": target.name,
            "limit": target.limit.bytes,
            "per": target.limit.per,
            "source": target.limit.source,
            "dispatches": [],
        }
        try:
            measured, ops, findings = self._form(target, shared)
        except PhaseFailed as failure:
            return [rejected(failure).with_(target=target.name)], told
        except PassFailed as failure:
            return [finding.with_(target=target.name) for finding in failure.findings], told
        findings = [finding.with_(target=target.name) for finding in findings]
        findings += check_narrow_storage([m.dispatch for m in measured])
        for one in measured:
            findings += findings_of(one, target, ops)
            if found := check_unrolled(one.dispatch, unrolls(one.dispatch), ops):
                findings.append(found.with_(target=target.name))
        limits = check_limit(target, between(measured, target))
        told["dispatches"] = [facts_of(one, target, ops) for one in measured]
        return [*findings, *([limits] if limits else [])], told

    def _form(self, target: Target, shared: Path) -> tuple[list[Measured], list[SourceOp], list[Finding]]:
        """Forms and configures the dispatches for ``target`` and measures them; the source ops that their tags name, and
        what had to be done to come that far. Raises PhaseFailed."""
        flags = (*self.flags, *flags_for(target))
        session = self._session(flags)
        itinerary = self._itinerary(session)
        try:
            module, findings = self._optimise(flags, itinerary, shared)
            ops = describe_source_ops(module.op)
            tag_source_ops(module.op)
            itinerary.advance(module, DISPATCHES_CONFIGURED_AT)
            if not module.is_valid() and (refused := self._refusal(flags, shared, DISPATCHES_CONFIGURED_AT)):
                raise refused
        finally:
            self._heard(session)
        return self._measure([_renamed(d, target) for d in dispatches(module.op)], target), ops, findings

    def _optimise(self, flags: Sequence[str], itinerary: Itinerary, shared: Path) -> tuple[Module, list[Finding]]:
        """``shared`` after global optimisation, without borders that IREE refuses there; FIS119 of each. Raises PhaseFailed."""
        module = _resumed(itinerary.session, shared)
        try:
            itinerary.advance(module, BOUNDARIES_PLACED_AT)
            failure = None if module.is_valid() else self._refusal(flags, shared, BOUNDARIES_PLACED_AT)
        except PhaseFailed as failed:
            failure = failed
        if failure is None:
            return module, host_floats.told(module)
        module = _resumed(itinerary.session, shared)
        borders = itinerary.with_stop(TRIM).advance(module, BOUNDARIES_PLACED_AT)
        if not borders or not module.is_valid():
            raise failure
        return module, [*(suggested(border, "`fissile compile` applies it") for border in borders), *host_floats.told(module)]

    def _refusal(self, flags: Sequence[str], shared: Path, phase: str) -> PhaseFailed | None:
        """What IREE says on the way to ``phase`` with its verifier on; None where it takes ``shared`` all the same."""
        session = Session(flags)
        try:
            self._itinerary(session).advance(_resumed(session, shared), phase)
        except PhaseFailed as failure:
            return failure
        return None

    def _measure(self, formed: list[Dispatch], target: Target) -> list[Measured]:
        """Predicts every dispatch; asks code generation about those where that is not enough. Equal bodies
        of the same source ops once."""
        predictions: dict[tuple, Prediction] = {}
        results: dict[tuple, ProbeResult] = {}
        asked: dict[tuple, Dispatch] = {}
        for dispatch in formed:
            if dispatch.identity in predictions:
                continue
            prediction = predictions[dispatch.identity] = predict(read_configured(dispatch))
            if dispatch.target.backend not in LOWERING_PIPELINES:
                continue
            if self._needs_probe(dispatch, prediction, target):
                asked[dispatch.identity] = dispatch
            elif self.mode == "auto" and not unrolls(dispatch).elements and (
                asks_about_threads(dispatch)
                or dispatch.target.backend in VECTOR_MOVING_BACKENDS and may_misplace(dispatch.inner_module())
            ):
                # A slice: do vectors begin with it? 0.02 s each, so in this process.
                results[dispatch.identity] = ProbeResult(probe(dispatch), None, 0.0)
        if asked:
            with ProbePool(self.flags, self.timeout) as pool:
                for convert in (False, True):
                    these = {f: d for f, d in asked.items() if (self.mode == "all" or self.mode == "auto" and _uncommon(d)) == convert}
                    results.update(zip(these, pool.probe_all(list(these.values()), convert=convert), strict=True))
        return [Measured(d, predictions[d.identity], results.get(d.identity)) for d in formed]

    def _needs_probe(self, dispatch: Dispatch, prediction: Prediction, target: Target) -> bool:
        if self.mode != "auto":
            return self.mode in ("all", "bytes")
        if unrolls(dispatch).elements:
            return False  # told as it is: its code takes minutes
        if prediction.doubts or _uncommon(dispatch):
            return True
        needed = prediction.total.value
        return needed is not None and needed > target.limit.bytes

    # --- small things

    def _session(self, flags: Sequence[str]) -> Session:
        # IREE's verifier between passes costs a fifth of the time here; the input is verified, and what comes of it.
        return Session(flags, verify_ir=False)

    def _heard(self, session: Session) -> None:
        for said in session.diagnostics:
            if said.severity in ("warning", "remark"):
                self.messages[said.text] = None

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def _report(self, findings: list[Finding], facts: list[dict]) -> Report:
        return Report(
            "check",
            tuple(findings),
            "",
            tuple(self.messages),
            dict(self.seconds),
            {"targets": facts, "contract": self.contract},
        )


def _uncommon(dispatch: Dispatch) -> bool:
    """Whether it has elements or ops that the target's backend may have no code for: only the whole of code generation tells."""
    return any(binding.element in UNCOMMON for binding in dispatch.bindings) or may_lack(dispatch.inner_module())


def _resumed(session: Session, shared: Path) -> Module:
    """The module that all targets share; its locations name the source file."""
    module = session.parse(shared)
    module.phase = LAST_SHARED_PHASE
    return module


def _renamed(dispatch: Dispatch, target: Target) -> Dispatch:
    """The dispatch under the name that the user gave its target (IREE calls default Vulkan by a profile's
    name)."""
    return replace(dispatch, target=replace(dispatch.target, arch=target.name))


def _refuse_executables(module: Module) -> None:
    for op in module.op.regions[0].blocks[0].operations:
        if op.operation.name in _EXECUTABLES:
            raise UsageError(
                f"the module already contains executables ({op.operation.name})",
                "check needs the program before its dispatches are formed: the input of iree-compile",
            )


def _signatures(module: Module) -> list[str]:
    """`name: type` of every public function."""
    found = []
    for op in module.op.regions[0].blocks[0].operations:
        operation = op.operation
        if operation.name in _FUNCTIONS and "sym_name" in operation.attributes:
            visibility = (
                operation.attributes["sym_visibility"] if "sym_visibility" in operation.attributes else None
            )
            if visibility is None or str(visibility) == '"public"':
                name = text_of(operation, "sym_name")
                kind = (
                    str(operation.attributes["function_type"])
                    if "function_type" in operation.attributes
                    else ""
                )
                found.append(f"{name}: {kind}")
    return found


def _no_functions() -> Finding:
    return Finding(
        "FIS003",
        "the module has no functions: there is nothing to check",
        Severity.ERROR,
        notes=("give a module with at least one public function",),
    )
