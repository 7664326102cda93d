"""Workgroup memory that IREE's LLVMGPU pipelines (rocm, cuda) allocate, from the configuration alone.

Mirrors IREE 3.13, `Codegen/LLVMGPU/Passes.cpp` and the passes named at each function.
"""

from __future__ import annotations

from dataclasses import replace

from ..bounds.size_terms import product
from .prediction import PredictedBuffer, Prediction
from .tiles import ConfiguredDispatch, Dim, Op, Value, bytes_of, clamp
from .workgroup_tiles import handed_over

PADDING_BITS = 64
"""GPUReduceBankConflicts: bits added to each innermost row (addGPUTileAndFusePassPipeline,
VectorDistribute)."""
HANDED_OVER = "accumulator, read by a consumer with several results"
KNOWN_STAGES = 2
"""Prefetching with more stages than this may hold several copies of a tile (ROCDLPrefetchSharedMemory)."""


def tile_and_fuse(dispatch: ConfiguredDispatch) -> Prediction:
    """TileAndFuse: one tile per promoted operand (GPUPromoteMatmulOperands).

    A convolution run as a matrix product gathers its image from a tensor that must exist: where a producer
    was fused, the whole of it is held on chip, because no tile reaches through the gather
    (ConvolutionToIGEMM).
    """
    root = dispatch.root
    if root is None or root.config is None:
        return Prediction((), _shared_scalars(dispatch))
    promoted = root.config.lists.get("promote_operands", ())
    doubts = list(_unknown_keys(root))
    if int(dispatch.options.get("prefetch_num_stages", 0)) > KNOWN_STAGES:
        doubts.append(f"prefetching in {dispatch.options['prefetch_num_stages']} stages")
    if not promoted:
        return Prediction((), (*doubts, *_shared_scalars(dispatch)))
    gemm = root.gemm if dispatch.options.get("use_igemm_convolution") == "true" else None
    loops = gemm.loops if gemm else root.loops
    reduction = gemm.reduction if gemm else root.reduction
    if gemm:
        operands = [(index, root.inputs[number]) for index, number in gemm.operands]
    else:
        operands = [(value.index, value) for value in root.inputs]
    tiles = _promotion_tiles(root, loops, reduction)
    buffers = []
    for number in promoted:
        if number < len(operands):
            index, value = operands[number]
            shape = tuple(tiles[i.loop] for i in index if i is not None and i.loop is not None)
            if len(shape) < len(index):
                doubts.append("an operand that is read through a window is promoted")
                continue
            maker = root if value.maker is None else dispatch.ops[value.maker]
            buffers.append(_buffer(shape, value, "tile of a promoted operand", True, maker))
        else:
            value = root.inits[number - len(operands)]
            shape = tuple(tiles[i.loop] for i in value.index if i is not None and i.loop is not None)
            buffers.append(_buffer(shape, value, "tile of the promoted result", True, root))
    if gemm:
        buffers += _gathered_producers(dispatch, root, doubts)
    doubts += _shared_producers(dispatch, root)
    beside, cut_short, doubted = _beside_the_root(dispatch, root, loops)
    buffers += beside
    doubts += doubted
    if (start := _padded_start(dispatch, root, loops)) is not None:
        buffer, shortened = start
        buffers.append(buffer)
        cut_short |= shortened
    aligned = "padding" in root.config.lists or all(
        not isinstance(extent, str) and (reduced or extent % tile == 0)
        for extent, tile, reduced in zip(loops, tiles, reduction, strict=True)
        if isinstance(tile, int)
    )
    if not aligned and any(user.elementwise for user in dispatch.users(root)) and not root.config.intrinsic:
        # Partial tiles keep the loops of root and consumer apart, so the accumulator is handed over in shared
        # memory.
        value = root.inits[0]
        shape = tuple(tiles[i.loop] for i in value.index if i is not None and i.loop is not None)
        buffers.append(
            _buffer(shape, value, "accumulator between loops that partial tiles keep apart", True, root)
        )
    if root.config.intrinsic and any(len(user.inits) > 1 for user in dispatch.users(root)):
        # A consumer with two results is not fused into the loops of the root: the accumulator is handed over.
        value = root.inits[0]
        shape = tuple(tiles[i.loop] for i in value.index if i is not None and i.loop is not None)
        buffers.append(_buffer(shape, value, HANDED_OVER, True, root))
        doubts.append("a consumer with several results may be placed outside the root's loops")
    if aligned and not cut_short:
        buffers = _padded(dispatch, buffers)
    return Prediction(tuple(buffers), tuple(doubts))


def vector_distribute(dispatch: ConfiguredDispatch) -> Prediction:
    """VectorDistribute: one value per subgroup for each reduction that several subgroups share.

    Mirrors DistributeMultiReduction (GPUNestedLayoutDistributionPatterns): the reduced vector's shape, each
    reduced dimension replaced by its number of subgroups.
    """
    buffers: list[PredictedBuffer] = []
    doubts: list[str] = []
    workgroup = dispatch.root.config if dispatch.root else None
    for op in dispatch.ops:
        if not op.config:
            continue
        doubts += _unknown_keys(op)
        if op.config.lists.get("promote_operands"):
            doubts.append("operands promoted in the vector-distribution pipeline")
        if any(v.maker is not None and not v.plain and not dispatch.ops[v.maker].is_fill for v in op.inputs):
            doubts.append("a fused producer is read through a window or with a stride")
        counts = op.config.subgroups
        shared = 1
        for loop, reduced in enumerate(op.reduction):
            if reduced and loop < len(counts):
                shared *= counts[loop]
        if shared == 1 or not op.understood:
            continue
        tiling = op.config if "workgroup" in op.config.lists else workgroup
        shape: list[Dim] = []
        for loop, extent in enumerate(op.loops):
            if op.reduction[loop]:
                shape.append(counts[loop] if loop < len(counts) else 1)
            else:
                shape.append(clamp(tiling.tile("workgroup", loop) if tiling else 0, extent))
        reason = f"partial results of {shared} subgroups"
        buffers.append(_buffer(tuple(shape), op.inits[0], reason, False, op))
    return Prediction(tuple(_padded(dispatch, buffers)), tuple(doubts))


def distribute(dispatch: ConfiguredDispatch) -> Prediction:
    """Distribute (addGPUSimpleDistributePassPipeline): what one fused op hands to another, unpadded."""
    buffers, doubts = handed_over(dispatch, 1)
    return Prediction(tuple(buffers), tuple(doubts))


def base_lowering(dispatch: ConfiguredDispatch) -> Prediction:
    """BaseLowering: nothing for one op; results handed from op to op are not modelled."""
    working = [op for op in dispatch.ops if not op.is_fill]
    if len(working) > 1:
        return Prediction((), (f"{len(working)} ops in a pipeline that buffers what it cannot fuse",))
    return Prediction(())


def _promotion_tiles(root: Op, loops: tuple[Dim, ...], reduction: tuple[bool, ...]) -> tuple[Dim, ...]:
    """Each loop's tile. The innermost reduction counts in matrix intrinsics where there is one."""
    config = root.configuration
    innermost = max((k for k, reduced in enumerate(reduction) if reduced), default=-1)
    tiles: list[Dim] = []
    for k, extent in enumerate(loops):
        if reduction[k]:
            unit = config.intrinsic[2] if config.intrinsic and k == innermost else 1
            tile = config.tile("reduction", k) * unit
            tiles.append(tile if tile and unit > 1 else clamp(tile, extent))
        else:
            tile = config.tile("workgroup", k)
            padded = k < len(config.lists.get("padding", ())) and config.lists["padding"][k]
            tiles.append(tile if tile and padded else clamp(tile, extent))
    return tuple(tiles)


def _gathered_producers(dispatch: ConfiguredDispatch, root: Op, doubts: list[str]) -> list[PredictedBuffer]:
    image = root.inputs[0]
    if image.maker is None:
        return []
    producer = dispatch.ops[image.maker]
    if not producer.understood or image.result >= len(producer.inits):
        doubts.append(f"{producer.name} feeds the gathered operand of a convolution")
        return []
    value = producer.inits[image.result]
    whole = _buffer(value.shape, value, "whole tensor, no tile reaches it", False, producer)
    return [whole]


def _shared_producers(dispatch: ConfiguredDispatch, root: Op) -> list[str]:
    doubts = []
    for value in root.inputs:
        if value.maker is None:
            continue
        producer = dispatch.ops[value.maker]
        if producer.reduces or not producer.understood:
            doubts.append(f"{producer.name} feeds a promoted operand")
        elif len(dispatch.users(producer)) > 1:
            doubts.append("a fused producer has several consumers")
    return doubts


def _beside_the_root(
    dispatch: ConfiguredDispatch, root: Op, loops: tuple[Dim, ...]
) -> tuple[list[PredictedBuffer], bool, list[str]]:
    """Buffers of producers that ops behind the root read; whether one has no static size; doubts.

    A consumer is packed as the root's intrinsic is (GPUPackToIntrinsics), and so is what it reads. Where tiles do not divide an
    extent, that takes a tensor.pad, through which no thread's tile reaches (GPUFuseAndHoistParallelLoops): the producer's tile is
    handed over in shared memory. The last of several such tiles is cut short: bank conflicts are not padded away then. Without
    padding the producer is computed by the consumer's threads.
    """
    buffers, cut_short, doubts = [], False, []
    started = root.inits[0].maker
    if started is None or not dispatch.ops[started].is_fill:
        doubts.append("the accumulator starts from a tensor, not from a fill")
    behind = {root.number}
    for user in dispatch.ops:
        makers = {value.maker for value in (*user.inputs, *user.inits)}
        if not makers & behind or user is root:
            continue
        behind.add(user.number)
        for value in user.inputs:
            if value.maker is None or value.maker in behind or dispatch.ops[value.maker].is_fill:
                continue
            read = _loops_of_the_root(dispatch, root, user, value)
            if read is None:
                doubts.append("a consumer reads another fused producer")
                continue
            tiles = [root.configuration.tile("workgroup", loop) for loop in read]
            extents = [_static(loops[loop]) for loop in read]
            partial = [tile and extent % tile for tile, extent in zip(tiles, extents, strict=True)]
            if any(partial) and "padding" not in root.configuration.lists:
                doubts.append("a consumer reads another fused producer by partial tiles")
            elif any(partial):
                shape = tuple(clamp(tile, extent) for tile, extent in zip(tiles, extents, strict=True))
                buffers.append(
                    _buffer(
                        shape, value, "tile that a consumer reads padded", True, dispatch.ops[value.maker]
                    )
                )
                cut_short |= any(
                    rest and extent > tile for rest, tile, extent in zip(partial, tiles, extents, strict=True)
                )
    return buffers, cut_short, doubts


def _padded_start(
    dispatch: ConfiguredDispatch, root: Op, loops: tuple[Dim, ...]
) -> tuple[PredictedBuffer, bool] | None:
    """The accumulator's tile, where it starts from another number than 0 and tiles do not divide an extent; whether it is cut short.

    Padded by zeros, a fill of 0 is one fill again. Any other is padded by a tensor.pad, and handed over in shared memory as in
    `_beside_the_root`. Where a subgroup computes one intrinsic, its threads start from the number itself.
    """
    config = root.configuration
    if all(tile <= 1 for tile in config.lists.get("subgroup", ())):
        return None
    if not (config.intrinsic and "padding" in config.lists) or len(root.inits) != 1:
        return None
    value = root.inits[0]
    if value.maker is None or not value.plain:
        return None
    fill = dispatch.ops[value.maker]
    read = _single_loops(value)
    if not fill.is_fill or fill.fills_zero or any(not isinstance(loops[loop], int) for loop in read):
        return None
    tiles = [(config.tile("workgroup", loop), _static(loops[loop])) for loop in read]
    partial = [(tile, extent) for tile, extent in tiles if tile and extent % tile]
    if not partial:
        return None
    shape = tuple(clamp(tile, extent) for tile, extent in tiles)
    buffer = _buffer(shape, value, "accumulator that starts from another number than 0, padded", True, fill)
    return buffer, any(extent > tile for tile, extent in partial)


def _loops_of_the_root(
    dispatch: ConfiguredDispatch, root: Op, user: Op, value: Value
) -> tuple[int, ...] | None:
    """For each dimension of ``value``, made for ``user`` alone, the root's loop that tiles it; None where it is not known how."""
    assert value.maker is not None
    producer = dispatch.ops[value.maker]
    made_for_it = (
        producer.understood
        and producer.elementwise
        and len(producer.inits) == 1
        and dispatch.users(producer) == [user]
        and all(read.maker is None for read in producer.inputs)
    )
    direct = [read for read in user.inputs if read.maker == root.number]
    if not (
        root.configuration.intrinsic
        and made_for_it
        and value.plain
        and direct
        and user.elementwise
        and len(user.inits) == 1
    ):
        return None
    if not all(read.plain for read in (*direct, root.inits[0])) or not all(
        isinstance(extent, int) for extent in root.loops
    ):
        return None
    of_user = dict(zip(_single_loops(direct[0]), _single_loops(root.inits[0]), strict=True))
    read = [of_user[loop] for loop in _single_loops(value) if loop in of_user]
    return tuple(read) if len(read) == len(value.index) else None


def _single_loops(value: Value) -> list[int]:
    """The loop of each dimension of a plain ``value``."""
    return [index.loop for index in value.index if index is not None and index.loop is not None]


def _static(extent: Dim) -> int:
    assert isinstance(extent, int)
    return extent


def _shared_scalars(dispatch: ConfiguredDispatch) -> tuple[str, ...]:
    """Doubts about thread-tiled ops: results pass through registers unless the threads of a group must share
    them."""
    root = dispatch.root
    reducing = [op for op in dispatch.ops if op.reduces]
    if root is None:
        return ("several reductions and no tiling",) if len(reducing) > 1 else ()
    if not root.reduces or not dispatch.users(root):
        return ()
    for loop, extent in enumerate(root.loops):
        thread = root.config.tile("thread", loop) if root.config else 0
        if not root.reduction[loop] and (not isinstance(extent, int) or extent > max(1, thread)):
            return ()
    return ("one thread reduces what all threads read",)


def _unknown_keys(op: Op) -> tuple[str, ...]:
    return tuple(f"lowering configuration has '{key}'" for key in op.configuration.other)


def _buffer(shape: tuple[Dim, ...], value: Value, reason: str, scales: bool, op: Op) -> PredictedBuffer:
    return PredictedBuffer(
        shape, value.element, bytes_of(shape, value.bits), reason, scales, 1, op.tags, op.place
    )


def _padded(dispatch: ConfiguredDispatch, buffers: list[PredictedBuffer]) -> list[PredictedBuffer]:
    """GPUReduceBankConflicts: every innermost row grows by 64 bits, unless the sum would then exceed the
    limit."""
    if dispatch.options.get("no_reduce_shared_memory_bank_conflicts") == "true":
        return buffers
    if any(buffer.size.constant is None for buffer in buffers):
        return buffers
    grown = [pad_rows(buffer, PADDING_BITS) for buffer in buffers]
    if dispatch.limit is not None and sum(buffer.size.constant or 0 for buffer in grown) > dispatch.limit:
        return buffers
    # A buffer that is reshaped after its allocation is counted in the sum above, but keeps its rows.
    return [old if old.reason == HANDED_OVER else new for old, new in zip(buffers, grown, strict=True)]


def pad_rows(buffer: PredictedBuffer, padding_bits: int) -> PredictedBuffer:
    """``buffer`` with ``padding_bits`` more in each innermost row; a scalar has no rows."""
    if not buffer.shape or not isinstance(buffer.shape[-1], int):
        return buffer
    elements = product(buffer.shape).constant
    assert buffer.size.constant is not None
    bits = buffer.size.constant * 8 // max(1, elements or 1)
    shape = (*buffer.shape[:-1], buffer.shape[-1] + padding_bits // max(1, bits))
    return replace(buffer, shape=shape, size=bytes_of(shape, bits))
