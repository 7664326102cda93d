"""Lowering configurations that fissile tries where IREE's own choice does not generate code (IREE 3.13)."""

from __future__ import annotations

from collections.abc import Sequence

MAX_TILE = 64
PER_THREAD = 4
REDUCTION_TILE = 4


def tile_and_fuse(parallel: Sequence[bool], extents: Sequence[int | None], subgroup: int) -> str:
    """A `compilation_info` for one contraction by LLVMGPU's TileAndFuse, both operands promoted, no matrix
    units.

    ``parallel`` and ``extents`` describe the loops (None: dynamic); ``subgroup`` is the target's subgroup
    size. The two innermost parallel loops that are longer than 1 are tiled by at most 64, by 4 a thread; the
    innermost reduction by 4. Numbers are added up in the order of the program, in the accumulator's own type.
    """
    workgroup, thread, reduction = ([0] * len(parallel) for _ in range(3))
    wide = [i for i, kind in enumerate(parallel) if kind and extents[i] != 1][-2:]
    threads = 1
    for i, kind in enumerate(parallel):
        if not kind:
            continue
        tile = _power_below(extents[i], MAX_TILE) if i in wide else 1
        workgroup[i], thread[i] = tile, min(PER_THREAD, tile)
        threads *= tile // thread[i]
    innermost = max((i for i, kind in enumerate(parallel) if not kind), default=None)
    if innermost is not None:
        reduction[innermost] = _power_below(extents[innermost], REDUCTION_TILE)
    threads = -(-threads // subgroup) * subgroup
    config = (
        f"#iree_gpu.lowering_config<{{workgroup = {workgroup}, reduction = {reduction}, thread = {thread}, "
        "promote_operands = [0, 1]}>"
    )
    translation = (f"<pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [{threads}, 1, 1] "
                   f"subgroup_size = {subgroup}>")
    return f"#iree_codegen.compilation_info<lowering_config = {config}, translation_info = {translation}>"


def _power_below(extent: int | None, limit: int) -> int:
    """The largest power of two up to ``limit`` and ``extent``."""
    size = limit
    while extent is not None and size > max(1, extent):
        size //= 2
    return size
