"""How many narrow elements does one thread of a vectorised dispatch extend one by one? Pure: no IREE."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .tiles import ConfiguredDispatch, Op, Value

VECTORISED = "BaseVectorize"
"""SPIR-V's code generation of a root whose tiles become vectors of one thread."""
WORD_BITS = 32


@dataclass(frozen=True)
class Unrolled:
    """``elements`` narrower than a word that one thread reads, for producers that the ops ``tags`` make."""

    elements: int = 0
    tags: tuple[int, ...] = ()


def unrolled(dispatch: ConfiguredDispatch) -> Unrolled:
    """What a thread reads for the producers fused into the root's operands.

    IREE 3.13 tiles the root's sums, but no producer with them: a thread holds its producers' values for all of a sum, and
    reads each narrow element by itself, in code without a loop. Dynamic sizes are not unrolled, and count nothing.
    """
    root = dispatch.root
    if dispatch.pipeline != VECTORISED or root is None or not root.reduces or not root.understood:
        return Unrolled()
    if root.config is None or len(root.config.levels) < 3:
        return Unrolled()
    by_number = {op.number: op for op in dispatch.ops}
    narrow = [value for value in root.inputs if _reads_narrow(by_number, value)]
    tags = sorted({tag for value in narrow if value.maker is not None for tag in by_number[value.maker].tags})
    return Unrolled(sum(_held(root, value) for value in narrow), tuple(tags))


def _held(root: Op, value: Value) -> int:
    """Elements of ``value`` that one thread works on, over all of the root's sums; 0 where that is not known."""
    assert root.config is not None  # looked at by `unrolled`
    threads = root.config.levels[1]
    sizes = []
    for index in value.index:
        if index is None or index.loop is None:
            return 0
        extent = root.loops[index.loop]
        tile = threads[index.loop] if index.loop < len(threads) else 0
        if not isinstance(extent, int):
            return 0
        sizes.append(extent if root.reduction[index.loop] else min(tile or 1, extent))
    return prod(sizes)


def _reads_narrow(by_number: dict[int, Op], value: Value) -> bool:
    """Whether an op of the dispatch makes ``value`` out of elements narrower than a word."""
    pending = [value.maker] if value.maker is not None else []
    while pending:
        for given in by_number[pending.pop()].inputs:
            if given.maker is not None:
                pending.append(given.maker)
            elif 0 < given.bits < WORD_BITS and not given.shape_only:
                return True
    return False
