"""The edits that end what is right and slow: for who asks for speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fissile.finding import Finding
from fissile.passes.analysis.dispatch.fusion_groups import members
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.checks.speed.recomputation import check_recomputation, worth_cutting
from fissile.passes.checks.speed.transposed_matrices import check_transposed_matrices, worth_folding
from fissile.passes.checks.speed.unvectorised import check_unvectorised, worth_unrolling

from .cut_search import translate
from .edits import CUT, FOLD, UNROLL, Edit, edits
from .repair_case import Diagnosis


def speed_edits(
    before: Diagnosis, ops: Sequence[SourceOp], matrices: Mapping[int, int], fits: Callable[[Edit], bool]
) -> dict[Finding, tuple[Edit, ...]]:
    """What is slow of ``before``, with its edits in all dispatches of equal body: cuts behind recomputed producers and transpositions that end a
    vectorisation, convolutions unrolled that have none, and transpositions folded that ``matrices`` has. Without those that do not fit their ops."""
    found = {finding: edits(CUT, tags) for finding, tags in _cuts(before, ops).items()}
    unrolled = check_unvectorised(((one.dispatch, one.unvectorised) for one in before.checked), ops)
    if unrolled is not None:
        tags = set()
        for one in before.checked:
            costly = worth_unrolling(one.unvectorised)
            tags |= _spread(before, {each.tag for each in costly if each.tag is not None}, one.dispatch.tags)
        found[unrolled] = edits(UNROLL, tags)
    transposed = check_transposed_matrices(matrices, ops)
    if transposed is not None:
        found[transposed] = edits(FOLD, worth_folding(matrices))
    fitting = {finding: tuple(filter(fits, some)) for finding, some in found.items()}
    return {finding: some for finding, some in fitting.items() if some}


def _cuts(before: Diagnosis, ops: Sequence[SourceOp]) -> dict[Finding, tuple[int, ...]]:
    cuts: dict[Finding, tuple[int, ...]] = {}
    for checked in before.checked:
        producers = worth_cutting(checked.recomputed)
        tags = {p.tag for p in producers if p.tag is not None}
        finding = check_recomputation(checked.dispatch, producers, ops)
        if not tags or finding is None:
            continue
        cuts[finding] = tuple(sorted(_spread(before, tags, checked.dispatch.tags)))
    return cuts


def _spread(before: Diagnosis, tags: set[int], dispatch: Sequence[int]) -> set[int]:
    """``tags`` of one dispatch, and those that stand in their places in dispatches of equal body."""
    if not tags:
        return set()
    families = members(list(before.groups), tuple({*dispatch, *tags}))
    first = max(families, key=lambda family: len(tags & set(family)))
    return tags | {tag for family in families for tag in translate(sorted(tags), first, family)}
