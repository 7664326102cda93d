"""A session over IREE's compiler: parse, run to a phase, look or change, resume, write.

with Session(["--iree-hal-target-device=vulkan"]) as session:
    module = session.parse("model.mlir")
    session.run(module, to="global-optimization")
    ...                                   # module.op is a live iree.compiler.ir.Operation
    session.run(module, to="end")
    session.write(module, "model.vmfb")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from iree.compiler import ir

from fissile.dialect import register
from fissile.dialect.places import names_of_places
from fissile.dialect.source_text import BYTECODE, text_of_file
from fissile.errors import FissileError, UsageError, closest
from fissile.finding import Place
from fissile.passes.analysis.program.input_marks import NO_MARKS, InputMarks, marks_of
from fissile.passes.analysis.program.source_lines import may_be_quoted
from fissile.passes.containment import contained
from fissile.passes.iree import library
from fissile.passes.iree.flags import PREPROCESSING_FLAG
from fissile.passes.iree.phases import PHASES
from fissile.passes.progress import running

from .brought_code import refuse_brought_code
from .portable_stablehlo import stablehlo_of
from .probe.diagnostics import Diagnostic, parse_diagnostic
from .process.atomic_write import write_atomically
from .process.scratch import without_scratch

Answer = TypeVar("Answer")
_MOST_BYTES = 64 << 20
"""Of a program that is read once more for the names in its locations."""
PHASE_STEP = "phase "
"""A run of IREE's phases is noted as this and the phase that it goes to."""


class PhaseFailed(FissileError):
    """IREE stopped: ``diagnostics`` has all its messages, in order; ``phase`` is where the run was going to."""

    def __init__(self, phase: str, diagnostics: Sequence[Diagnostic]) -> None:
        errors = [d for d in diagnostics if d.is_error]
        super().__init__(
            errors[0].message if errors else f"IREE stopped before phase {phase} without an error message"
        )
        self.phase = phase
        self.diagnostics = tuple(diagnostics)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.diagnostics if d.is_error)


class Module:
    """A live module and the phase it has reached. ``op`` may be changed by anyone between two runs. ``marks`` are those of the
    input."""

    def __init__(self, op: ir.Operation, phase: str, name: str, marks: InputMarks = NO_MARKS) -> None:
        self.op = op
        self.phase = phase
        self.name = name
        self.marks = marks
        self.is_read = False
        """Whether it has been read at ``phase``, and no hook of that phase has seen it."""
        self._before: tuple[ir.Operation, str] | None = None
        self._read: dict[str, Any] = {}

    def clone(self) -> Module:
        """A deep copy in the same context."""
        copy = Module(self.op.operation.clone(), self.phase, self.name, self.marks)
        copy.is_read = self.is_read
        return copy

    def once(self, what: str, read: Callable[[], Answer]) -> Answer:
        """``read()``, which looks at the ops of this module; it is kept under ``what`` until the module may have changed."""
        if what not in self._read:
            self._read[what] = read()
        return self._read[what]

    def may_have_changed(self) -> None:
        """Forgets what `once` has kept: it holds ops that are gone when the module is."""
        self._read.clear()

    def stands_at(self, phase: str) -> Module:
        """The same module, taken as one that has reached ``phase``."""
        self.phase = phase
        return self

    def read_at(self, phase: str) -> Module:
        """The same of one that was written behind ``phase``, and read again."""
        self.is_read = phase != PHASES[0]
        return self.stands_at(phase)

    def about_to_change(self) -> None:
        """Keeps a copy for `put_back`. A step calls it before its first change; one that finds nothing to change costs nothing."""
        self.may_have_changed()
        self._before = self.op.operation.clone(), self.phase

    def settle(self) -> None:
        """What was changed stays: the copy is dropped."""
        self._before = None

    def put_back(self) -> None:
        """Undoes what was done since `about_to_change`."""
        if self._before is not None:
            self.may_have_changed()
            (self.op, self.phase), self._before = self._before, None

    def is_valid(self) -> bool:
        """What MLIR's verifier says; for a session that does not verify between passes."""
        try:
            return bool(self.op.operation.verify())
        except ir.MLIRError:
            return False

    def text(self, locations: bool = False) -> str:
        return self.op.get_asm(enable_debug_info=locations)


def phase_index(phase: str) -> int:
    """The position of ``phase`` in IREE's pipeline; an unknown one is refused with the nearest known."""
    if phase not in PHASES:
        raise UsageError(f"unknown phase '{phase}'", closest(phase, list(PHASES)))
    return PHASES.index(phase)


class Session:
    """One IREE compiler session. It may be reused for many modules; one thread at a time.

    ``flags`` are iree-compile's session flags. Those that LLVM reads once per process (`--iree-llvmgpu-shared-memory-limit`) are
    refused, unless `library.initialise_command_line` has them already, as in the worker of `fissile compile`.
    ``verify_ir`` runs MLIR's verifier between passes, as iree-compile's `--verify`. ``on_error`` is called with all messages of IREE
    of a run whenever it says an error: a crash may follow that takes this process along.
    """

    def __init__(
        self,
        flags: Sequence[str] = (),
        *,
        verify_ir: bool = True,
        dump_phases_to: str = "",
        on_error: Callable[[Sequence[Diagnostic]], object] = lambda _received: None,
    ) -> None:
        self._session = library.Session()
        self.context: ir.Context = self._session.context
        # IREE's phases load what their passes name as they start. Of a dialect that none names, and another phase would have
        # loaded, an op is created under another op's name: index.mul of a TOSA FFT as index.or (3.13, a stop at phase abi).
        self.context.load_all_available_dialects()
        register(self.context)
        self.diagnostics: list[Diagnostic] = []
        self._verify_ir = verify_ir
        self._dump_phases_to = dump_phases_to
        self._on_error = on_error
        self._remarks: tuple[str, str] | None = None
        self._parsed: Path | None = None
        self._names: dict[Place, str] | None = None
        if flags:
            self.set_flags(flags)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_exc) -> None:
        pass  # IREE's session is freed with the last object that refers to its context

    @property
    def flags(self) -> list[str]:
        """The session flags (`--name=value`) that differ from IREE's defaults."""
        return self._session.get_flags(non_default_only=True)

    def set_flags(self, flags: Sequence[str]) -> None:
        """Sets session flags that the process's command line does not have; one that IREE does not know is refused with the nearest known."""
        flags = library.not_in_force(flags)
        if any(PREPROCESSING_FLAG in flag for flag in flags):
            from .pass_runner import check_preprocessing  # it knows all passes, which takes a while

            check_preprocessing(flags)
        try:
            self._session.set_flags(*flags)
        except ValueError as error:
            known = [flag.split("=")[0] for flag in self._session.get_flags()]
            unknown = [flag for flag in flags if flag.split("=")[0] not in known]
            if unknown:
                name = unknown[0].split("=")[0]
                raise UsageError(
                    f"'{name}' is not a session flag of iree-compile",
                    closest(name, known)
                    or "flags that LLVM reads once per process go through `fissile compile`",
                ) from None
            raise UsageError(" ".join(str(error).split())) from None

    def parse(self, source: str | os.PathLike, name: str = "") -> Module:
        """A module from a file of MLIR text or bytecode; ``name`` stands for the file in locations, if given.

        Raises UsageError where the file cannot be read, PhaseFailed (phase "start") where it is not a valid module.
        """
        # In locations the file is what the caller calls it, as with IREE: ./model.mlir is not model.mlir.
        path, spelled = Path(source), os.fspath(source)
        if not path.is_file():
            raise UsageError(f"no such file: {path}" if not path.exists() else f"not a file: {path}")
        try:
            content = path.read_bytes() if name else b""
            if name and not content.startswith(BYTECODE):  # which has its own locations and end
                opened = library.Source.wrap_buffer(self._session, content + b"\0", buffer_name=name)
            else:
                opened = library.Source.open_file(self._session, spelled)
        except (ValueError, OSError) as error:
            raise UsageError(f"cannot read {path}: {error}") from None
        self._parsed, self._names = path, None
        may_be_quoted(spelled)
        if name and not content.startswith(BYTECODE):
            may_be_quoted(name, spelled)
        module = self._parse(opened, name or spelled)
        converted = stablehlo_of(module.op.operation, path)
        return module if converted is None else self.parse_text(converted, name or spelled)

    def parse_input(
        self,
        source: str | os.PathLike,
        name: str = "",
        allow_pipelines: bool = False,
        runs_constants: bool = True,
        text: Callable[[Path], bytes] = text_of_file,
    ) -> Module:
        """`parse` for a program that may come from anywhere. Raises PassFailed (FIS005, FIS006) where it brings code along. ``text`` reads it
        once more, without elements."""
        module = self.parse(source, name)
        if not allow_pipelines:
            refuse_brought_code(module.op, text(Path(source)), runs_constants)
        return module

    def parse_text(self, text: str, name: str = "module.mlir") -> Module:
        """A module from MLIR text in memory; ``name`` stands for the file in locations."""
        buffer = text.encode() + b"\0"
        return self._parse(library.Source.wrap_buffer(self._session, buffer, buffer_name=name), name)

    def run(self, module: Module, to: str) -> Module:
        """Runs IREE's phases from where ``module`` stands up to ``to``, in place. Raises PhaseFailed.

        After a failure the module is in an undefined state: throw it away.
        """
        if phase_index(to) < phase_index(module.phase):
            raise UsageError(f"the module has passed phase {module.phase} and cannot go back to {to}")
        if to == module.phase:
            return module
        module.may_have_changed()
        received: list[Diagnostic] = []
        invocation = self._invocation(received)
        try:
            library.phases(invocation, module.phase, to)
            try:
                invocation.import_module(module.op)
            except RuntimeError:
                raise self._failed(to, received) from None
            with running(f"{PHASE_STEP}{to}"):
                done = invocation.execute()
            if not done:
                raise self._failed(to, received)
        finally:
            self.diagnostics.extend(received)
            invocation.close()
        return module.stands_at(to)

    def write(
        self,
        module: Module,
        path: str | os.PathLike,
        output_format: str = "vm-bytecode",
        mlir_bytecode_version: int | None = None,
    ) -> None:
        """Writes ``module`` to ``path``: `vm-bytecode`, `vm-asm`, `vm-c`, `ir` (text at any phase) or `ir-bytecode`.

        ``mlir_bytecode_version`` applies to `ir-bytecode`; None is the current one. The file appears whole or not at all.
        """
        write_atomically(path, lambda file: self._write(module, file, output_format, mlir_bytecode_version))

    def _write(
        self, module: Module, path: Path, output_format: str, mlir_bytecode_version: int | None
    ) -> None:
        received: list[Diagnostic] = []
        invocation = self._invocation(received)
        try:
            output = library.Output.open_file(str(path))
            try:
                invocation.import_module(module.op)
                if output_format == "vm-bytecode":
                    invocation.output_vm_bytecode(output)
                elif output_format == "vm-c":
                    library.output_vm_c(invocation, output)
                elif output_format in ("vm-asm", "ir"):
                    invocation.output_ir(output)
                elif output_format == "ir-bytecode":
                    version = -1 if mlir_bytecode_version is None else mlir_bytecode_version
                    invocation.output_ir_bytecode(output, version)
                else:
                    raise UsageError(f"unknown output format '{output_format}'")
                output.keep()
            except (ValueError, RuntimeError):
                raise self._failed("end", received) from None
            finally:
                output.close()
        finally:
            self.diagnostics.extend(received)
            invocation.close()

    def refuse_unknown_dialects(self) -> None:
        """An op of a dialect that nobody knows is refused from now on, as stock does: dispatch creation crashes on one."""
        self.context.allow_unregistered_dialects = False

    @contextmanager
    def unknown_dialects(self, allowed: bool) -> Iterator[None]:
        """Within the block an op, a type or an attribute of an unknown dialect is allowed, or refused with IREE's message."""
        before = self.context.allow_unregistered_dialects
        self.context.allow_unregistered_dialects = allowed
        try:
            yield
        finally:
            self.context.allow_unregistered_dialects = before

    def remarks(self, pattern: str, file: str) -> None:
        """iree-compile's --remarks-filter and --remarks-output-file, for every run from now on."""
        self._remarks = (pattern, file)

    def _failed(self, phase: str, received: Sequence[Diagnostic]) -> PhaseFailed:
        """What IREE stopped with, and the front end's names for the places: its messages have none."""
        names = (
            contained("names of places", self._names_of_places, {}) if any(d.places for d in received) else {}
        )
        return PhaseFailed(phase, [diagnostic.named(names) for diagnostic in received])

    def _names_of_places(self) -> dict[Place, str]:
        """Read from the input once more: the module that failed is in an undefined state."""
        if self._names is None:
            content = _with_names(self._parsed) if self._parsed else b""
            self._names = {}
            if content:
                with suppress(ir.MLIRError):
                    self._names = names_of_places(ir.Module.parse(content, self.context).operation)
        return self._names

    def _invocation(self, received: list[Diagnostic]) -> library.Invocation:
        def hear(severity: str, text: str) -> None:
            received.append(parse_diagnostic(severity, text))
            if received[-1].is_error:
                self._on_error(received)

        invocation = self._session.invocation()
        library.send_diagnostics(invocation, hear)
        library.verify_ir(invocation, self._verify_ir)
        if self._dump_phases_to:
            library.dump_phases_to(invocation, self._dump_phases_to)
        if self._remarks:
            library.remarks(invocation, *self._remarks)
        return invocation

    def _parse(self, source: library.Source, name: str) -> Module:
        received: list[Diagnostic] = []
        invocation = self._invocation(received)
        try:
            with running(f"the parse of {without_scratch(name)}"):
                done = invocation.parse_source(source)
            if not done:
                raise PhaseFailed("start", received)
            op = invocation.export_module()
            return Module(op, "start", name, marks_of(op.operation))
        finally:
            self.diagnostics.extend(received)
            invocation.close()


def _with_names(path: Path) -> bytes:
    """The program, where its locations may have names: its text has locations, or it is bytecode. Else empty."""
    try:
        content = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
    except OSError:
        return b""
    return content if content.startswith(BYTECODE) or b"loc(" in content else b""
