"""Which loops of an attention does a configured dispatch tile that must be whole?

IREE tiles an online attention by slicing its operands and copying its region as it is (3.13,
OnlineAttentionOp::getTiledImplementation). A slice of the head dimension is a sum of part of the products, and the softmax is
taken of each part; an index in the region counts from the beginning of the tile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place

from .attention_roles import AttentionRoles, attentions_in, index_position
from .configured import read_config
from .provenance import place_of, tags_of

_LEVELS = ("distribution", "vector_common_parallel", "vector_reduction", "workgroup", "reduction", "partial_reduction")
"""Keys of a lowering configuration by which IREE 3.13 tiles an attention: three of llvm-cpu (LLVMCPU's
addCPULinalgExtTileAndVectorizePipeline), three of the GPUs (LLVMGPU's addGPUVectorDistributePassPipeline)."""


@dataclass(frozen=True)
class TiledLoop:
    """A loop that runs ``extent`` times (None: dynamic) and is tiled by ``tile``, which is less, or may be."""

    extent: int | None
    tile: int


@dataclass(frozen=True)
class TiledAttention:
    """An attention with the loops over its head dimension, and those whose index its region reads, that are tiled."""

    tags: tuple[int, ...]
    place: Place | None
    summed: tuple[TiledLoop, ...]
    indexed: tuple[TiledLoop, ...]


def tiled_attentions(dispatch: ir.Operation) -> list[TiledAttention]:
    """The attentions of ``dispatch`` (its configured inner module) with a loop that must not be tiled, and is."""
    found = []
    for op in attentions_in(dispatch):
        if "lowering_config" not in op.attributes:
            continue
        roles = AttentionRoles(op)
        levels = read_config(str(op.attributes["lowering_config"])).lists
        tiles = [levels[level] for level in _LEVELS if level in levels]
        read = {roles.scores[p] for p in map(index_position, roles.indices) if p < len(roles.scores)}
        summed, indexed = _tiled(roles, tiles, roles.summed), _tiled(roles, tiles, sorted(read))
        if summed or indexed:
            found.append(TiledAttention(tags_of(op), place_of(op), summed, indexed))
    return found


def _tiled(roles: AttentionRoles, levels: list[tuple[int, ...]], loops: Iterable[int]) -> tuple[TiledLoop, ...]:
    found = []
    for loop in loops:
        extent = roles.extent(loop)
        sizes = [tiles[loop] for tiles in levels if loop < len(tiles) and tiles[loop] > 0]
        smallest = min(sizes, default=0)
        if smallest and (extent is None or smallest < extent):
            found.append(TiledLoop(extent, smallest))
    return tuple(found)
