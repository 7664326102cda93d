"""Workgroup memory that IREE's SPIR-V pipelines (Vulkan) allocate, from the configuration alone.

Mirrors IREE 3.13, `Codegen/SPIRV/Passes.cpp` and the passes named at each function.
"""

from __future__ import annotations

from dataclasses import replace

from .predict_llvmgpu import pad_rows
from .prediction import PredictedBuffer, Prediction
from .tiles import ConfiguredDispatch, Dim, Extent, Op, Value, bytes_of, clamp, region
from .workgroup_tiles import handed_over

ALIGNMENT = 64
"""Bytes that every allocation is rounded up to (gpuAllocateWorkgroupMemoryFn: bufferization's default
alignment)."""
PADDING_BITS = 128
"""bankConflictReductionPaddingBits."""
COPY_BITS = 128
"""copyVectorNumBits (GPUTensorAlloc)."""


def base_distribute(dispatch: ConfiguredDispatch) -> Prediction:
    """BaseDistribute bufferizes one workgroup's tiles before it distributes them to threads.

    Every fused producer's tile, halo included, becomes a buffer; so does an accumulator that a consumer
    reads.
    """
    buffers, doubts = handed_over(dispatch, ALIGNMENT)
    return Prediction(tuple(buffers), tuple(doubts))


def matmul_promote(dispatch: ConfiguredDispatch) -> Prediction:
    """MatmulPromoteVectorize: both operands' tiles (GPUTensorAlloc), in several copies when pipelined."""
    depth = int(dispatch.options.get("pipeline_depth", 1)) or 1
    stage = int(dispatch.options.get("store_stage", 1))
    copies = depth + 1 if stage == 0 else depth if depth > 1 else 1
    return _promoted(dispatch, copies, result=_uneven(dispatch), reduction_level=0)


def cooperative_matrix(dispatch: ConfiguredDispatch) -> Prediction:
    """CooperativeMatrixVectorize: both operands, and the result where a fused consumer reads it
    (SPIRVTileAndPromote)."""
    depth = int(dispatch.options.get("pipeline_depth", 0))
    consumed = dispatch.root is not None and bool(dispatch.users(dispatch.root))
    return _promoted(dispatch, depth + 1 if depth > 0 else 1, result=consumed, reduction_level=2)


def subgroup_reduce(dispatch: ConfiguredDispatch) -> Prediction:
    """SubgroupReduce: one value per subgroup for a reduction that several subgroups share
    (VectorReductionToGPU)."""
    reducing = [op for op in dispatch.ops if op.reduces]
    subgroups = -(-dispatch.threads // max(1, dispatch.subgroup))
    if any(isinstance(extent, str) for op in reducing for extent in op.loops):
        return Prediction((), ("a reduction over a dynamic dimension keeps partial vectors",))
    if subgroups <= 1:
        return Prediction(())
    if len(reducing) > 1:
        return Prediction(
            (), ("several reductions in one dispatch are recomputed or shared as vectorization decides",)
        )
    buffers = [
        _buffer((subgroups,), op.inits[0], f"partial results of {subgroups} subgroups", False, op)
        for op in reducing
    ]
    return Prediction(tuple(buffers))


def vectorize(dispatch: ConfiguredDispatch) -> Prediction:
    """BaseVectorize: temporaries are private to a thread (gpuAllocateFunctionMemoryFn); no workgroup
    memory."""
    return Prediction(())


def base_lowering(dispatch: ConfiguredDispatch) -> Prediction:
    """BaseLowering: nothing for one op; results handed from op to op are not modelled."""
    working = [op for op in dispatch.ops if not op.is_fill]
    if len(working) > 1:
        return Prediction((), (f"{len(working)} ops in a pipeline that buffers what it cannot fuse",))
    return Prediction(())


def _uneven(dispatch: ConfiguredDispatch) -> bool:
    """Whether a consumer reads a result tile that the threads do not share evenly: it is not kept in vectors
    then."""
    root = dispatch.root
    if root is None or not root.config or not dispatch.users(root):
        return False
    level = root.config.levels[0]
    parallel = [level[k] for k, reduced in enumerate(root.reduction) if not reduced and k < len(level)]
    return any(
        tile % threads for tile, threads in zip(reversed(parallel), dispatch.workgroup, strict=False) if tile
    )


def _promoted(dispatch: ConfiguredDispatch, copies: int, result: bool, reduction_level: int) -> Prediction:
    root = dispatch.root
    if root is None or not root.config or not root.understood:
        return Prediction((), ("no root that this model reads",))
    levels = root.config.levels
    tiles: list[Dim] = []
    for k, extent in enumerate(root.loops):
        level = levels[reduction_level if root.reduction[k] else 0]
        tiles.append(clamp(level[k] if k < len(level) else 0, extent))
    buffers = []
    promotes = reduction_level > 0 or all(_copies_well(v, tuple(tiles)) for v in (*root.inputs, *root.inits))
    for value in root.inputs if promotes else ():
        shape = region(value, tuple(tiles))
        shape = (copies, *shape) if copies > 1 else shape
        reason = "tile of a promoted operand" + (f", {copies} copies in flight" if copies > 1 else "")
        buffers.append(
            _buffer(shape, value, reason, True, root if value.maker is None else dispatch.ops[value.maker])
        )
    if result:
        shape = region(root.inits[0], tuple(tiles))
        buffers.append(
            _buffer(shape, root.inits[0], "tile of the result, read by a fused consumer", True, root)
        )
    grown = [pad_rows(buffer, PADDING_BITS) for buffer in buffers]
    needed = [size for buffer in grown if (size := buffer.size.constant) is not None]
    if len(needed) == len(grown) and (dispatch.limit is None or sum(needed) <= dispatch.limit):
        buffers = grown
    doubts = [
        "a partial tile is not promoted"
        for tile, extent in zip(tiles, root.loops, strict=True)
        if not isinstance(extent, int) or not isinstance(tile, int) or extent % tile
    ]
    return Prediction(tuple(replace(b, alignment=ALIGNMENT) for b in buffers), tuple(doubts))


def _copies_well(value: Value, tiles: tuple[Dim, ...]) -> bool:
    """Whether rows of the tile are whole 128-bit copies; else GPUTensorAlloc promotes no operand."""
    innermost = region(value, tiles)[-1:]
    return bool(innermost) and isinstance(innermost[0], int) and innermost[0] % (COPY_BITS // value.bits) == 0


def _buffer(shape: tuple[Extent, ...], value: Value, reason: str, scales: bool, op: Op) -> PredictedBuffer:
    size = bytes_of(shape, value.bits)
    return PredictedBuffer(shape, value.element, size, reason, scales, ALIGNMENT, op.tags, op.place)
