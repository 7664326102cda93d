"""Tiles for the roots of a tuned program: those beside IREE's own, timed by a tuning spec; the winner is kept as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iree.compiler import ir

from fissile.passes.analysis.dispatch.dispatches import Dispatch, dispatches
from fissile.passes.analysis.dispatch.structure import loop_extents, structure_of
from fissile.passes.iree.attributes import LOWERING_CONFIG, TRANSLATION_INFO
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.lowerings import neighbours
from fissile.passes.iree.tuning_specs import Entry, compilation_info, why_unmatchable, write_spec

from ..session import Module
from .search import FASTER
from .timing import Timed

MOST_ROOTS = 2
"""Roots whose tiles are tried, those with the most work: each costs up to four compiles and three rounds of each."""
OWN = "IREE's own tiles"
TOGETHER = "the faster tiles together"


@dataclass(frozen=True)
class Tiling:
    """One root with other tiles. ``root`` numbers the roots; ``config`` is the lowering configuration that its dispatch is to get."""

    name: str
    config: str
    entry: Entry
    root: int = 0


@dataclass(frozen=True)
class Tilings:
    """What there is to try; ``flag`` is the one by which the backend reads a spec. ``why`` there is nothing, where that is so."""

    offers: tuple[Tiling, ...] = ()
    flag: str = ""
    why: str = ""


def tilings(configured: Module) -> Tilings:
    """Other tiles for the reductions of ``configured``, which must outlive them."""
    found = dispatches(configured.op)
    flags = {backend_named(dispatch.target.backend).spec_flag for dispatch in found}
    if len(flags) != 1 or not (flag := flags.pop()):
        return Tilings(why="the target's code generation reads no tuning spec")
    roots: dict[str, list[_Root]] = {}
    for dispatch in found:
        roots.setdefault(dispatch.fingerprint, []).extend(_roots_of(dispatch))
    same = [alike for alike in roots.values() if alike and alike[0].offers]
    ranked = sorted(same, key=lambda alike: -sum(root.work for root in alike))[:MOST_ROOTS]
    offers = tuple(
        replace(offer, root=number) for number, alike in enumerate(ranked) for offer in alike[0].offers
    )
    return Tilings(offers, flag, "" if offers else "no root has tiles to try beside IREE's own")


@dataclass(frozen=True)
class _Root:
    """An op that a spec can configure: how many steps its loops take, and its other tiles."""

    work: int
    offers: tuple[Tiling, ...]


def _roots_of(dispatch: Dispatch) -> list[_Root]:
    """The last configured reduction of ``dispatch``: the op that its tiles are chosen for."""
    inner, reducing = dispatch.inner_module(), []

    def visit(op: ir.Operation) -> ir.WalkResult:
        structure = structure_of(op) if LOWERING_CONFIG in op.attributes else None
        if structure is not None and not structure.all_parallel and not why_unmatchable(op):
            reducing.append((op, structure))
        return ir.WalkResult.ADVANCE

    inner.walk(visit)
    translation = next(
        (
            str(op.attributes[TRANSLATION_INFO])
            for op in inner.regions[0].blocks[0].operations
            if TRANSLATION_INFO in op.attributes
        ),
        "",
    )
    if not reducing or not translation:
        return []
    op, structure = reducing[-1]
    extents = loop_extents(op, structure)
    own = str(op.attributes[LOWERING_CONFIG])
    offers = [
        Tiling(
            f"{dispatch.name}: tiles of {size} along loop {loop}",
            config,
            Entry(op, compilation_info(config, translation), dispatch.name),
        )
        for loop, size, config in neighbours(own, structure.parallel, extents)
    ]
    return [_Root(math.prod(extent or 1 for extent in extents), tuple(offers))]


Build = Callable[[Sequence[tuple[str, tuple[Tiling, ...]]]], list[tuple[str, Path]]]
"""Compiled programs, by name; one that does not compile is left out."""
Time = Callable[[Sequence[tuple[str, Path]]], list[Timed]]
"""The fastest first; those that did not run last."""


def search_tilings(
    offers: Sequence[Tiling], build: Build, time: Time
) -> tuple[list[Timed], tuple[Tiling, ...]]:
    """All timings, and the tilings that are taken: for each root the fastest, where it takes at most FASTER of IREE's own time.

    The tilings of several roots are taken together only where together they are faster than the best of them alone.
    """
    built = build([(OWN, ()), *((one.name, (one,)) for one in offers)])
    timed = time(built)
    seconds = {row.name: row.seconds for row in timed if row.seconds is not None}
    best: dict[int, Tiling] = {}
    for one in sorted((one for one in offers if one.name in seconds), key=lambda one: seconds[one.name]):
        if OWN in seconds and seconds[one.name] <= FASTER * seconds[OWN]:
            best.setdefault(one.root, one)
    chosen = tuple(best.values())
    if len(chosen) < 2:
        return timed, chosen
    both = build([(TOGETHER, chosen)])
    alone = next(program for program in built if program[0] == chosen[0].name)
    last = time([alone, *both])
    again = {row.name: row for row in last}
    rows = [again.get(row.name, row) for row in timed] + [row for row in last if row.name == TOGETHER]
    return rows, chosen if last[0].name == TOGETHER and last[0].seconds is not None else chosen[:1]


def spec_of(chosen: Sequence[Tiling], flag: str) -> str:
    """The text of the spec with ``chosen``; its first line says how stock IREE takes it."""
    return f"// iree-compile --{flag}=THIS_FILE\n" + write_spec([one.entry for one in chosen])


def in_effect(configured: Module, configs: Sequence[str]) -> bool:
    """Whether ops of ``configured`` have all of ``configs``: that a spec matches nothing is no error of IREE's."""
    seen: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        if LOWERING_CONFIG in op.attributes:
            seen.add(str(op.attributes[LOWERING_CONFIG]))
        return ir.WalkResult.ADVANCE

    for dispatch in dispatches(configured.op):
        dispatch.inner_module().walk(visit)
    return seen >= {*configs}
