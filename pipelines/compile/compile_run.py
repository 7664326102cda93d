"""One request in its worker process: the session, the hooks on the way, what was found and where it is written."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path

from fissile.dialect.ops import NAMESPACE
from fissile.dialect.source_text import text_of_file
from fissile.finding import Finding, Severity
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.analysis.dispatch.provenance import describe_source_ops, source_ops, tag_source_ops
from fissile.passes.analysis.dispatch.recomputation import recomputed_producers
from fissile.passes.analysis.layout.transposed_matrices import transposed_matrices
from fissile.passes.checks.refusals.iree_version import check_version
from fissile.passes.checks.speed.recomputation import check_recomputation
from fissile.passes.checks.speed.transposed_matrices import check_transposed_matrices
from fissile.passes.checks.speed.unvectorised import check_unvectorised
from fissile.passes.containment import contained, current
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.messages import UNKNOWN_TYPE
from fissile.passes.iree.phases import (
    BOUNDARIES_PLACED_AT,
    DISPATCHES_CONFIGURED_AT,
)
from fissile.passes.iree.targets import names_gpu
from fissile.report import Report

from ..phase_pipeline import PhaseHook, PhasePipeline
from ..probe.diagnostics import Diagnostic
from ..probe.stock_outcome import Generate, formed_dispatches, scalar_convolutions
from ..process.atomic_write import write_atomically
from ..repair.failures import suggested
from ..repair.packing import Narrow, find_narrow
from ..session import Module, PhaseFailed, Session, phase_index
from .hooks import imports
from .hooks.early_stops import stop_early
from .hooks.plan import HookPlan, stop_on_leftovers
from .late_start import check_start
from .request import STDIN_NAME, CompileRequest
from .wrong_numbers import settled


class CompileRun:
    """What every step of one compile shares. ``output`` is the temporary file that the caller moves into place.

    ``spooled_input`` holds what came from standard input, where the request's input is "-", or what a model was imported as. ``scratch`` is a folder
    that is gone with the compile, however it ends.
    """

    def __init__(
        self,
        request: CompileRequest,
        output: Path,
        spooled_input: Path | None = None,
        scratch: Path | None = None,
        on_error: Callable[[Sequence[Diagnostic]], object] = lambda _diagnostics: None,
    ) -> None:
        self.request = request
        self.output = output
        self.scratch = scratch or output.parent
        self.input = spooled_input or Path(request.input)
        self._spelled = str(spooled_input or request.input)
        self.input_name = request.name
        if spooled_input and not request.name:
            self.input_name = STDIN_NAME if request.input == "-" else request.input
        self.seconds: dict[str, float] = {}
        self.facts: dict[str, object] = {}
        self.backends: tuple[str, ...] = ()
        self.narrow = Narrow()
        self.has_written = False
        self.entered: tuple[Finding, ...] = ()
        self.misread: tuple[Finding, ...] = ()
        self._reads_input = True
        self._refused: str | None = None
        self._emitted: Path | None = None
        self._origin: tuple[Module, tuple[Finding, ...]] | None = None
        self.session = Session(
            verify_ir=request.verify_ir, dump_phases_to=request.dump_phases_to, on_error=on_error
        )
        if request.remarks_filter:
            self.session.remarks(request.remarks_filter, request.remarks_file)
        self._hooks = HookPlan(request, self.session, self.facts)
        self.phase_pipeline = PhasePipeline(
            self.session, self._hooks.all(), verify_contracts=request.verify_contracts
        )

    def parse(self) -> Module:
        module = self._read()
        module.read_at(self.request.compile_from)
        source = self._source
        if self._reads_input and self.request.compile_from == "start":
            self.misread = tuple(
                imports.misread(
                    module,
                    source,
                    self.request.repair != "off",
                    names_gpu(self.request.flags),
                    self.request.flags,
                )
            )
        if self._refused is not None:
            from .hooks import front_end

            self.entered = front_end.rewritten(module, self._refused, self.request.flags)
        stop_early(module, source, self.request.compile_to, self.request.flags)
        if phase_index(module.phase) >= phase_index(BOUNDARIES_PLACED_AT):
            stop_on_leftovers(module)
        return module

    def _read(self) -> Module:
        """The input, without ops that IREE does not know. It may have types of a user's runtime module, which IREE passes on."""
        read = partial(
            self.session.parse_input,
            self._spelled,
            self.input_name,
            self.request.allow_pipelines,
            self._evaluates_constants,
            lambda _input: self._source,
        )
        try:
            with self.session.unknown_dialects(allowed=self._may_have_other_ops):
                return read()
        except PhaseFailed as refused:
            if not UNKNOWN_TYPE.search(str(refused)):
                raise
            from ..pass_runner import unregistered_ops

            with self.session.unknown_dialects(allowed=True):
                module = read()
            if unregistered_ops(module.op.operation):
                raise
            return module

    @cached_property
    def _source(self) -> bytes:
        """The input without the elements of its constants."""
        return text_of_file(self.input)

    @property
    def _evaluates_constants(self) -> bool:
        """Whether the input is a program, and not what a later phase made of one: then native code is IREE's own."""
        return phase_index(self.request.compile_from) < phase_index("flow")

    @cached_property
    def _may_have_other_ops(self) -> bool:
        """Whether ops of a dialect that IREE does not know may be meant: fissile's, or those of a user's own passes.

        IREE crashes on any other one in a later phase, where stock refuses it as it parses.
        """
        request = self.request
        if request.load_passes or request.preprocessing or request.pipelines_after:
            return True
        return NAMESPACE.encode() in self._source

    def enter_from_now_on(self, refused: str) -> bool:
        """Whether the input has ops of a front end that can be written with others; every module of this run is, from now on.

        ``refused`` is IREE's message.
        """
        if not self.may_enter(refused):
            return False
        self._refused = refused
        self._origin = None
        return True

    def may_enter(self, refused: str) -> bool:
        """The same, without a change."""
        if self._refused is not None or self.request.compile_from != "start":
            return False
        from .hooks import front_end

        return front_end.can_enter(self.parse(), refused, self.request.flags)

    def keep_origin(self, module: Module, reported: Iterable[Finding]) -> None:
        """Keeps a copy of ``module``, which has just reached the phase that boundaries are placed at."""
        self._origin = (module.clone(), tuple(reported))

    def origin(self) -> tuple[Module, tuple[Finding, ...]]:
        """The program where boundaries are placed, and what was found on its way there. To be cloned, not changed."""
        if self._origin is None:
            module = self.parse()
            self._origin = (module, tuple(self.phase_pipeline.advance(module, BOUNDARIES_PLACED_AT)))
        return self._origin

    def rewrite_with(self, hooks: Sequence[PhaseHook]) -> None:
        """Every module passes ``hooks`` from now on, and no others that were given here; what was kept of earlier ones is forgotten."""
        self.phase_pipeline = self.phase_pipeline.with_hooks(self._hooks.with_rewrites(hooks))
        self._origin = None

    @property
    def has_inner_checks(self) -> bool:
        """Whether the storage guard has put a run-time check into a loop, a branch, or behind a function's first ops."""
        return self._hooks.has_inner_checks

    def leave_checks_out(self, rejected: str) -> None:
        """Leaves those checks out from now on, since IREE says ``rejected`` about them; where that is empty, they are there again."""
        self._hooks.leave_checks_out(rejected)
        self._origin = None

    def without_own_hooks(self) -> PhasePipeline:
        """The phases as stock runs them: with the pipelines that the command line names, and nothing of fissile's own."""
        self._hooks.forget()
        self.entered, self.misread, self._refused = (), (), None
        self._reads_input = False
        return PhasePipeline(
            self.session, self._hooks.all(own=False), verify_contracts=self.request.verify_contracts
        )

    def write(self, module: Module) -> None:
        if self.request.compile_to != "end" or self.request.output_format == "vm-asm":
            form = "ir-bytecode" if self.request.mlir_bytecode else "ir"
        else:
            form = self.request.output_format
        self.session.write(module, self.output, form, self.request.mlir_bytecode_version)
        self.has_written = True

    def emit_mlir(self, module: Module) -> None:
        """Keeps ``module`` (at global optimisation) for --emit-mlir; it is written with the output, or not at all."""
        if self.request.emit_mlir:
            from fissile.passes.remedies.narrow.index_forms import without_index_dialect

            self._emitted = self.scratch / "emitted.mlir"
            self.session.write(
                Module(without_index_dialect(module.op), module.phase, module.name), self._emitted, "ir"
            )

    @property
    def only_suggests(self) -> bool:
        """Whether a repair is reported and not written (--repair=suggest)."""
        return self.request.repair == "suggest"

    @property
    def tuning(self) -> bool:
        return self.request.tune or self.request.fusion == "tune"

    def look(self, module: Module, generate: Generate) -> list[Finding]:
        """Findings about what configured dispatches will compute, of those that need little or no code generation; ``generate`` does
        that."""
        formed = formed_dispatches(module)
        self.backends = tuple(dict.fromkeys(d.target.backend for d in formed))
        self.narrow = contained(
            "narrow storage", lambda: find_narrow(module, generate), Narrow(), cpu_limit=0
        )
        return list(self.narrow.found)

    def slow(self, origin: Module) -> list[Finding]:
        """FIS140, FIS212 and FIS213 about a module at global optimisation; looked at on a tagged clone, which tells ops apart exactly."""
        return contained("recomputed producers", lambda: self._slow(origin), [], cpu_limit=0)

    def _slow(self, origin: Module) -> list[Finding]:
        clone = origin.clone()
        ops = describe_source_ops(clone.op)
        tag_source_ops(clone.op)
        self.phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)
        formed = [d for d in dispatches(clone.op) if backend_named(d.target.backend).recomputes]
        found = [check_recomputation(one, recomputed_producers(one), ops) for one in formed]
        found.append(check_unvectorised(((one, scalar_convolutions(one)) for one in formed), ops))
        if formed:
            found.append(check_transposed_matrices(transposed_matrices(source_ops(origin.op.operation)), ops))
        return [finding for finding in found if finding is not None]

    def verify_artifact(self) -> list[Finding]:
        """Runs what was written where a runtime for it answers: a finding where it differs from the input on llvm-cpu."""
        if self.request.compile_from != "start" or self.request.compile_to != "end":
            return []
        if self.request.output_format != "vm-bytecode":
            return []
        from . import verification  # NumPy: only with --verify

        with self.step("verify"):
            certificate, why_not = contained(
                "the artifact's numbers",
                lambda: verification.verify_artifact(
                    self.input, self.output, self.backends, self.request.verify_seeds
                ),
                (None, "not checked"),
                cpu_limit=0,
            )
        self.facts["artifact"] = certificate.to_json() if certificate else why_not
        return list(certificate.findings_with(Severity.WARNING)) if certificate else []

    def report(self, findings: Iterable[Finding], written: bool = False, stopped: bool = False) -> Report:
        """``stopped``: a pass ended the compile, and there is no output that `--allow-wrong-numbers` could write."""
        containment = current()
        findings = [
            *check_version(),
            *check_start(self.request),
            *self.misread,
            *findings,
            *(containment.missed if containment else ()),
        ]
        findings = self._strictly(findings)
        if not stopped:
            findings = settled(findings, self.request.allow_wrong)
        findings = [*self._strictly(self.entered), *findings]
        if self.only_suggests:
            # A pass that the command line names did what the user requested.
            findings = [f if f in self._hooks.requested else suggested(f) for f in findings]
        findings = (*findings, *self._strictly(self._hooks.guarded))
        written = written and not any(f.severity is Severity.ERROR for f in findings)
        if written and self._emitted is not None:
            write_atomically(self.request.emit_mlir, partial(shutil.copyfile, self._emitted))
        messages = tuple(d.text for d in self.session.diagnostics if d.severity in ("warning", "remark"))
        return Report(
            "compile",
            findings,
            self.request.output if written else "",
            tuple(dict.fromkeys(messages)),
            dict(self.seconds),
            dict(self.facts),
        )

    def _strictly(self, findings: Iterable[Finding]) -> list[Finding]:
        """``findings`` with `--werror`'s severities."""
        strict = self.request.werror
        return [
            f.with_(severity=Severity.ERROR) if strict and f.severity is Severity.WARNING else f
            for f in findings
        ]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
