"""Which failing dispatches does a tuning spec alone make pass? Found by asking IREE, with the spec in force."""

from __future__ import annotations

import tempfile
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iree.compiler import ir

from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.dispatches import Dispatch, dispatches
from fissile.passes.analysis.dispatch.provenance import tag_source_ops, tags_of
from fissile.passes.analysis.dispatch.structure import loop_extents, structure_of
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.flags import TUNING_SPEC_FLAG
from fissile.passes.iree.lowerings import tile_and_fuse
from fissile.passes.iree.phases import DISPATCHES_CONFIGURED_AT
from fissile.passes.iree.tuning_specs import CONFIGURATION, Entry, why_unmatchable, write_spec
from fissile.quantity import total

from ..phase_pipeline import PhasePipeline
from ..probe.dispatch_check import CheckedDispatch
from ..session import Module, Session
from .loop import RepairLoop
from .repair_case import Diagnosis

TILES = ({"largest": 64, "whole": True}, {"largest": 64, "whole": False}, {"largest": 16, "whole": True})
"""The tiles that are tried, in this order: those that divide the loops, those that do not, small ones."""
REMEDY = "tuning spec"
Key = tuple[str, str]
"""A dispatch's name and variant."""


@dataclass(frozen=True)
class FoundSpec:
    """``text`` of the spec, and what ``repaired`` under it; empty where no configuration helps.

    ``after`` is the diagnosis with the spec in force, ``why_not`` says of each other dispatch why it is not in it.
    """

    text: str
    repaired: tuple[Finding, ...]
    after: Diagnosis
    why_not: dict[str, str]


class SpecSearch:
    """Looks for a spec for one module (at global optimisation) and leaves it in force in the module's session.

    ``folder`` keeps the files that the session reads; it must outlive the last compile.
    """

    def __init__(
        self, phase_pipeline: PhasePipeline, module: Module, repair_loop: RepairLoop, folder: Path
    ) -> None:
        self._phase_pipeline = phase_pipeline
        self._module = module
        self._repair_loop = repair_loop
        self._folder = folder

    def search(self, before: Diagnosis) -> FoundSpec:
        """Tries a configuration for each failing dispatch of ``before``, all at once, the next size for those that fail."""
        clone = self._module.clone()  # owns the roots that entries are written from
        tag_source_ops(clone.op)
        self._phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)
        formed = {_key(d): d for d in dispatches(clone.op)}
        wrong = {_key(c.dispatch): c for c in before.failing}
        found = {key: _root(formed[key]) for key in wrong}
        offers = {
            key: [
                Entry(root, _configuration(root, formed[key].target.subgroup, **tiles), key[0])
                for tiles in TILES
            ]
            for key, (root, _why) in found.items()
            if root is not None
        }
        chosen, after = self._choose(offers, wrong)
        if not chosen:
            self._in_force(None)
            return FoundSpec("", (), before, _why_not(found, chosen))
        repaired = tuple(_configured_finding(wrong[key], after) for key in chosen)
        return FoundSpec(write_spec(list(chosen.values())), repaired, after, _why_not(found, chosen))

    def _choose(
        self, offers: Mapping[Key, Sequence[Entry]], wrong: Container[Key]
    ) -> tuple[dict[Key, Entry], Diagnosis]:
        """The offers under which their dispatches pass, and the diagnosis with just these in force."""
        chosen: dict[Key, Entry] = {}
        now, holds = Diagnosis(), False
        for size in range(len(TILES)):
            tried = chosen | {key: entries[size] for key, entries in offers.items() if key not in chosen}
            if len(tried) == len(chosen):
                break
            now = self._under(list(tried.values()))
            if now.failed is None and _harmless(now, wrong):
                chosen = {key: entry for key, entry in tried.items() if key in _passing(now)}
            holds = len(chosen) == len(tried)
        while chosen and not holds:
            # What did not pass is left out, and the rest has to hold without it.
            now = self._under(list(chosen.values()))
            lost = chosen.keys() - _passing(now)
            holds = now.failed is None and not lost and _harmless(now, wrong)
            chosen = {key: entry for key, entry in chosen.items() if key not in lost} if holds or lost else {}
        return chosen, now

    def _under(self, entries: Sequence[Entry]) -> Diagnosis:
        self._in_force(write_spec(entries))
        return self._repair_loop.diagnose()

    def _in_force(self, text: str | None) -> None:
        """Makes the session read ``text`` as its tuning spec; None: none. IREE keeps what it read by path, so each has its own."""
        file = ""
        if text is not None:
            handle, file = tempfile.mkstemp(".mlir", "spec", self._folder)
            with open(handle, "w") as opened:
                opened.write(text)
        in_force(self._phase_pipeline.session, file)
        self._repair_loop.forget()


def in_force(session: Session, file: str | Path) -> None:
    """Makes ``session`` read ``file`` as its tuning spec, or none where it is empty."""
    session.set_flags([f"--{TUNING_SPEC_FLAG}={file}"])


def _key(dispatch: Dispatch) -> Key:
    return dispatch.name, dispatch.variant


def _passing(seen: Diagnosis) -> set[Key]:
    return {_key(c.dispatch) for c in seen.checked if c.finding is None}


def _why_not(found: Mapping[Key, tuple[ir.Operation | None, str]], chosen: Container[Key]) -> dict[str, str]:
    refused = "code generation refuses it with the configurations that were tried as well"
    return {key[0]: why or refused for key, (_root, why) in found.items() if key not in chosen}


def _harmless(seen: Diagnosis, wrong: Container[Key]) -> bool:
    """Whether only dispatches fail that failed before."""
    return all(_key(c.dispatch) in wrong for c in seen.failing)


def _root(dispatch: Dispatch) -> tuple[ir.Operation | None, str]:
    """The op of ``dispatch`` that a spec can configure, or None and why there is none."""
    if not backend_named(dispatch.target.backend).takes_configuration:
        return None, f"no configuration is known to repair it on {dispatch.target.backend}"
    reducing: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if CONFIGURATION in op.attributes or dispatch.root in tags_of(op):
            structure = structure_of(op)
            if structure is not None and not structure.all_parallel:
                reducing.append(op)
        return ir.WalkResult.ADVANCE

    dispatch.inner_module().walk(visit)
    if not reducing:
        return None, "its root is not a contraction or reduction"
    root = next((op for op in reducing if dispatch.root in tags_of(op)), reducing[-1])
    why = why_unmatchable(root)
    return (None, why) if why else (root, "")


def _configuration(root: ir.Operation, subgroup: int, **tiles) -> str:
    structure = structure_of(root)
    assert structure is not None  # of a root that reduces
    inputs = len(structure.maps) - len(root.results)
    return tile_and_fuse(structure.parallel, loop_extents(root, structure), subgroup, inputs=inputs, **tiles)


def _configured_finding(failing: CheckedDispatch, now: Diagnosis) -> Finding:
    """The finding of a dispatch that passes with the spec."""
    after = next(c for c in now.checked if _key(c.dispatch) == _key(failing.dispatch))
    count = total(a.bytes for a in after.footprint.allocations)
    facts = (
        ("after", f"{count.value} bytes ({count.how_known})"),
        ("costs", "no more dispatches and no intermediate; matrix units are not used"),
        ("rounding", "sums in the accumulator's own type, as the program says; their order may change"),
    )
    done, advice = (
        f"{verb} the dispatch's root tiles of its own, by a tuning spec" for verb in ("gave", "give")
    )
    return failing.failure.with_(severity=Severity.REPAIRED, helps=(Help(done, REMEDY, True, facts, advice),))
