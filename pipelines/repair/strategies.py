"""The table of strategies: for which failures which sets of edits are tried, in this order. `fissile explain --strategies` prints it.

Boundaries come before what changes an op: they change no number. Folding and reading by element come last: they always
generate code and are seldom the fastest. What is endless is seen again only after a whole time limit, so there the surest
set comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.effect import Effect
from fissile.passes.analysis.dispatch.narrow_types import uncommon_types
from fissile.passes.analysis.dispatch.structure import loop_extents
from fissile.passes.failures.diagonal_sum import DiagonalSum
from fissile.passes.failures.failure import Ending, codes_of
from fissile.passes.failures.redundant_computation import RedundantComputation
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.lowerings import (
    one_thread_per_butterfly,
    one_thread_per_element,
    one_thread_per_row,
    rows_of_cpu,
    tile_and_fuse,
)
from fissile.passes.plugins import REMEDIES, plugged
from fissile.passes.remedies.decompose.split_reductions import worth_splitting
from fissile.passes.remedies.fusion.set_lowering import ALONG_ROWS, SERIAL_OPS
from fissile.passes.remedies.remedy import OpRemedy

from .cut_search import trial_sets
from .edits import CUT, FOLD, Edit, edits
from .situation import Situation

Offer = Callable[[Situation], Iterator[tuple[Edit, ...]]]
"""Sets of edits, one after the other; an empty one counts as none."""

ENDLESS = codes_of(lambda one: one.ending is Ending.TIMED_OUT)
NOT_GENERATED = codes_of(lambda one: one.lacks_code)
BY_ELEMENT, CONFIGURE = "fissile-read-by-element", "fissile-set-lowering"
FLAT, FLAT_SUMS = "flat=true", "flat-sums=true"
OWN_REMEDY = {
    "FIS144": "fissile-enlarge-workgroups",
    "FIS147": "fissile-sign-powers",
    "FIS158": "fissile-guard-shifts",
    "FIS159": "fissile-guard-arctangents",
    "FIS193": "fissile-rewrite-hyperbolics",
    "FIS214": "fissile-reduce-angles",
    "FIS227": "fissile-guard-edges",
    "FIS188": "fissile-multiply-signed",
    "FIS191": "fissile-gather-sums",
    "FIS192": "fissile-widen-integers",
    "FIS196": "fissile-sign-remainders",
}
"""Failures that one remedy cures, on every op that it fits."""
IN_BODIES = frozenset(OWN_REMEDY.values()) - {OWN_REMEDY["FIS144"]}
"""Remedies of these that are about an op's body alone: ops of equal body have the failure alike, whatever dispatch they stand in."""
NONE_LEFT_OUT = tuple(
    OWN_REMEDY[code] for code in ("FIS147", "FIS158", "FIS192", "FIS193", "FIS196", "FIS214", "FIS227")
)
"""Remedies of these that fit only an op whose body has the failure: a trial without one of their edits leaves it."""


@dataclass(frozen=True)
class Strategy:
    """One row: for failures with one of ``codes`` (none: every one), and not with one of ``but``, ``offer`` is tried.

    ``when`` and ``edits`` say in words what the offer depends on and consists of. ``follows``: also for a dispatch that other
    edits have left to repair.
    """

    codes: tuple[str, ...]
    when: str
    edits: str
    offer: Offer
    but: tuple[str, ...] = ()
    follows: bool = False

    def concerns(self, case: Situation) -> bool:
        return case.code not in self.but and (not self.codes or case.code in self.codes)


def every(name: str, options: str = "", only: Callable[[ir.Operation], bool] = lambda op: True) -> Offer:
    """The remedy ``name`` on every op of the dispatch that it fits, all at once."""
    return lambda case: iter((case.each(name, options, only),))


def _own_remedy(case: Situation) -> Iterator[tuple[Edit, ...]]:
    yield case.each(OWN_REMEDY[case.code])


def _given_configurations(case: Situation) -> Iterator[tuple[Edit, ...]]:
    if case.failing.failure.effect is Effect.REFUSED:
        yield case.each("fissile-drop-configuration")


def _attentions(case: Situation) -> Iterator[tuple[Edit, ...]]:
    if attentions := case.each("fissile-decompose-attention"):
        yield attentions
        if producers := case.cut(lambda c: case.graph.reaches(c.tag, [edit.op for edit in attentions])):
            yield (*producers, *attentions)


def _behind_the_last(case: Situation) -> Iterator[tuple[Edit, ...]]:
    yield case.cut(lambda c: not case.graph.reaches(c.tag, case.tags))


def _flat(case: Situation) -> Iterator[tuple[Edit, ...]]:
    tags = [tag for tag in case.fits(BY_ELEMENT, FLAT) if case.reduces(tag)]
    yield tuple(Edit(BY_ELEMENT, tag, FLAT) for tag in tags)


def _long_sums(case: Situation) -> Iterator[tuple[Edit, ...]]:
    """Where threads do the same work, one loop for all of them ends that; where a thread works too long, only parts of its sum do."""
    split = every("fissile-split-reductions", "", worth_splitting)
    for offer in (_flat, split) if case.code == RedundantComputation.code else (split, _flat):
        yield from offer(case)


def _sums_of_several_loops(case: Situation) -> dict[int, tuple[bool, ...]]:
    """Source ops with a result that has dimensions, summed over two loops or more: which of their loops do not reduce."""
    found = {tag: structure.parallel for tag in case.tags if (structure := case.structure(tag))}
    return {tag: parallel for tag, parallel in found.items() if parallel.count(False) > 1 and any(parallel)}


def _thread_per_element(case: Situation) -> Iterator[tuple[Edit, ...]]:
    threads = case.failing.dispatch.target.subgroup
    sums = _sums_of_several_loops(case)
    yield tuple(_configured(tag, one_thread_per_element(parallel, threads)) for tag, parallel in sums.items())


def _nested_sums(case: Situation) -> Iterator[tuple[Edit, ...]]:
    if case.code == DiagonalSum.code:
        yield from _thread_per_element(case)
    yield from _flat_sums(case)


def _flat_sums(case: Situation) -> Iterator[tuple[Edit, ...]]:
    tags = case.fits(BY_ELEMENT, FLAT_SUMS, _sums_of_several_loops(case))
    yield tuple(Edit(BY_ELEMENT, tag, FLAT_SUMS) for tag in tags)


def _expanded(case: Situation) -> Iterator[tuple[Edit, ...]]:
    """Alone, and without vectors: 64-bit integers have none on SPIR-V. Constants that it has none of, in memory."""
    if held := case.each("fissile-hold-constants"):
        yield held
    if expanded := case.each("fissile-expand-scalars"):
        yield expanded
        yield (*expanded, *edits(BY_ELEMENT, case.fits(BY_ELEMENT)))


def _unrolled(case: Situation) -> Iterator[tuple[Edit, ...]]:
    yield edits(CUT, case.unrolled)


def _sums_of_64_bits(case: Situation) -> Iterator[tuple[Edit, ...]]:
    """SPIR-V has no vectors of 64-bit integers, whatever stands around a sum of them."""
    dispatch = case.failing.dispatch
    if dispatch.root is None or not backend_named(dispatch.target.backend).spirv:
        return
    if case.reduces(dispatch.root) and uncommon_types(case.op(dispatch.root), {"i64"}):
        yield edits(BY_ELEMENT, case.fits(BY_ELEMENT, among=(dispatch.root,)))


def _boundaries(case: Situation) -> Iterator[tuple[Edit, ...]]:
    if case.code in NOT_GENERATED:
        yield from _sums_of_64_bits(case)
    alone = case.code == "FIS103" and bool(case.fits("fissile-widen-accumulators"))
    for chosen in trial_sets(case.candidates, case.excess, case.code in ENDLESS):
        if alone and len(chosen) > 1:
            return  # 16-bit sums have no schedule, whatever stands around them
        yield edits(CUT, chosen)
    if stored := case.each("fissile-store-slices"):
        yield stored
        if producers := edits(CUT, case.producers):
            yield (*producers, *stored)


def _extended(case: Situation) -> Iterator[tuple[Edit, ...]]:
    if extended := case.each("fissile-extend-operands"):
        yield extended
        if producers := edits(CUT, case.producers):
            yield (*producers, *extended)


def _one_thread_each(case: Situation) -> Iterator[tuple[Edit, ...]]:
    if case.code == "FIS102":
        yield from _few_rows(case)
        return
    serial = [tag for tag in case.tags if case.races and case.op(tag).name in SERIAL_OPS]
    if alone := tuple(_configured(tag, info) for tag in serial for info in _one_thread(case.op(tag))):
        yield alone
        yield (*alone, *edits(CUT, serial))


def _few_rows(case: Situation) -> Iterator[tuple[Edit, ...]]:
    """Fewer rows at once, of ops that compute rows: of a CPU, whose stack holds a tile."""
    rows = {tag: case.op(tag) for tag in case.tags if case.op(tag).name in ALONG_ROWS}
    for columns in (64, 8, 1) if rows else ():
        infos = {tag: rows_of_cpu(_rank(op), _dimension(op), columns) for tag, op in rows.items()}
        yield tuple(_configured(tag, info) for tag, info in infos.items())


def _rank(op: ir.Operation) -> int:
    return ir.RankedTensorType(op.operands[0].type).rank


def _dimension(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["dimension"]).value


def _kept_results(case: Situation) -> Iterator[tuple[Edit, ...]]:
    """Results of FFTs and sorts that nothing uses: alone, and where threads share a row, with one thread for each row or butterfly. Sums that
    begin with a tensor that they read."""
    if kept := case.each("fissile-use-results"):
        yield kept
        if backend_named(case.failing.dispatch.target.backend).spirv:
            stages = [(e.op, info) for e in kept for info in _one_thread(case.op(e.op), kept=True)]
            yield (*kept, *(_configured(tag, info) for tag, info in stages))
    if copied := case.each("fissile-copy-inits"):
        yield copied


def _tabulated(case: Situation) -> Iterator[tuple[Edit, ...]]:
    """Alone, and where threads share a row, with one thread for each butterfly."""
    if given := case.each("fissile-tabulate-ffts"):
        yield given
        if backend_named(case.failing.dispatch.target.backend).spirv:
            stages = [(e.op, info) for e in given for info in _one_thread(case.op(e.op))]
            yield (*given, *(_configured(tag, info) for tag, info in stages))


def _tiled_root(case: Situation) -> Iterator[tuple[Edit, ...]]:
    target, root = case.failing.dispatch.target, case.failing.dispatch.root
    if root is None or not backend_named(target.backend).takes_configuration:
        return
    structure = case.structure(root)
    if structure is not None and not structure.all_parallel:
        extents = loop_extents(case.op(root), structure)
        yield (_configured(root, tile_and_fuse(structure.parallel, extents, target.subgroup)),)


def _folded(case: Situation) -> Iterator[tuple[Edit, ...]]:
    yield edits(FOLD, case.producers)
    if len(case.producers) > 1:
        yield from (edits(FOLD, (tag,)) for tag in case.producers)


def _by_element(case: Situation) -> Iterator[tuple[Edit, ...]]:
    able = case.fits(BY_ELEMENT)
    if case.failing.dispatch.root in able and len(able) > 1:
        yield edits(BY_ELEMENT, (case.failing.dispatch.root,))
    yield edits(BY_ELEMENT, able)


def _plugged(case: Situation) -> Iterator[tuple[Edit, ...]]:
    for cls in plugged(REMEDIES):
        if issubclass(cls, OpRemedy) and case.code in cls.cures:
            yield case.each(cls.name)


STRATEGIES: tuple[Strategy, ...] = (
    # codes, condition, edits, offer
    Strategy((), "IREE refuses it; an op has a configuration", "drop it", _given_configurations),
    Strategy((), "it has attentions", "decompose them; then boundaries, too", _attentions),
    Strategy(
        (),
        "it packs, unpacks, gathers, reads backwards",
        "read each element from its place",
        every("fissile-decompose-movement"),
    ),
    Strategy(ENDLESS, "it has softmaxes", "decompose them", every("fissile-decompose-softmax")),
    Strategy(
        tuple(OWN_REMEDY), "ops that its own remedy fits", "that, on all of them", _own_remedy, follows=True
    ),
    Strategy(
        ("FIS101", "FIS102", "FIS104", "FIS105", "FIS107", "FIS108"),
        "an unused result, a sum reads its init",
        "keep it; then also one thread; copy the init",
        _kept_results,
    ),
    Strategy(
        ("FIS107", "FIS111"),
        "an FFT stage has no table of factors",
        "give it one; then also one thread per butterfly",
        _tabulated,
    ),
    Strategy(("FIS112",), "an op feeds no other of its ops", "boundaries behind those", _behind_the_last),
    Strategy(("FIS125", "FIS127"), "it sorts", "sort by rank", every("fissile-rank-sorts"), follows=True),
    Strategy(
        ("FIS125", "FIS127"),
        "a sum of 4096 terms, or in several loops",
        "split it; one loop for its elements (FIS127: first)",
        _long_sums,
        follows=True,
    ),
    Strategy(
        ("FIS127", "FIS143"),
        "a sum over several loops",
        "FIS143: a thread per element; a loop for its terms",
        _nested_sums,
    ),
    Strategy(
        NOT_GENERATED,
        "an op or a constant that a target lacks",
        "expand or store it; then also by element",
        _expanded,
    ),
    Strategy((), "producers are unrolled over narrow elements", "boundaries behind those", _unrolled),
    Strategy(
        (),
        "it has producers or reads slices",
        "i64 sums by element; boundaries (FIS106: many)",
        _boundaries,
    ),
    Strategy((), "it has softmaxes", "decompose them", every("fissile-decompose-softmax"), but=ENDLESS),
    # A matmul of 8-bit floats and odd sizes: what is endless is so for its operands extended, too (gfx942).
    Strategy(
        ENDLESS, "AMD, NVIDIA: its root reduces", "configure tiles that always generate code", _tiled_root
    ),
    Strategy((), "a sum extends its operands", "extend them before it; then also boundaries", _extended),
    Strategy((), "an op has several results", "an op for each", every("fissile-split-results")),
    Strategy((), "a sum in f16 or bf16", "accumulate in f32", every("fissile-widen-accumulators")),
    Strategy(
        (),
        "sorts, scans, FFTs that race; rows on a CPU",
        "configure one thread, with boundaries; few rows",
        _one_thread_each,
    ),
    Strategy(
        (),
        "AMD, NVIDIA: its root reduces",
        "configure tiles that always generate code",
        _tiled_root,
        but=ENDLESS,
    ),
    Strategy((), "producers feed its root", "fold all of them; then each", _folded),
    Strategy((), "ops read tensors", "the root by element; then every op", _by_element),
    Strategy(
        ("FIS108", "FIS111"),
        "a sum over several loops",
        "one loop for its terms, one for its elements",
        _flat_sums,
    ),
    Strategy((), "a remedy of another package cures it", "that, on every op that it fits", _plugged),
)


def _configured(tag: int, info: str) -> Edit:
    return Edit(CONFIGURE, tag, f"info='{info}'")


def _one_thread(op: ir.Operation, kept: bool = False) -> Iterator[str]:
    """The configuration of one of SERIAL_OPS by which no two threads work on the same; none for an FFT whose stage is not known.
    ``kept``: all its results have a use, or will have one."""
    if "dimension" in op.attributes:
        yield one_thread_per_row(_rank(op), _dimension(op))
        return
    rank = ir.RankedTensorType(op.results[0].type).rank
    stage = op.operands[0].owner
    if not isinstance(stage, ir.Block) and stage.operation.name == "arith.constant":
        copied = not kept and not all(any(True for _use in result.uses) for result in op.results)
        yield one_thread_per_butterfly(
            rank, ir.IntegerAttr(stage.operation.attributes["value"]).value, copied
        )
