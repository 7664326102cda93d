"""The smallest program that fails as a given one does: one dispatch's ops, as few as still fail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir

from fissile.errors import UsageError, closest
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch, dispatches
from fissile.passes.analysis.dispatch.provenance import (
    SourceOp,
    describe_source_ops,
    place_of,
    source_ops,
    tag_source_ops,
)
from fissile.passes.analysis.dispatch.slice import slice_of, tensor_ops
from fissile.passes.iree.phases import BOUNDARIES_PLACED_AT, DISPATCHES_CONFIGURED_AT
from fissile.passes.remedies.narrow.index_forms import without_index_dialect

from ..phase_pipeline import PhasePipeline
from ..probe.diagnostics import parse_diagnostic
from ..probe.one_dispatch import Probed
from ..probe.probe_pool import ProbePool
from ..repair.loop import RepairLoop
from ..repair.packing import NARROW, find_narrow_in
from ..session import Module, PhaseFailed

MOST_OPS = 100
"""Of a program that is reduced as a whole: each try takes as long as its dispatches' code generation."""


@dataclass(frozen=True)
class Reduced:
    """``text`` is MLIR that stock iree-compile takes from the start; it fails with ``finding``.

    ``kept`` of the ``of`` ops of the whole program that make tensors are in it. ``differs`` says in what that is another failure
    than the program's; empty where code, root and message are the same.
    """

    text: str
    finding: Finding
    kept: int
    of: int
    differs: str = ""


@dataclass(frozen=True)
class _Failing:
    """A dispatch, the source ops and places in it, and what is wrong with it."""

    name: str
    tags: tuple[int, ...]
    places: frozenset[tuple[int, int]]
    """Lines and columns of the source."""
    finding: Finding
    root: str = ""
    """The name of the op that is the root of the dispatch; empty where IREE made the dispatch of no structured op."""

    @property
    def culprit(self) -> tuple[str, str, str, str]:
        """What has to stay the same: code, effect, root, and IREE's message without the numbers and names of one program."""
        error_message = parse_diagnostic("error", self.finding.detail).message.split(": %")[0]
        return (
            self.finding.code,
            self.finding.effect.value,
            self.root,
            re.sub(r"\d+(x\d+)*", "#", error_message),
        )


def reduce(phase_pipeline: PhasePipeline, origin: Module, pool: ProbePool, dispatch: str = "") -> Reduced:
    """Reduces ``origin`` (at global optimisation) to one failing dispatch: the one called ``dispatch``, or the first that
    fails by itself.

    Ops are left out as long as the same dispatch still fails: the same rule, root and message of IREE's. Raises UsageError where nothing fails, ``dispatch`` does not, or
    its program does not show what fails, and PhaseFailed where the program as a whole is refused.
    """
    found = _refused(phase_pipeline, origin, pool)
    if not found or dispatch and dispatch not in {failing.name for failing in found}:
        found += _narrow(phase_pipeline, origin, pool)
    chosen = _choose(found, dispatch)
    ops = tensor_ops(origin.op)
    tries = [(among, f, alike) for alike in (True, False) for among in (_own, _near, _all) for f in chosen]
    for among, wanted, alike in tries:
        kept = among(origin, ops, wanted)
        if (shown := _fails(phase_pipeline, ops, kept, pool, wanted, alike)) is not None:
            break
    else:
        raise UsageError(
            f"{chosen[0].name} fails only within its program ({chosen[0].finding.code})",
            "IREE decides its fusion or its tiles from ops outside of the dispatch",
        )
    # Halves first, then quarters, at last each op.
    size = len(kept) // 2
    while size:
        for first in range(0, len(kept), size):
            fewer = [index for index in kept if index not in kept[first : first + size]]
            if (still := _fails(phase_pipeline, ops, fewer, pool, wanted, alike)) is not None:
                kept, shown = fewer, still
                break
        else:
            size //= 2
    text, found_again = shown
    return Reduced(
        text, found_again.finding, len(kept), len(ops), "" if alike else _difference(wanted, found_again)
    )


def _difference(before: _Failing, after: _Failing) -> str:
    names = ("code", "effect", "root", "message")
    pairs = zip(names, before.culprit, after.culprit, strict=True)
    return "; ".join(
        f"{name}: {was or 'none'}, now {now or 'none'}" for name, was, now in pairs if was != now
    )


def _own(origin: Module, ops: Sequence[ir.Operation], failing: _Failing) -> list[int]:
    """Indices into ``ops`` of what is in the dispatch."""
    known = source_ops(origin.op)
    own = {hash(known[tag]) for tag in failing.tags}
    return [index for index, op in enumerate(ops) if hash(op) in own]


def _near(origin: Module, ops: Sequence[ir.Operation], failing: _Failing) -> list[int]:
    """And of what was written where it comes from: a dispatch may copy, or hold an op that IREE made of another."""
    own = set(_own(origin, ops, failing))
    return [
        index
        for index, op in enumerate(ops)
        if index in own
        or (place := place_of(op)) is not None
        and (place.line, place.column) in failing.places
    ]


def _all(_origin: Module, ops: Sequence[ir.Operation], _failing: _Failing) -> list[int]:
    """Everything, where that is little enough to ask of each op whether it is needed."""
    return list(range(len(ops))) if len(ops) <= MOST_OPS else []


def _choose(failing: Sequence[_Failing], name: str) -> Sequence[_Failing]:
    """The dispatch called ``name``, or all, each once."""
    by_name = {failed.name: failed for failed in reversed(failing)}
    if name and name not in by_name:
        raise UsageError(
            f"no failing dispatch is called '{name}'",
            closest(name, list(by_name)) if by_name else "nothing fails",
        )
    if not failing:
        raise UsageError(
            "every dispatch of the program generates code and fits", "there is nothing to reduce"
        )
    return [by_name[name]] if name else failing


def _refused(phase_pipeline: PhasePipeline, origin: Module, pool: ProbePool) -> list[_Failing]:
    """What code generation refuses, or is seen to do wrong."""
    repair_loop = RepairLoop(phase_pipeline, origin, pool)
    diagnosis = repair_loop.diagnose()
    if diagnosis.failed is not None:
        raise diagnosis.failed
    return [
        _failing(c.dispatch, c.finding, repair_loop.ops) for c in diagnosis.failing if c.finding is not None
    ]


def _narrow(phase_pipeline: PhasePipeline, origin: Module, pool: ProbePool) -> list[_Failing]:
    """Dispatches whose narrow elements are read or written wrongly (the codes in NARROW): IREE builds them."""
    clone = origin.clone()
    sources = describe_source_ops(clone.op)
    tag_source_ops(clone.op)
    phase_pipeline.advance(clone, DISPATCHES_CONFIGURED_AT)

    def probed(dispatch: Dispatch) -> Probed:
        return pool.probe_all([dispatch], convert=False)[0].probed

    return [
        _failing(d, finding, sources)
        for d in dispatches(clone.op)
        for finding in find_narrow_in([d], probed).found
    ]


def _failing(dispatch: Dispatch, finding: Finding, sources: Sequence[SourceOp]) -> _Failing:
    places = (*finding.places, *((dispatch.place,) if dispatch.place else ()))
    root = sources[dispatch.root].op if dispatch.root is not None and dispatch.root < len(sources) else ""
    return _Failing(
        dispatch.name, dispatch.tags, frozenset((place.line, place.column) for place in places), finding, root
    )


def _fails(
    phase_pipeline: PhasePipeline,
    ops: Sequence[ir.Operation],
    kept: Sequence[int],
    pool: ProbePool,
    wanted: _Failing,
    alike: bool,
) -> tuple[str, _Failing] | None:
    """The slice of those of ``ops`` that are ``kept`` as text and what fails in it, where that has the culprit of ``wanted``, or its
    code, where it need not be ``alike``."""
    if not kept:
        return None
    text = without_index_dialect(slice_of([ops[index] for index in kept])).get_asm(use_local_scope=False)
    try:
        module = phase_pipeline.session.parse_text(text, "reduced.mlir")
        phase_pipeline.advance(module, BOUNDARIES_PLACED_AT)
        failing = (_narrow if wanted.finding.code in NARROW else _refused)(phase_pipeline, module, pool)
    except PhaseFailed:
        return None
    same = (
        f
        for f in failing
        if (f.culprit == wanted.culprit if alike else f.finding.code == wanted.finding.code)
    )
    return next(((text, failed) for failed in same), None)
