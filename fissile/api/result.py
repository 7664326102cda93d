"""What `fissile.compile`, `check` and `verify` return: the report, and with it the module that runs or the comparisons made."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fissile.errors import ExitCode, RunError, UsageError
from fissile.finding import Finding
from fissile.report import Report

from .programs import Program, program_file
from .python_words import in_python

if TYPE_CHECKING:
    from fissile.pipelines.numerics.certificate import Certificate, Check


class Result:
    """What `compile`, `check` and `verify` return. ``report`` has the findings; ``vmfb`` is the compiled module, or empty.

    ``program`` is the source; ``runtime`` is the one that the module was compiled for; ``certificate`` holds the comparisons of `verify`.
    """

    def __init__(
        self,
        report: Report,
        vmfb: bytes = b"",
        *,
        program: Program = "",
        runtime: str = "",
        certificate: Certificate | None = None,
    ) -> None:
        self.report = report
        self.vmfb = vmfb
        self.certificate = certificate
        self._program = program
        self._runtime = runtime
        self._signatures: Mapping[str, Any] = {}

    # --- the report

    @property
    def ok(self) -> bool:
        """Whether no error remains; for `verify`, whether everything that was compared agrees."""
        return not self.report.errors and (self.certificate is None or self.certificate.agrees)

    @property
    def command(self) -> str:
        """The command with the same effect: `compile`, `check` or `verify`."""
        return self.report.command

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, errors first."""
        return self.report.findings

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors: there is no module, or `check` failed."""
        return self.report.errors

    @property
    def repaired(self) -> bool:
        """Whether fissile repaired anything."""
        return self.report.repaired

    @property
    def output(self) -> str:
        """The file that was written; `<memory>` if only `vmfb` holds the module; empty if there is none."""
        return self.report.output

    @property
    def messages(self) -> tuple[str, ...]:
        """IREE's own warnings and remarks, unchanged."""
        return self.report.messages

    @property
    def facts(self) -> dict[str, Any]:
        """More facts, by name: docs/formats.md."""
        return self.report.facts

    @property
    def seconds(self) -> dict[str, float]:
        """The time of each step."""
        return self.report.seconds

    @property
    def exit_code(self) -> ExitCode:
        """The exit status of the command with the same effect."""
        return self.report.exit_code

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, as `--format=json` writes it: docs/formats.md."""
        from fissile.pipelines.report.json_document import document

        return dict(document(self.report, int(self.exit_code)))

    # --- the module

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the module to ``file``, completely or not at all. Raises UsageError if there is no module."""
        from fissile.api.arguments import file_path
        from fissile.pipelines.process.atomic_write import write_atomically

        module = self._module()
        write_atomically(file_path(file, "file"), lambda partial: partial.write_bytes(module))

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the module's functions."""
        return tuple(self._known_signatures())

    @in_python
    def run(
        self,
        *arrays: Any,
        function: str | None = None,
        runtime: str | None = None,
        timeout: float = 120.0,
    ) -> Any:
        """Calls ``function`` (default: the only one) with ``arrays``. Returns an array, or a tuple for several results.

        Arrays have the argument's element type. Python numbers, and lists of them, are converted: to an integer only what is a whole
        number in its range (3.0 is), to a float any number, rounded.

        It runs in a child process, for at most ``timeout`` seconds, on the runtime that the module was compiled for or on
        ``runtime`` (local-task, vulkan, cuda, hip). Raises UsageError for wrong arguments, RunError if the run fails.
        """
        from fissile.api.arguments import name_of, seconds
        from fissile.api.fitted_arrays import fitted
        from fissile.pipelines.numerics.runtimes import named, run
        from fissile.pipelines.numerics.signature import choose
        from fissile.pipelines.process.scratch import scratch

        module, timeout = self._module(), seconds(timeout, "timeout")
        function, runtime = name_of(function, "function", "main"), name_of(runtime, "runtime", "local-task")
        signature = choose(dict(self._known_signatures()), function, "the module")
        if signature.opaque:
            raise UsageError(signature.opaque, "call it with iree.runtime")
        (chosen,) = named([runtime or self._runtime or "local-task"])
        with scratch() as folder:
            file = folder / "module.vmfb"
            file.write_bytes(module)
            outcome = run(file, signature, fitted(arrays, signature), chosen, timeout)
        if isinstance(outcome, Finding):
            raise RunError(outcome.message, outcome.detail)
        return outcome[0] if len(outcome) == 1 else tuple(outcome)

    def _module(self) -> bytes:
        if not self.vmfb:
            why = "the program is refused" if self.errors else f"{self.command or 'this'} compiles none"
            raise UsageError(f"there is no module: {why}", "see the report: print(result)")
        return self.vmfb

    def _known_signatures(self) -> Mapping[str, Any]:
        """From the module; from its program where a front end leaves no types in the module, as torch-mlir does."""
        if not self._signatures:
            from fissile.pipelines.importers.imported import importable
            from fissile.pipelines.numerics.signature import signatures_of_source, signatures_of_vmfb
            from fissile.pipelines.process.scratch import scratch

            with program_file(self._module()) as file:
                self._signatures = signatures_of_vmfb(file.path)
            if not self._signatures:
                with program_file(self._program) as file, scratch() as folder:
                    self._signatures = signatures_of_source(importable(file.path, folder))
        return self._signatures

    # --- a verification

    @property
    def agrees(self) -> bool:
        """For `verify`: whether everything that was compared agrees."""
        return self._certificate().agrees

    @property
    def bit_identical(self) -> bool:
        """For `verify`: whether it agrees in every bit."""
        return self._certificate().bit_identical

    @property
    def sentence(self) -> str:
        """For `verify`: the verdict in one line."""
        return self._certificate().sentence

    @property
    def checks(self) -> tuple[Check, ...]:
        """For `verify`: each run of a program, compared output by output."""
        return self._certificate().checks

    @property
    def skipped(self) -> tuple[str, ...]:
        """For `verify`: what was not compared, and why."""
        return self._certificate().skipped

    def _certificate(self) -> Certificate:
        if self.certificate is None:
            raise UsageError(f"`fissile.{self.command}` compares no numbers", "fissile.verify does")
        return self.certificate

    # --- for a person

    def html(self) -> str:
        """The report as one HTML page that works offline and quotes lines of the program."""
        from fissile.api.rendering import page_of

        return page_of(self.to_json(), self._program)

    def _repr_html_(self) -> str:
        """The page in a frame, which keeps its styles apart from the notebook's."""
        page = html.escape(self.html())
        return f'<iframe title="fissile" srcdoc="{page}" style="width:100%;height:640px;border:0" sandbox></iframe>'

    def __str__(self) -> str:
        from fissile.api.rendering import text_of

        return text_of(self.report, self._program, self.certificate)

    def __repr__(self) -> str:
        made = f", {len(self.vmfb)} bytes" if self.vmfb else ""
        return f"<fissile.Result of {self.command}: {'ok' if self.ok else 'refused'}{made}, {len(self.findings)} findings>"
