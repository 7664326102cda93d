"""`fissile check`: where every dispatch's on-chip bytes come from, on many targets, without a full compile."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from iree.compiler import ir

from fissile.errors import UsageError
from fissile.finding import Finding, Severity
from fissile.passes.analysis.configured import read_configured
from fissile.passes.analysis.dispatches import Dispatch, dispatches
from fissile.passes.analysis.footprint import STACK, WORKGROUP, Footprint
from fissile.passes.analysis.predict import predict
from fissile.passes.analysis.prediction import Prediction
from fissile.passes.analysis.provenance import SourceOp, describe_source_ops, tag_source_ops
from fissile.passes.checks.codegen_failure import check_codegen
from fissile.passes.checks.limit_agreement import check_limit
from fissile.passes.checks.narrow_storage import check_narrow_storage
from fissile.passes.checks.workgroup_fit import check_fit
from fissile.passes.checks.workgroup_prediction import check_agreement, check_prediction
from fissile.passes.checks.workgroup_race import check_races
from fissile.passes.definition import PassFailed
from fissile.quantity import Bytes, total
from fissile.report import Report
from fissile.target import Target

from . import baseline as baselines
from .dispatch_check import failure_code
from .guarded_compile import DIALECT_LOWERINGS, lower_dialect, rejected, stop_on_leftovers
from .iree.names import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT, LOWERING_PIPELINES, RACING_CODEGEN
from .iree.targets import LAST_SHARED_PHASE, flags_for
from .itinerary import Itinerary, Stop
from .probe import probe
from .probe_pool import ProbePool, ProbeResult
from .session import Module, PhaseFailed, Session
from .targets import resolve_target

PROBE_MODES = ("auto", "all", "never")
_EXECUTABLES = ("hal.executable", "hal.executable.source", "hal.executable.binary", "stream.executable", "flow.executable")
_UNBOUNDED = str(2**53 - 1)
"""The extent that IREE gives a buffer dimension that nothing bounds (util.assume.int's default, 3.13)."""
_FUNCTIONS = ("func.func", "util.func")


@dataclass(frozen=True)
class Measured:
    """One dispatch with what is known of its bytes. ``result`` is None where code generation was not asked."""

    dispatch: Dispatch
    prediction: Prediction
    result: ProbeResult | None

    @property
    def exact(self) -> Bytes | None:
        if self.result is None or self.result.ended or self.result.probed.failure is not None:
            return None
        return total(a.bytes for a in self.footprint.allocations)

    @property
    def footprint(self) -> Footprint:
        """The probed buffers in the memory that this target is short of."""
        space = STACK if self.dispatch.target.backend == "llvm-cpu" else WORKGROUP
        buffers = (a for a in self.result.probed.footprint.allocations if a.space == space)
        return Footprint(tuple(replace(a, bytes=Bytes.unknown("no bound")) if _UNBOUNDED in a.type else a for a in buffers))

    @property
    def bytes(self) -> Bytes:
        exact = self.exact
        if exact is not None and exact.value is not None:
            return exact
        return Bytes.unknown("; ".join(self.prediction.doubts)) if self.prediction.doubts else self.prediction.total


def measure(source: str | os.PathLike, target: Target, *, flags: Sequence[str] = (),
            dispatch_timeout: float = 30.0) -> list[Measured]:
    """Every different dispatch of ``source`` on ``target``, predicted and probed: how far the two agree.

    Code generation runs up to IREE's resource check. Raises PhaseFailed where IREE does not come that far.
    """
    one = _Check(Path(source), [target], tuple(flags), "bytes", dispatch_timeout)
    with tempfile.TemporaryDirectory(prefix="fissile-check-") as scratch:
        shared, _signatures_ = one._share(Path(scratch) / "shared.mlirbc")
        measured, _ops = one._form(target, shared)
    return list({m.dispatch.fingerprint: m for m in measured}.values())


def check(source: str | os.PathLike, targets: Sequence[str | Target], *, budget: int | None = None,
          flags: Sequence[str] = (), probe: str = "auto", dispatch_timeout: float = 30.0,
          baseline: str | os.PathLike | None = None, update_baseline: bool = False) -> Report:
    """Findings and every dispatch's bytes for the MLIR file ``source`` on each of ``targets``.

    ``budget`` bytes stand in for each target's own limit. ``flags`` are further session flags of iree-compile.
    ``probe``: "auto" asks IREE's code generation where the prediction has doubts or exceeds the limit, "all" asks it
    for every dispatch, "never" for none. ``dispatch_timeout`` seconds per question, 0 for none. ``report.facts`` has
    "targets": bytes, certainty and buffers of every dispatch. Raises UsageError.
    """
    if probe not in PROBE_MODES:
        raise UsageError(f"unknown probe mode '{probe}'", "known: " + ", ".join(PROBE_MODES))
    if not targets:
        raise UsageError("no target to check for", "--target gfx942; `fissile targets` lists them")
    chosen = list(dict.fromkeys(t if isinstance(t, Target) else resolve_target(t) for t in targets))
    if budget is not None:
        chosen = [target.with_budget(budget) for target in chosen]
    return _Check(Path(source), chosen, tuple(flags), probe, dispatch_timeout).run(
        Path(baseline) if baseline else None, update_baseline
    )


class _Check:
    def __init__(self, source: Path, targets: list[Target], flags: tuple[str, ...], mode: str, timeout: float) -> None:
        self.source = source
        self.targets = targets
        self.flags = flags
        self.mode = mode
        self.timeout = timeout
        self.seconds: dict[str, float] = {}
        self.messages: dict[str, None] = {}

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
        report = self._report(findings, facts)
        if baseline and update:
            baselines.write(baseline, signatures, facts)
        return report

    # --- what is the same for every target

    def _share(self, path: Path) -> tuple[Path, list[str]]:
        """Parses and lowers the input as far as no target matters; returns the file it is in, and the signatures."""
        session = self._session(self.flags)
        module = session.parse(self.source)
        _refuse_executables(module)
        signatures = _signatures(module)
        self._itinerary(session).advance(module, LAST_SHARED_PHASE)
        session.write(module, path, "ir-bytecode")
        self._heard(session)
        return path, signatures

    def _itinerary(self, session: Session) -> Itinerary:
        stops = [Stop(phase, "lower-dialect", lower_dialect(pipeline)) for phase, pipeline in DIALECT_LOWERINGS]
        stops.append(Stop(BOUNDARIES_PLACED_AT, "check-leftovers", stop_on_leftovers))
        return Itinerary(session, stops)

    # --- one target

    def _target(self, target: Target, shared: Path) -> tuple[list[Finding], dict]:
        told = {"name": target.name, "limit": target.limit.bytes, "per": target.limit.per, "source": target.limit.source,
                "dispatches": []}
        try:
            measured, ops = self._form(target, shared)
        except PhaseFailed as failure:
            return [rejected(failure).with_(target=target.name)], told
        except PassFailed as failure:
            return [finding.with_(target=target.name) for finding in failure.findings], told
        findings = check_narrow_storage([m.dispatch for m in measured])
        for one in measured:
            findings += _findings(one, target, ops)
        limits = check_limit(target, _between(measured, target))
        told["dispatches"] = [_facts(one, target, ops) for one in measured]
        return [*findings, *([limits] if limits else [])], told

    def _form(self, target: Target, shared: Path) -> tuple[list[Measured], list[SourceOp]]:
        """Forms and configures the dispatches for ``target`` and measures them; the source ops that their tags name."""
        session = self._session((*self.flags, *flags_for(target)))
        try:
            module = session.parse(shared)  # its locations name the source file
            module.phase = LAST_SHARED_PHASE
            itinerary = self._itinerary(session)
            itinerary.advance(module, BOUNDARIES_PLACED_AT)
            ops = describe_source_ops(module.op)
            tag_source_ops(module.op)
            itinerary.advance(module, DISPATCHES_CONFIGURED_AT)
        finally:
            self._heard(session)
        return self._measure([_renamed(d, target) for d in dispatches(module.op)], target), ops

    def _measure(self, formed: list[Dispatch], target: Target) -> list[Measured]:
        """Predicts every dispatch; asks code generation about those where that is not enough. Equal bodies once."""
        predictions: dict[str, Prediction] = {}
        results: dict[str, ProbeResult] = {}
        asked: dict[str, Dispatch] = {}
        for dispatch in formed:
            if dispatch.fingerprint in predictions:
                continue
            prediction = predictions[dispatch.fingerprint] = predict(read_configured(dispatch))
            if dispatch.target.backend not in LOWERING_PIPELINES:
                continue
            if self._needs_probe(prediction, target):
                asked[dispatch.fingerprint] = dispatch
            elif self.mode == "auto" and dispatch.codegen in RACING_CODEGEN and prediction.buffers:
                # A tile that is handed over in shared memory: is there a barrier? 0.02 s each, so in this process.
                results[dispatch.fingerprint] = ProbeResult(probe(dispatch), None, 0.0)
        if asked:
            with ProbePool(self.flags, self.timeout) as pool:
                answers = pool.probe_all(list(asked.values()), convert=self.mode == "all")
            results.update(zip(asked, answers, strict=True))
        return [Measured(d, predictions[d.fingerprint], results.get(d.fingerprint)) for d in formed]

    def _needs_probe(self, prediction: Prediction, target: Target) -> bool:
        if self.mode != "auto":
            return self.mode in ("all", "bytes")
        if prediction.doubts:
            return True
        needed = prediction.total.value
        return needed is not None and needed > target.limit.bytes

    # --- small things

    def _session(self, flags: Sequence[str]) -> Session:
        # IREE's verifier between passes costs a fifth of the time here; parsing still verifies the input.
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
        return Report("check", tuple(findings), "", tuple(self.messages), dict(self.seconds), {"targets": facts})


def _findings(one: Measured, target: Target, ops: Sequence[SourceOp]) -> list[Finding]:
    """What there is to say about one dispatch: its bytes, then code generation's own failures."""
    dispatch, prediction, exact = one.dispatch, one.prediction, one.exact
    found: list[Finding | None] = []
    if exact is not None and (exact.value is not None or prediction.doubts):
        same = exact.value is not None and exact.value == prediction.total.value
        fit = (check_prediction(dispatch, prediction, target.limit, ops, exact=True) if same
               else check_fit(dispatch, one.footprint, ops, target.limit))
        found += [fit, check_agreement(dispatch, prediction, exact)]
    elif not prediction.doubts:
        found.append(check_prediction(dispatch, prediction, target.limit, ops))
    if one.result is not None and not any(found):
        found.append(_codegen(dispatch, one.result, ops))
    return [finding for finding in found if finding is not None]


def _codegen(dispatch: Dispatch, result: ProbeResult, ops: Sequence[SourceOp]) -> Finding | None:
    """What code generation itself said: it ended, failed, shares memory without a barrier, or cannot convert."""
    said = result.probed.failure
    if result.ended:
        code = "FIS106" if result.ended == "timed out" else "FIS107"
        return check_codegen(dispatch, code, said.message, said.text, (), ops)
    if said is None and result.probed.races:
        return check_races(dispatch, result.probed.races, ops)
    said = said or result.converted
    if said is None:
        return None
    return check_codegen(dispatch, failure_code(said.text), said.message, said.text, said.tags, ops)


def _between(measured: Sequence[Measured], target: Target) -> list[str]:
    """Dispatches that fit what IREE checks and not what counts."""
    own = target.compiler_bytes
    if own is None:
        return []
    counts = ((one.dispatch.name, one.bytes.value) for one in measured)
    return [name for name, value in counts if value is not None and target.limit.bytes < value <= own]


def _facts(one: Measured, target: Target, ops: Sequence[SourceOp]) -> dict:
    """One dispatch as JSON values; docs/footprint.md describes them."""
    count = one.bytes
    doubts = list(one.prediction.doubts) if one.exact is None else []
    agrees = one.exact is None or one.exact.value == one.prediction.total.value
    if agrees:
        buffers = [{"bytes": b.bytes.value, "value": _named(b.tags, b.type, ops), "reason": b.reason,
                    "scales_with_tile": b.scales, "formula": str(b.size)} for b in one.prediction.buffers]
    else:
        buffers = [{"bytes": a.bytes.value, "value": _named(a.tags, a.type, ops), "reason": "",
                    "scales_with_tile": None, "formula": None} for a in one.footprint.allocations]
    place = one.dispatch.place
    return {
        "name": one.dispatch.name,
        "codegen": one.dispatch.codegen,
        "place": str(place) if place else "",
        "bytes": count.value,
        "certainty": count.certainty.value,
        "formula": str(one.prediction.formula) if one.prediction.dimensions else None,
        "largest": one.prediction.largest(target.limit.bytes) if one.prediction.dimensions else {},
        "fits": None if count.value is None else count.value <= target.limit.bytes,
        "doubts": doubts,
        "buffers": buffers,
    }


def _named(tags: Sequence[int], type_: str, ops: Sequence[SourceOp]) -> str:
    owner = next((ops[tag] for tag in tags if tag < len(ops)), None)
    return f"{owner.name or owner.op} {type_}" if owner else type_


def _renamed(dispatch: Dispatch, target: Target) -> Dispatch:
    """The dispatch under the name that the user gave its target (IREE calls default Vulkan by a profile's name)."""
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
            visibility = operation.attributes["sym_visibility"] if "sym_visibility" in operation.attributes else None
            if visibility is None or ir.StringAttr(visibility).value == "public":
                name = ir.StringAttr(operation.attributes["sym_name"]).value
                kind = str(operation.attributes["function_type"]) if "function_type" in operation.attributes else ""
                found.append(f"{name}: {kind}")
    return found


def _no_functions() -> Finding:
    return Finding("FIS003", "the module has no functions: there is nothing to check", Severity.ERROR,
                   notes=("give a module with at least one public function",))
