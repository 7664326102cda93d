"""Does each thread of a subgroup reduction read its own part of a tile, or only the tile's diagonal?

IREE's VectorReductionToGPU (3.13, SPIR-V's SubgroupReduce) gives a vector to the threads of a workgroup. One that it
cannot give to them, as a gathered one, goes through workgroup memory, and each thread reads its part back: with its
number as the index of *every* dimension. A vector of one dimension is read right; of two or more, `[t, t]` is the
diagonal, and outside of the tile from the shortest dimension's size on.
"""

from __future__ import annotations

from iree.compiler import ir

from ..dispatch.provenance import place_of
from ..memory.footprint import WORKGROUP, Allocation, read_footprint
from ..memory.tiles import ConfiguredDispatch

_THREADS = ("gpu.thread_id", "gpu.lane_id")


def may_read_diagonal(codegen: str, dispatch: ConfiguredDispatch) -> bool:
    """Whether the dispatch has to be probed: a subgroup adds up over two or more loops."""
    return codegen == "SubgroupReduce" and any(op.reduces and sum(op.reduction) > 1 for op in dispatch.ops)


def diagonal_reads(function_or_module: ir.Operation, workgroup_alignment: int) -> tuple[Allocation, ...]:
    """Buffers in workgroup memory that a thread reads with its number as the index of several dimensions longer than 1.

    Reads generated code before it is converted. Each allocation's place is that of the first such read.
    """
    allocations: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "memref.alloc" and "workgroup" in str(op.results[0].type):
            allocations.append(op)
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit, ir.WalkOrder.PRE_ORDER)
    if not any(len(_long_dimensions(op.results[0])) > 1 for op in allocations):
        return ()
    buffers = [
        a for a in read_footprint(function_or_module, workgroup_alignment).allocations if a.space == WORKGROUP
    ]
    found = []
    for buffer, op in zip(buffers, allocations, strict=True):
        readers = [
            use.owner.operation
            for use in op.results[0].uses
            if _reads_diagonal(use.owner.operation, op.results[0])
        ]
        if readers:
            found.append(
                Allocation(buffer.space, buffer.bytes, buffer.type, buffer.tags, place_of(readers[0]))
            )
    return tuple(found)


def _long_dimensions(buffer: ir.Value) -> list[int]:
    return [dimension for dimension, size in enumerate(ir.MemRefType(buffer.type).shape) if size != 1]


def _reads_diagonal(op: ir.Operation, buffer: ir.Value) -> bool:
    if op.name == "vector.transfer_read" or op.name in ("memref.load", "vector.load"):
        at = [operand for operand in op.operands if isinstance(operand.type, ir.IndexType)]
        long = [at[dimension] for dimension in _long_dimensions(buffer) if dimension < len(at)]
        return any(
            long.count(index) > 1
            for index in long
            if not isinstance(index.owner, ir.Block) and index.owner.name in _THREADS
        )
    return False
