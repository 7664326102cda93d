"""The source ops of a program and what feeds what, as plain data: what a report draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .fusion_groups import FusionGroup, members
from .producers import ProducerGraph
from .provenance import SourceOp


def graph_ops(ops: Sequence[SourceOp], graph: ProducerGraph) -> list[dict]:
    """For each source op its name, kind, type and place, and the indices of the ops that take its results, as JSON values."""
    return [
        {
            "name": op.name,
            "op": op.op,
            "type": op.type,
            "place": str(op.place) if op.place else "",
            "feeds": graph.consumers(index),
        }
        for index, op in enumerate(ops)
    ]


def failing_groups(groups: Sequence[FusionGroup], failing: Iterable[tuple[int, ...]]) -> list[int]:
    """Which of ``groups`` are dispatches with the source ops ``failing``, or of equal body."""
    wrong = {tags for tags_of_one in failing for tags in members(list(groups), tags_of_one)}
    return [number for number, group in enumerate(groups) if group.tags in wrong]
