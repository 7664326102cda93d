"""What may be done about one failing dispatch: the rows of `strategies` that fit it, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from fissile.passes.analysis.dispatch.fusion_groups import FusionGroup, MergedOps
from fissile.passes.analysis.dispatch.producers import ProducerGraph

from ..probe.dispatch_check import CheckedDispatch
from .cut_search import Candidate
from .edits import CUT, FOLD, Edit
from .situation import Situation
from .strategies import IN_BODIES, OWN_REMEDY, STRATEGIES


class Offers:
    """For the dispatches of one module, whose source ops are those of ``graph``."""

    def __init__(self, graph: ProducerGraph) -> None:
        self._graph = graph

    def trials(self, failing: CheckedDispatch, tags: Sequence[int]) -> Iterator[tuple[Edit, ...]]:
        """Sets of edits to try, by the table of strategies from top to bottom."""
        case = Situation(failing, tags, self._graph)
        for strategy in STRATEGIES:
            if strategy.concerns(case):
                yield from filter(None, strategy.offer(case))

    def candidates(self, failing: CheckedDispatch, tags: Sequence[int]) -> list[Candidate]:
        return Situation(failing, tags, self._graph).candidates

    def merged(self, groups: Iterable[FusionGroup]) -> Callable[[Edit], tuple[Edit, ...]]:
        """For an edit of the body of an op of ``groups``: the same of each op that IREE has merged with it. An edit of one of them alone
        would make the next of them an op of its own, with the failure that the first had, and so on, round by round."""
        found = MergedOps(self._graph.ops, groups)

        @cache
        def merged(edit: Edit) -> tuple[Edit, ...]:
            if edit.remedy not in IN_BODIES:
                return ()
            alike = (Edit(edit.remedy, tag, edit.options) for tag in found.alike(edit.op))
            return tuple(one for one in alike if one.by.match(self._graph.ops[one.op]))

        return merged

    def after(self, tried: Sequence[Edit], left: CheckedDispatch, tags: Sequence[int]) -> tuple[Edit, ...]:
        """What to try where ``tried`` has left only dispatch ``left`` to repair, by strategies that follow others; nothing where
        that is not so. A boundary gives the sum behind it a dispatch of its own, and that other threads. A failure with a remedy of its
        own (wrong powers) may be left where another one (a function that is not linked) is repaired; its remedy changes bodies in place,
        and so also those that are changed already.
        """
        if any(edit.remedy == FOLD for edit in tried):
            return ()
        code = left.finding.code if left.finding is not None else ""
        own = OWN_REMEDY.get(code)
        taken = {edit.op for edit in tried if (edit.remedy == own if own else edit.remedy != CUT)}
        case = Situation(
            left, [tag for tag in left.dispatch.tags if tag in tags and tag not in taken], self._graph
        )
        for strategy in STRATEGIES:
            if strategy.follows and strategy.concerns(case):
                for wanted in filter(None, strategy.offer(case)):
                    return (*tried, *wanted)
        return ()
