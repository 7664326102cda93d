"""Does what code generation makes of a dispatch come as far as LLVM or SPIR-V, and link? On copies, each part run once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect import place_of_location
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import TAG_FILE, places_in, tags_in
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.pipelines import NO_PIPELINE, PIPELINE_CHOICE, TRANSLATION_INFO

from .converted_code import read_converted
from .diagnostics import Diagnostic, parse_diagnostic
from .linking import link


class Copy:
    """A copy of a dispatch's executable. It owns the ops: they are gone with it."""

    def __init__(self, dispatch: Dispatch, original: Copy | None = None) -> None:
        self._executable: ir.Operation = (original._executable if original else dispatch.executable).clone()
        self.inner = dispatch.inner_module(self._executable)

    def generate(self, pipeline: str) -> Diagnostic | None:
        """Runs ``pipeline`` on the inner module; returns the first error. After one the IR is as the pipeline left it."""
        with self.inner.context:
            try:
                PassManager.parse(pipeline).run(self.inner)
            except ir.MLIRError as error:
                return _first_error(error)
        return None

    def functions(self) -> Iterator[tuple[str, ir.Operation]]:
        """Name and op of each function that code is generated for."""
        for op in self.inner.regions[0].blocks[0].operations:
            if "sym_name" in op.operation.attributes:
                yield str(op.operation.attributes["sym_name"]), op.operation


class Conversion:
    """The conversion of one dispatch to LLVM or SPIR-V. It runs on first use, once."""

    def __init__(self, dispatch: Dispatch, flags: tuple[str, ...] = ()) -> None:
        """``flags`` as in `link`."""
        self._dispatch = dispatch
        self._flags = flags
        self._backend = backend_named(dispatch.target.backend)
        self._chosen: dict[str, str] = {}
        self.resumes_from: Copy | None = None
        """Lowered code; None: it begins at the beginning."""
        self._diagnostics: list[Diagnostic | None] = []

    def before_lowering(self, copy: Copy) -> None:
        """Notes what lowering takes off ``copy``, so that `after_lowering` can put it back."""
        for name, function in copy.functions():
            if TRANSLATION_INFO in function.attributes:
                self._chosen[name] = str(function.attributes[TRANSLATION_INFO])

    def after_lowering(self, copy: Copy) -> None:
        """Keeps a copy of lowered code, to go on from there.

        The pipeline that converts begins with lowering. It skips functions that say that they need none, and takes from them
        what lowering has moved to the export: the size of a workgroup. What comes out is the same as without a stop, except for
        SPIR-V, where lowering drops hints that conversion has a use for.
        """
        if not self._backend.conversion_resumes or not self._chosen:
            return
        kept = Copy(self._dispatch, copy)
        with kept.inner.context:
            for name, function in kept.functions():
                if name in self._chosen:
                    text = re.sub(PIPELINE_CHOICE, f"pipeline = {NO_PIPELINE}", self._chosen[name], count=1)
                    function.attributes[TRANSLATION_INFO] = ir.Attribute.parse(text)
        self.resumes_from = kept

    def diagnostic(self) -> Diagnostic | None:
        """The first error, or None where LLVM or SPIR-V comes out, and what LLVM calls is linked. Unusually large code is translated as well:
        the caller's deadline ends what LLVM does not."""
        if not self._diagnostics:
            self._diagnostics.append(self._convert())
        return self._diagnostics[0]

    def _convert(self) -> Diagnostic | None:
        if not self._backend.conversion:
            return None
        copy, self.resumes_from = self.resumes_from or Copy(self._dispatch), None
        failure = copy.generate(self._backend.conversion)
        if failure is not None:
            return failure
        code = read_converted(copy.inner, self._backend)
        if (left := code.unconverted) is not None:
            return parse_diagnostic(
                "error",
                f"{_plain(left.location)}: failed to legalize operation '{left.name}': left over after conversion",
            )
        if code.called is None and not code.unusual:
            return None
        if (refused := link(self._dispatch, self._flags)) is None:
            return None
        place = f"{_plain(code.called.location)}: " if code.called is not None else ""
        return parse_diagnostic("error", f"{place}{refused.message}")


def _first_error(error: ir.MLIRError) -> Diagnostic:
    for diagnostic in error.error_diagnostics:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            found = parse_diagnostic("error", f"{_plain(diagnostic.location)}: {diagnostic.message}")
            place = place_of_location(diagnostic.location)
            return found.named({place: place.name}) if place is not None else found
    return parse_diagnostic("error", str(error))


def _plain(location: ir.Location) -> str:
    text = str(location)
    places = [f"{TAG_FILE}:{tag}:1" for tag in tags_in(text)] + [str(place) for place in places_in(text)]
    return ": ".join(places) or "<unknown>"
