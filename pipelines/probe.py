"""The exact answer for one dispatch: IREE's own code generation, up to its resource check, on a copy.

Agreed with the real compile on every gfx942 and Vulkan program of the public corpus, bytes equal.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.passes.analysis.dispatches import Dispatch
from fissile.passes.analysis.footprint import Allocation, Footprint, read_footprint
from fissile.passes.analysis.provenance import TAG_FILE, places_in, tags_in
from fissile.passes.analysis.sharing import unsynchronised

from .diagnostics import Diagnostic, parse_diagnostic
from .iree.names import LOWERING_PIPELINES, WORKGROUP_ALLOCATION_ALIGNMENT


@dataclass(frozen=True)
class Probed:
    """What code generation said about a dispatch.

    ``footprint`` holds the buffers at the point where code generation ended: after the resource check, or where it
    failed. ``failure`` is its first error, None where it went through. ``races`` are buffers that threads share
    with no barrier.
    """

    footprint: Footprint
    failure: Diagnostic | None
    races: tuple[Allocation, ...] = ()


def probe(dispatch: Dispatch) -> Probed:
    """Runs code generation on a copy of ``dispatch``; the module it belongs to stays as it is.

    Raises KeyError for a backend that IREE 3.13 has no lowering pipeline for.
    """
    pipeline = LOWERING_PIPELINES[dispatch.target.backend]
    executable = dispatch.executable.clone()
    inner = dispatch.inner_module(executable)
    failure = None
    with dispatch.executable.context:
        try:
            PassManager.parse(pipeline).run(inner)
        except ir.MLIRError as error:
            failure = _first_error(error)
        alignment = WORKGROUP_ALLOCATION_ALIGNMENT.get(dispatch.target.backend, 1)
        races = () if failure else unsynchronised(inner, alignment)
        return Probed(read_footprint(inner, alignment), failure, races)


def _first_error(error: ir.MLIRError) -> Diagnostic:
    for said in error.error_diagnostics:
        if said.severity == ir.DiagnosticSeverity.ERROR:
            return parse_diagnostic("error", f"{_plain(said.location)}: {said.message}")
    return parse_diagnostic("error", str(error))


def _plain(location: ir.Location) -> str:
    text = str(location)
    places = [f"{TAG_FILE}:{tag}:1" for tag in tags_in(text)] + [str(place) for place in places_in(text)]
    return ": ".join(places)
