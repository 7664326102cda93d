"""Which loops of an attention does a configured dispatch tile that must be whole?

IREE tiles an online attention by slicing its operands and copying its region as it is (3.13,
OnlineAttentionOp::getTiledImplementation). A slice of the head dimension is a sum of part of the products, and the softmax is
taken of each part; an index in the region counts from the beginning of the tile. Running maxima and sums do not have the
loops over the values' width: a tile of those begins with what the tile before has left, where they are read from memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place
from fissile.passes.iree.attributes import lowering_of

from ..dispatch.attention_roles import AttentionRoles, attentions_in, index_position
from ..dispatch.provenance import place_of, tags_of

_ACROSS_WORKGROUPS = ("distribution", "workgroup")
_WITHIN = ("vector_common_parallel", "vector_reduction", "reduction", "partial_reduction")
"""Keys of a lowering configuration by which IREE 3.13 tiles an attention: `distribution` and two more on llvm-cpu (LLVMCPU's
addCPULinalgExtTileAndVectorizePipeline), `workgroup` and two more on the GPUs (LLVMGPU's addGPUVectorDistributePassPipeline)."""


@dataclass(frozen=True)
class TiledLoop:
    """A loop that runs ``extent`` times (None: dynamic) and is tiled by ``tile``, which is less, or may be."""

    extent: int | None
    tile: int


@dataclass(frozen=True)
class TiledAttention:
    """An attention with the loops that are tiled and must not be: over its head dimension; those whose index its region reads;
    those that its running results do not have, with whether a workgroup runs several of their tiles.
    """

    tags: tuple[int, ...]
    place: Place | None
    summed: tuple[TiledLoop, ...]
    indexed: tuple[TiledLoop, ...]
    repeated: tuple[TiledLoop, ...] = ()
    in_turn: bool = False


def tiled_attentions(dispatch: ir.Operation) -> list[TiledAttention]:
    """The attentions of ``dispatch`` (its configured inner module) with a loop that must not be tiled, and is."""
    found = []
    for op in attentions_in(dispatch):
        lowering = lowering_of(op)
        if lowering is None:
            continue
        roles = AttentionRoles(op)
        lists = lowering.lists
        within = [lists[key] for key in _WITHIN if key in lists]
        tiles = [*within, *(lists[key] for key in _ACROSS_WORKGROUPS if key in lists)]
        read = {roles.scores[p] for p in map(index_position, roles.indices) if p < len(roles.scores)}
        width = sorted(set(roles.loops_of("output")) - set(roles.rows)) if _continues(roles) else []
        loops = TiledAttention(
            tags_of(op),
            place_of(op),
            _tiled(roles, tiles, roles.summed),
            _tiled(roles, tiles, sorted(read)),
            _tiled(roles, tiles, width),
            bool(_tiled(roles, within, width)),
        )
        if loops.summed or loops.indexed or loops.repeated:
            found.append(loops)
    return found


def _continues(roles: AttentionRoles) -> bool:
    """Whether a running result is read from memory. What computes it in the dispatch is computed for each tile, and so is right."""
    before = [roles.operands[name].owner for name in ("max", "sum") if name in roles.operands]
    return any(
        isinstance(owner, ir.Block) or not owner.operation.name.startswith("linalg.") for owner in before
    )


def _tiled(
    roles: AttentionRoles, levels: list[tuple[int, ...]], loops: Iterable[int]
) -> tuple[TiledLoop, ...]:
    found = []
    for loop in loops:
        extent = roles.extent(loop)
        sizes = [tiles[loop] for tiles in levels if loop < len(tiles) and tiles[loop] > 0]
        smallest = min(sizes, default=0)
        if smallest and (extent is None or smallest < extent):
            found.append(TiledLoop(extent, smallest))
    return tuple(found)
