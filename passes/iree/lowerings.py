"""Lowering configurations that fissile tries where IREE's own choice does not generate code (IREE 3.13)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

FFT = "iree_linalg_ext.fft"
MAX_TILE = 64
PER_THREAD = 4
REDUCTION_TILE = 4


def tile_and_fuse(
    parallel: Sequence[bool],
    extents: Sequence[int | None],
    subgroup: int,
    inputs: int = 2,
    largest: int = MAX_TILE,
    whole: bool = True,
) -> str:
    """A `compilation_info` for one contraction by LLVMGPU's TileAndFuse, its operands promoted, no matrix
    units.

    ``parallel`` and ``extents`` describe the loops (None: dynamic); ``subgroup`` is the target's subgroup
    size; ``inputs`` how many operands it reads, of which the first two are promoted. ``whole``: every tile
    divides its loop, so that no tile is cut off at the end: IREE 3.13 finds no bound for a buffer behind some
    that are. The two innermost
    parallel loops that are longer than 1 are tiled by at most ``largest``, by 4 a thread; the longest
    reduction by 4 and the others (a window's) by 1, so that no operand is promoted whole. Numbers are added
    up in the accumulator's own type, and in the program's order where one loop reduces.
    """
    workgroup, thread, reduction = ([0] * len(parallel) for _ in range(3))
    wide = [i for i, is_parallel in enumerate(parallel) if is_parallel and extents[i] != 1][-2:]
    threads = 1
    for i, is_parallel in enumerate(parallel):
        if not is_parallel:
            continue
        tile = _tile(extents[i], largest, whole) if i in wide else 1
        workgroup[i], thread[i] = tile, _tile(tile, PER_THREAD, True)
        threads *= tile // thread[i]
    summed = [i for i, is_parallel in enumerate(parallel) if not is_parallel]
    if summed:
        longest = max(summed, key=lambda i: (extents[i] is None, extents[i] or 0, i))
        for i in summed:
            reduction[i] = _tile(extents[i], REDUCTION_TILE, whole) if i == longest else 1
    threads = -(-threads // subgroup) * subgroup
    config = (
        f"#iree_gpu.lowering_config<{{workgroup = {workgroup}, reduction = {reduction}, thread = {thread}, "
        f"promote_operands = {list(range(min(2, inputs)))}}}>"
    )
    translation = (
        f"<pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [{threads}, 1, 1] "
        f"subgroup_size = {subgroup}>"
    )
    return f"#iree_codegen.compilation_info<lowering_config = {config}, translation_info = {translation}>"


def one_thread_per_row(rank: int, dimension: int) -> str:
    """A `compilation_info` by which SPIR-V gives each row of a sort, scan or topk along ``dimension`` a workgroup of one thread.

    IREE's own choice is 64 threads, of which all sort the same row where there is but one.
    """
    return _one_thread([0 if i == dimension else 1 for i in range(rank)])


def one_thread_per_butterfly(rank: int, stage: int, copied: bool = False) -> str:
    """The same for ``stage`` of an FFT along the last dimension: the smallest part that is computed in place from itself alone.

    IREE's own choice is 64 threads, of which all compute the same part. ``copied``: a tensor that is computed in place is first copied
    to workgroup memory, because nothing uses the result. That copy becomes one vector of the tensor's rank, which only BaseVectorize
    breaks down to what SPIR-V has (IREE 3.13: `vector.transfer_read op with rank > 1 should be broken down by prior passes`).
    """
    return _one_thread(
        [1] * (rank - 1) + [1 << stage], "BaseVectorize" if copied and rank > 1 else "BaseDistribute"
    )


def rows_of_cpu(rank: int, dimension: int, columns: int) -> str:
    """A `compilation_info` by which llvm-cpu computes ``columns`` rows along ``dimension`` of an op of ``rank`` loops at once: neighbours in the
    innermost other loop. IREE's own choice is 64 of each loop, and a tile of three has 1 MiB."""
    others = [i for i in range(rank) if i != dimension]
    tiles = [0 if i == dimension else columns if i == others[-1:][0] else 1 for i in range(rank)]
    config = f"#iree_cpu.lowering_config<distribution = {tiles}, vector_common_parallel = {tiles}>"
    translation = "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<Default>>"
    return f"#iree_codegen.compilation_info<lowering_config = {config}, translation_info = {translation}>"


def one_thread_per_element(parallel: Sequence[bool], threads: int) -> str:
    """A `compilation_info` by which SPIR-V gives each element of an op's result to one thread, which runs all loops that reduce.

    ``parallel`` describes the loops; a workgroup has ``threads`` threads along the innermost parallel one.
    """
    innermost = max(i for i, is_parallel in enumerate(parallel) if is_parallel)
    workgroup = [threads if i == innermost else int(is_parallel) for i, is_parallel in enumerate(parallel)]
    thread = [int(is_parallel) for is_parallel in parallel]
    return spirv_tiles(workgroup, thread, threads)


def _one_thread(tiles: Sequence[int], pipeline: str = "BaseDistribute") -> str:
    return spirv_tiles(tiles, tiles, 1, pipeline)


def spirv_tiles(
    workgroup: Sequence[int], thread: Sequence[int], threads: int, pipeline: str = "BaseDistribute"
) -> str:
    """A `compilation_info` for SPIR-V: the tile of a workgroup and of a thread, and ``threads`` along the innermost parallel loop."""
    return (
        f"#iree_codegen.compilation_info<lowering_config = #iree_codegen.lowering_config<tile_sizes = [{list(workgroup)}, {list(thread)}]>, "
        f"translation_info = <pipeline = #iree_gpu.spirv_pipeline<{pipeline}> workgroup_size = [{threads}, 1, 1]>>"
    )


_OUTER = ("distribution", "workgroup", "level 0")
_INNER = ("thread", "subgroup", "level 1")
_VECTORS = "vector_common_parallel"
_PADDING = "padding"


def neighbours(
    config: str, parallel: Sequence[bool], extents: Sequence[int | None]
) -> Iterator[tuple[int, int, str]]:
    """Lowering configurations beside IREE's own: a parallel loop, its workgroup's tile, and the configuration.

    ``config`` is the attribute of a root as text: `#iree_cpu` (distribution), `#iree_gpu` (workgroup, with thread or subgroup) or
    `#iree_codegen` (tile levels: workgroup, thread). Along each of the two longest tiled parallel loops, the tile of a workgroup is
    half and twice as large; on GPUs that of a thread with it, so that a workgroup keeps its threads. A tile that vectors do
    not fill, or that does not divide its loop, is left out.
    """
    lists = _lists(config)
    outer = next((name for name in _OUTER if name in lists), "")
    inner = next((name for name in _INNER if name in lists), "") if outer != "distribution" else ""
    if not outer or len(lists[outer]) > len(parallel):
        return
    vectors = lists.get(_VECTORS, ())
    wide = [i for i, tile in enumerate(lists[outer]) if parallel[i] and tile > 1 and extents[i]]
    for loop in sorted(wide, key=lambda i: extents[i] or 0)[-2:]:
        for halves in (True, False):
            padded = _PADDING if lists.get(_PADDING, [0] * loop + [0])[loop] == lists[outer][loop] else ""
            sizes = {name: lists[name][loop] for name in (outer, inner, padded) if name}
            if halves and any(size % 2 for size in sizes.values()):
                continue
            changed = {name: size // 2 if halves else size * 2 for name, size in sizes.items()}
            vector = vectors[loop] if loop < len(vectors) else 0
            if changed[outer] % (vector or 1) or (extents[loop] or 0) % changed[outer]:
                continue
            yield loop, changed[outer], _with_sizes(config, loop, changed)


_LIST = re.compile(r"(?:(\w+) = )?\[([-\d, ]+)\]")


def _named_lists(config: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The lists of integers in ``config``; one without a name is a tile level, by its number."""
    unnamed = 0
    for match in _LIST.finditer(config):
        yield match[1] or f"level {unnamed}", match
        unnamed += not match[1]


def _lists(config: str) -> dict[str, list[int]]:
    return {name: [int(size) for size in match[2].split(",")] for name, match in _named_lists(config)}


def _with_sizes(config: str, loop: int, sizes: dict[str, int]) -> str:
    """``config`` with the entry of ``loop`` in each list that ``sizes`` names."""
    parts, end = [], 0
    for name, match in _named_lists(config):
        if name in sizes:
            values = [size.strip() for size in match[2].split(",")]
            values[loop] = str(sizes[name])
            parts += [config[end : match.start(2)], ", ".join(values)]
            end = match.end(2)
    return "".join([*parts, config[end:]])


def _tile(extent: int | None, limit: int, whole: bool) -> int:
    """The largest divisor of ``extent`` up to ``limit``, or where not ``whole`` the largest power of two."""
    if extent is not None and whole:
        return max(size for size in range(1, max(1, min(extent, limit)) + 1) if extent % size == 0)
    size = limit
    while extent is not None and size > max(1, extent):
        size //= 2
    return size
