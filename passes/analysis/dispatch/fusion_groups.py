"""Which source ops dispatch creation put into one dispatch, read before equal dispatches are merged.

IREE keeps one executable for all dispatches with equal bodies, and with it the locations of only one of them.
Grouping is read at phase dispatch-creation, where each region still stands by itself; groups of equal bodies
are members of one class, so that what is decided for the representative holds for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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


class MergedOps:
    """The source ops of a program that stand in none of ``groups``, although IREE computes them: it has merged each with an equal one."""

    def __init__(self, ops: Sequence[ir.Operation], groups: Iterable[FusionGroup]) -> None:
        standing = {tag for group in groups for tag in group.tags}
        self._ops = ops
        self._left = [tag for tag in range(len(ops)) if tag not in standing]
        self._texts: dict[int, str] = {}

    def alike(self, tag: int) -> tuple[int, ...]:
        """Those with the body and the types of source op ``tag``: where ``tag`` is edited and they are not, each becomes an op of its own."""
        name = self._ops[tag].name
        return tuple(
            one
            for one in self._left
            if one != tag and self._ops[one].name == name and self._text(one) == self._text(tag)
        )

    def _text(self, tag: int) -> str:
        if tag not in self._texts:
            self._texts[tag] = _canonical(self._ops[tag])
        return self._texts[tag]


def _canonical(op: ir.Operation) -> str:
    """The op's text without locations, with values renumbered in order of appearance."""
    text = op.get_asm(enable_debug_info=False, use_local_scope=True)
    numbers: dict[str, str] = {}
    return re.sub(r"%[\w$.#-]+", lambda m: numbers.setdefault(m.group(), f"%{len(numbers)}"), text)
