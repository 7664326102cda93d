"""Which source ops dispatch creation put into one dispatch, read before equal dispatches are merged.

IREE keeps one executable for all dispatches with equal bodies, and with it the locations of only one of them.
Grouping is read at phase dispatch-creation, where each region still stands by itself; groups of equal bodies
are members of one class, so that what is decided for the representative holds for all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from .provenance import tags_of

_REGIONS = (iree_ops.FLOW_DISPATCH_REGION, iree_ops.FLOW_DISPATCH_WORKGROUPS)


@dataclass(frozen=True)
class FusionGroup:
    """The source ops of one dispatch region in program order, and a key that is equal for equal bodies."""

    tags: tuple[int, ...]
    key: str


def fusion_groups(module: ir.Operation) -> list[FusionGroup]:
    """The groups of a tagged module at phase dispatch-creation, in program order."""
    groups: list[FusionGroup] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name not in _REGIONS:
            return ir.WalkResult.ADVANCE
        tags: dict[int, None] = {}

        def collect(inner: ir.Operation) -> ir.WalkResult:
            if inner.name != "tensor.empty":  # ops in a body count: a producer may have been fused into it
                tags.update(dict.fromkeys(tags_of(inner)))
            return ir.WalkResult.ADVANCE

        op.walk(collect, ir.WalkOrder.PRE_ORDER)
        if tags:
            groups.append(FusionGroup(tuple(tags), _canonical(op)))
        return ir.WalkResult.SKIP

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return groups


def members(
    groups: list[FusionGroup], tags: tuple[int, ...], root: int | None = None
) -> list[tuple[int, ...]]:
    """Tag lists of all groups whose body equals that of the group with ``tags``; just ``tags`` where none is found.

    Of groups with as many of ``tags``, the one with ``root`` counts: a dispatch also carries the tag of what has computed its operands.
    Members have equal bodies, so position i of one corresponds to position i of another.
    """
    wanted = set(tags)
    best = max(groups, key=lambda g: (len(wanted & set(g.tags)), root in g.tags), default=None)
    if best is None or not wanted & set(best.tags):
        return [tags]
    return [g.tags for g in groups if g.key == best.key]


def _canonical(op: ir.Operation) -> str:
    """The op's text without locations, with values renumbered in order of appearance."""
    text = op.get_asm(enable_debug_info=False, use_local_scope=True)
    numbers: dict[str, str] = {}
    return re.sub(r"%[\w$.#-]+", lambda m: numbers.setdefault(m.group(), f"%{len(numbers)}"), text)
