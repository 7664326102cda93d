"""Does a dispatch tile a loop of an attention that must be whole?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.analysis.dispatch.provenance import SourceOp
from fissile.passes.analysis.memory.attention_tiles import TiledAttention, TiledLoop, tiled_attentions

from ..dispatch_places import root_places


def check_attention_tiles(dispatch: Dispatch, ops: Sequence[SourceOp] = ()) -> Finding | None:
    """FIS133 or FIS134 of the first attention of ``dispatch`` for which it does. ``ops`` are the source ops that its tags name."""
    for tiled in tiled_attentions(dispatch.inner_module()):
        if tiled.summed:
            return _finding(
                "FIS133",
                "its head dimension, {extent}, is tiled by {tile} inside of the softmax",
                Effect.WRONG,
                dispatch,
                tiled,
                tiled.summed[0],
                ops,
            )
        if tiled.indexed:
            return _finding(
                "FIS134",
                "its region reads the index of a loop of {extent} that is tiled by {tile}",
                Effect.WRONG,
                dispatch,
                tiled,
                tiled.indexed[0],
                ops,
            )
        return _finding(
            "FIS134",
            "its running maxima and sums are updated by each tile of {tile} of a width of {extent}",
            Effect.WRONG if tiled.in_turn else Effect.MAY_BE_WRONG,
            dispatch,
            tiled,
            tiled.repeated[0],
            ops,
        )
    return None


def _finding(
    code: str,
    why: str,
    effect: Effect,
    dispatch: Dispatch,
    tiled: TiledAttention,
    loop: TiledLoop,
    ops: Sequence[SourceOp],
) -> Finding:
    extent = "dynamic" if loop.extent is None else loop.extent
    if loop.extent is None:
        effect = Effect.MAY_BE_WRONG
    will = (
        "will be wrong"
        if effect is Effect.WRONG
        else f"may be wrong (above {loop.tile})"
        if loop.extent is None
        else "may be wrong"
    )
    return Finding(
        code,
        f"the numbers of the attention {will}: {why.format(extent=extent, tile=loop.tile)}",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops) or ((tiled.place,) if tiled.place else ()),
        effect=effect,
    )
