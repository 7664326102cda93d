"""What may be done about one failing dispatch: sets of edits to try, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iree.compiler import ir

from fissile.effect import Effect
from fissile.passes.analysis.dispatch.given_configuration import given_configuration
from fissile.passes.analysis.dispatch.producers import ProducerGraph
from fissile.passes.analysis.dispatch.structure import loop_extents, structure_of
from fissile.passes.iree.backends import backend_named
from fissile.passes.iree.lowerings import (
    one_thread_per_butterfly,
    one_thread_per_element,
    one_thread_per_row,
    tile_and_fuse,
)
from fissile.passes.remedies.decompose.decompose_attention import why_not_decomposed
from fissile.passes.remedies.decompose.decompose_movement import why_not_moved
from fissile.passes.remedies.decompose.rank_sorts import why_not_ranked
from fissile.passes.remedies.decompose.read_by_element import why_not_by_element, why_not_flat
from fissile.passes.remedies.decompose.split_reductions import worth_splitting
from fissile.passes.remedies.decompose.split_results import why_not_apart
from fissile.passes.remedies.fusion.extend_operands import why_not_extended
from fissile.passes.remedies.fusion.set_lowering import SERIAL_OPS
from fissile.passes.remedies.fusion.widen_accumulators import why_not
from fissile.passes.remedies.narrow.expand_scalars import why_not_expanded
from fissile.quantity import Bytes

from ..probe.dispatch_check import CheckedDispatch
from .cut_search import Candidate, trial_sets
from .edits import (
    ATTENTION_APART,
    BY_ELEMENT,
    CONFIGURE,
    CUT,
    DECOMPOSE,
    DROP,
    EXPAND,
    EXTEND,
    FLAT,
    FLAT_SUMS,
    FOLD,
    MOVEMENT_APART,
    RANK,
    RESULTS_APART,
    SPLIT,
    WIDEN,
    Edit,
    edits,
)

UNKNOWN_CROSSING = 1 << 40
"""Ranks a result of dynamic size behind every static one."""


class Offers:
    """For the dispatches of one module, whose source ops are those of ``graph``."""

    def __init__(self, graph: ProducerGraph) -> None:
        self._graph = graph

    def trials(self, failing: CheckedDispatch, tags: Sequence[int]) -> Iterator[tuple[Edit, ...]]:
        """Sets of boundaries first: they change no number. Then what changes an op of the dispatch, then folding.

        What is endless is seen again only after a whole time limit, so there the surest set comes first.
        """
        candidates = self.candidates(failing, tags)
        endless = failing.finding.code == "FIS106"
        softmaxes = edits(DECOMPOSE, (tag for tag in tags if self._graph.ops[tag].name == "linalg.softmax"))
        narrow_sums = [tag for tag in tags if not why_not(self._graph.ops[tag])]
        given = edits(DROP, (tag for tag in tags if given_configuration(self._graph.ops[tag])))
        if given and failing.finding.effect is Effect.REFUSED:
            yield given
        if attentions := self._attentions(tags):
            producers = edits(
                CUT, (c.tag for c in candidates if self._graph.reaches(c.tag, [e.op for e in attentions]))
            )
            yield attentions
            if producers:
                yield (*producers, *attentions)
        if movements := edits(
            MOVEMENT_APART, (tag for tag in tags if not why_not_moved(self._graph.ops[tag]))
        ):
            yield movements
        if endless and softmaxes:
            yield softmaxes
        if failing.finding.code == "FIS112":
            # Vectors are beside their place where a result is stored into a part of a tensor: behind the last ops.
            if behind := edits(CUT, (c.tag for c in candidates if not self._graph.reaches(c.tag, tags))):
                yield behind
        yield from self._own_loops(failing, tags)
        yield from self._thread_per_element(failing, tags)
        if failing.finding.code in ("FIS104", "FIS108"):
            if expanded := edits(EXPAND, (tag for tag in tags if not why_not_expanded(self._graph.ops[tag]))):
                yield expanded
        if failing.unrolled:
            yield edits(CUT, failing.unrolled)
        for chosen in trial_sets(candidates, self._excess(failing), endless):
            if narrow_sums and failing.finding.code == "FIS103" and len(chosen) > 1:
                break  # 16-bit sums have no schedule, whatever stands around them
            yield edits(CUT, chosen)
        if softmaxes and not endless:
            yield softmaxes
        configured = self._configured(failing) if failing.dispatch.root is not None else ()
        if endless and configured:
            yield configured  # a matmul of 8-bit floats and odd sizes: what is endless is so for its operands extended, too (gfx942)
        if extends := edits(EXTEND, (tag for tag in tags if not why_not_extended(self._graph.ops[tag]))):
            yield extends
            if cut_too := edits(CUT, (c.tag for c in candidates if c.upstream)):
                yield (*cut_too, *extends)
        if apart := edits(RESULTS_APART, (tag for tag in tags if not why_not_apart(self._graph.ops[tag]))):
            yield apart
        if narrow_sums:
            yield edits(WIDEN, narrow_sums)
        yield from self._one_thread_each(failing, tags)
        if configured and not endless:
            yield configured
        producers = [c.tag for c in candidates if c.upstream]
        if producers:
            yield edits(FOLD, producers)
        if len(producers) > 1:
            yield from (edits(FOLD, (tag,)) for tag in producers)
        yield from self._by_element(failing, tags)

    def _own_loops(self, failing: CheckedDispatch, tags: Sequence[int]) -> Iterator[tuple[Edit, ...]]:
        """Other loops for the sums of a dispatch whose threads run too many of them, or all the same."""
        if failing.finding is None or failing.finding.code not in ("FIS125", "FIS127"):
            return
        if ranked := edits(RANK, (tag for tag in tags if not why_not_ranked(self._graph.ops[tag]))):
            yield ranked
        split = edits(SPLIT, (tag for tag in tags if worth_splitting(self._graph.ops[tag])))
        flat = tuple(
            Edit(BY_ELEMENT, tag, FLAT)
            for tag in tags
            if not why_not_flat(self._graph.ops[tag]) and not structure_of(self._graph.ops[tag]).all_parallel
        )
        yield from filter(None, (split, flat) if failing.finding.code == "FIS125" else (flat, split))

    def _thread_per_element(
        self, failing: CheckedDispatch, tags: Sequence[int]
    ) -> Iterator[tuple[Edit, ...]]:
        """Sums over several loops, which a subgroup adds up wrongly (FIS143), also once they are flat: a thread for each, or one loop."""
        if failing.finding is None or failing.finding.code not in ("FIS127", "FIS143"):
            return
        threads = failing.dispatch.target.subgroup
        sums = {
            tag: s.parallel
            for tag in tags
            if (s := structure_of(self._graph.ops[tag])) and s.parallel.count(False) > 1 and any(s.parallel)
        }
        if failing.finding.code == "FIS143" and sums:
            yield tuple(
                Edit(CONFIGURE, tag, one_thread_per_element(parallel, threads))
                for tag, parallel in sums.items()
            )
        if flat := [tag for tag in sums if not why_not_flat(self._graph.ops[tag], sums=True)]:
            yield tuple(Edit(BY_ELEMENT, tag, FLAT_SUMS) for tag in flat)

    def after(self, tried: Sequence[Edit], left: CheckedDispatch, tags: Sequence[int]) -> tuple[Edit, ...]:
        """What to try where ``tried`` has left only the loops of dispatch ``left`` to mend; nothing where that is not so.

        A boundary gives the sum behind it a dispatch of its own, and that other threads.
        """
        taken = {edit.op for edit in tried if edit.remedy != CUT}
        if any(edit.remedy == FOLD for edit in tried):
            return ()
        free = [tag for tag in left.dispatch.tags if tag in tags and tag not in taken]
        more = next(self._own_loops(left, free), ())
        return (*tried, *more) if more else ()

    def _attentions(self, tags: Sequence[int]) -> tuple[Edit, ...]:
        """Every attention of the dispatch taken apart; first of all, since no boundary around one gives it a schedule."""
        return edits(ATTENTION_APART, (tag for tag in tags if not why_not_decomposed(self._graph.ops[tag])))

    def _by_element(self, failing: CheckedDispatch, tags: Sequence[int]) -> Iterator[tuple[Edit, ...]]:
        """What always generates code, last: the root reads by element, then every op of the dispatch."""
        able = [tag for tag in tags if not why_not_by_element(self._graph.ops[tag])]
        if failing.dispatch.root in able and len(able) > 1:
            yield edits(BY_ELEMENT, (failing.dispatch.root,))
        if able:
            yield edits(BY_ELEMENT, able)

    def _configured(self, failing: CheckedDispatch) -> tuple[Edit, ...]:
        """The root of ``failing`` with tiles that always generate code, for targets that take a configuration."""
        target, root = failing.dispatch.target, failing.dispatch.root
        op = self._graph.ops[root]
        structure = structure_of(op)
        if (
            not backend_named(target.backend).takes_configuration
            or structure is None
            or structure.all_parallel
        ):
            return ()
        info = tile_and_fuse(structure.parallel, loop_extents(op, structure), target.subgroup)
        return (Edit(CONFIGURE, root, info),)

    def _one_thread_each(self, failing: CheckedDispatch, tags: Sequence[int]) -> Iterator[tuple[Edit, ...]]:
        """Sorts and their like that race, by one thread for what belongs together; then also with nothing fused behind them."""
        serial = [tag for tag in tags if failing.races and self._graph.ops[tag].name in SERIAL_OPS]
        if alone := tuple(
            Edit(CONFIGURE, tag, info) for tag in serial for info in _one_thread(self._graph.ops[tag])
        ):
            yield alone
            yield (*alone, *edits(CUT, serial))

    def candidates(self, failing: CheckedDispatch, tags: Sequence[int]) -> list[Candidate]:
        blamed = failing.footprint.by_tag()
        racing = {tag for race in failing.races for tag in race.tags[:1]}
        root = failing.dispatch.root
        found = []
        for tag in tags:
            # What follows the last source op (a slice that is stored elsewhere) can be cut off as well.
            last = failing.finding is not None and failing.finding.code == "FIS112"
            if (
                self._graph.ops[tag].name == "linalg.fill"
                and tag not in racing
                or not (last or self._graph.reaches(tag, tags))
            ):
                continue
            crossing = self._graph.result_bytes(tag)
            found.append(
                Candidate(
                    tag=tag,
                    blamed=blamed.get(tag, Bytes.exact(0)).value or 0,
                    crossing=UNKNOWN_CROSSING if crossing is None else crossing,
                    racing=tag in racing,
                    upstream=root is not None and tag != root and self._graph.reaches(tag, [root]),
                )
            )
        return found

    @staticmethod
    def _excess(failing: CheckedDispatch) -> int:
        finding = failing.finding
        if (
            finding is None
            or finding.limit is None
            or finding.ledger is None
            or finding.ledger.total.value is None
        ):
            return 0
        return max(0, finding.ledger.total.value - finding.limit.bytes)


def _one_thread(op: ir.Operation) -> Iterator[str]:
    """The configuration of one of SERIAL_OPS by which no two threads work on the same; none for an FFT whose stage is not known."""
    rank = ir.RankedTensorType(op.results[0].type).rank
    if "dimension" in op.attributes:
        yield one_thread_per_row(rank, ir.IntegerAttr(op.attributes["dimension"]).value)
        return
    stage = op.operands[0].owner
    if not isinstance(stage, ir.Block) and stage.operation.name == "arith.constant":
        copied = not all(any(True for _use in result.uses) for result in op.results)
        yield one_thread_per_butterfly(
            rank, ir.IntegerAttr(stage.operation.attributes["value"]).value, copied
        )
