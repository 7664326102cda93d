"""Does a dispatch tile a loop of an attention that must be whole?"""

from __future__ import annotations

from collections.abc import Sequence

from fissile.effect import Effect
from fissile.finding import Finding
from fissile.passes.analysis.attention_tiles import TiledAttention, TiledLoop, tiled_attentions
from fissile.passes.analysis.dispatches import Dispatch
from fissile.passes.analysis.provenance import SourceOp

from .dispatch_places import root_places


def check_attention_tiles(dispatch: Dispatch, ops: Sequence[SourceOp] = ()) -> Finding | None:
    """FIS133 or FIS134 of the first attention of ``dispatch`` for which it does. ``ops`` are the source ops that its tags name."""
    for tiled in tiled_attentions(dispatch.inner_module()):
        if tiled.summed:
            return _finding("FIS133", dispatch, tiled, tiled.summed[0], ops)
        return _finding("FIS134", dispatch, tiled, tiled.indexed[0], ops)
    return None


_SENTENCES = {
    "FIS133": ("the head dimension, {extent}, is tiled by {tile} inside of the softmax", "a head dimension above {tile}"),
    "FIS134": ("its region reads the index of a loop of {extent} that is tiled by {tile}", "more than {tile} of them"),
}


def _finding(code: str, dispatch: Dispatch, tiled: TiledAttention, loop: TiledLoop, ops: Sequence[SourceOp]) -> Finding:
    what, where = _SENTENCES[code]
    said = what.format(extent="dynamic" if loop.extent is None else loop.extent, tile=loop.tile)
    will = "will be wrong" if loop.extent is not None else f"are wrong for {where.format(tile=loop.tile)}"
    place = tiled.place
    return Finding(
        code,
        f"the numbers of the attention {will}: {said}",
        subject=dispatch.name,
        target=dispatch.target.name,
        places=root_places(dispatch, ops) or ((place,) if place else ()),
        effect=Effect.WRONG,
    )
