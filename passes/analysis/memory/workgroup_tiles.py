"""Which part of each op's loops one workgroup computes, when producers are fused backwards from the root."""

from __future__ import annotations

from .prediction import PredictedBuffer
from .tiles import ConfiguredDispatch, Extent, Op, Value, bytes_of, clamp, region


def handed_over(dispatch: ConfiguredDispatch, alignment: int) -> tuple[list[PredictedBuffer], list[str]]:
    """A buffer for every result that one fused op hands to another: its tile, halo included; and doubts.

    Pipelines that bufferize a workgroup's tiles before they distribute them to threads allocate these.
    """
    tiles, doubts = tiles_backwards(dispatch)
    root, buffers = dispatch.root, []
    for op in dispatch.ops:
        if op.is_fill or op.stored or not op.understood or op.number not in tiles:
            continue
        if any(init.maker == op.number for user in dispatch.users(op) for init in user.inits):
            continue  # its user accumulates onto it, in place
        feeds_root = root is not None and op.number < root.number
        reason = "tile of a fused producer" if feeds_root else "accumulator tile, read by a fused consumer"
        scales = bool(root and root.config and any(any(level) for level in root.config.levels[:1]))
        for value in _read_results(dispatch, op):
            shape = region(value, tiles[op.number])
            size = bytes_of(shape, value.bits)
            buffers.append(
                PredictedBuffer(shape, value.element, size, reason, scales, alignment, op.tags, op.place)
            )
    return buffers, doubts


def _read_results(dispatch: ConfiguredDispatch, op: Op) -> list[Value]:
    """The results of ``op`` that other ops read, each as the init that it has the shape of; the first where none is known to be."""
    numbers = {
        v.result for user in dispatch.users(op) for v in (*user.inputs, *user.inits) if v.maker == op.number
    }
    return [init for number, init in enumerate(op.inits) if number in numbers] or [op.inits[0]]


def tiles_backwards(dispatch: ConfiguredDispatch) -> tuple[dict[int, tuple[Extent, ...]], list[str]]:
    """Each op's loop tiles in one workgroup: the root's by its configuration, the others' from what they feed
    or read.

    TileAndDistributeToWorkgroups tiles the last op and fuses producers backwards.
    """
    root, doubts = dispatch.root, []
    if root is None or not root.config or not root.understood:
        return {}, ["no op carries a configuration that this model reads"] if len(dispatch.ops) > 1 else []
    level = root.config.levels[0] if root.config.levels else ()
    tiles: dict[int, tuple[Extent, ...]] = {
        root.number: tuple(
            extent if root.reduction[k] else clamp(level[k] if k < len(level) else 0, extent)
            for k, extent in enumerate(root.loops)
        )
    }
    for op in dispatch.ops[root.number + 1 :]:  # consumers, in order
        for value in op.inputs:
            if value.maker in tiles and op.understood:
                maker = dispatch.ops[value.maker]
                if not maker.understood or value.result >= len(maker.inits):
                    doubts.append(f"{maker.name} feeds a fused op")
                    break
                given = region(maker.inits[value.result], tiles[value.maker])
                found: list[Extent] = list(op.loops)
                if value.reshaped or len(given) != len(value.index):
                    doubts.append("a reshape stands between two fused ops")
                    break
                for index, extent in zip(value.index, given, strict=True):
                    if index is not None and index.loop is not None:
                        found[index.loop] = extent
                tiles.setdefault(op.number, tuple(found))
    for op in reversed(dispatch.ops):  # producers
        if op.number not in tiles:
            continue
        for value in op.inputs:
            if value.maker is None or dispatch.ops[value.maker].is_fill:
                continue
            maker = dispatch.ops[value.maker]
            if not maker.understood or value.reshaped or value.result >= len(maker.inits):
                doubts.append(
                    f"{maker.name} feeds a fused op" + (" through a reshape" if value.reshaped else "")
                )
                continue
            needed = region(value, tiles[op.number])
            found = [*maker.loops]
            made = maker.inits[value.result]
            if len(made.index) != len(needed):
                doubts.append(f"{maker.name} feeds a fused op with another shape")
                continue
            for index, extent in zip(made.index, needed, strict=True):
                if index is not None and index.loop is not None:
                    found[index.loop] = extent
            if maker.number in tiles and tiles[maker.number] != tuple(found) and maker.number < root.number:
                doubts.append("a fused producer feeds two ops by different tiles")
            tiles.setdefault(maker.number, tuple(found))
    if dispatch.opaque:
        doubts.append("contains " + ", ".join(sorted(set(dispatch.opaque))))
    return tiles, doubts
