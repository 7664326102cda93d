"""What ops do to the life of storage: which make it, end it, hand another name of it on, and which regions are pure."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.dialect import STORAGE_TYPE
from fissile.dialect.operands import inits
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..program.private_calls import FUNCTIONS

MEMREF, STORAGE, TENSOR, STREAM = (
    "memref.alloc",
    "fissile.alloc_storage",
    "fissile.alloc_tensor",
    iree_ops.STREAM_RESOURCE_ALLOCA,
)
CLONE = "bufferization.clone"
ALLOCATIONS = (MEMREF, STORAGE, STREAM, CLONE)
"""Ops whose first result is storage that is released by another op. A fissile.alloc_tensor is a part of one."""
RELEASES = {"memref.dealloc": MEMREF, "fissile.kill": STORAGE, iree_ops.STREAM_RESOURCE_DEALLOCA: STREAM}
"""Op that ends a life -> the allocation that it belongs to."""
RELEASE_OF = {made: name for name, made in RELEASES.items()}
CONSTANTS = ("arith.constant", "memref.get_global", iree_ops.UTIL_GLOBAL_LOAD, "ml_program.global_load_const")
"""Ops whose results live as long as the program does."""
STACK = ("memref.alloca",)

CASTS = ("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
"""Views that begin where the whole buffer does: what releases one releases the buffer."""
_VIEWS = (
    *CASTS,
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.view",
    "memref.expand_shape",
    "memref.collapse_shape",
    "memref.transpose",
    "memref.reshape",
    "memref.extract_strided_metadata",
    "bufferization.to_buffer",
    "bufferization.to_tensor",
    "tensor.cast",
    "tensor.extract_slice",
    "tensor.expand_shape",
    "tensor.collapse_shape",
    "tensor.reshape",
    "fissile.boundary",
    iree_ops.UTIL_OPTIMIZATION_BARRIER,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_START,
    iree_ops.TENSOR_EXT_COMPUTE_BARRIER_END,
    iree_ops.STREAM_RESOURCE_SUBVIEW,
    "builtin.unrealized_conversion_cast",
)
_IN_PLACE = ("tensor.insert", "tensor.insert_slice")

RETURNS = ("func.return", iree_ops.UTIL_RETURN)
LOOPS = ("scf.for", "scf.while", "scf.parallel", "scf.forall", "affine.for", "affine.parallel")
IMPURE_REGIONS = (
    *FUNCTIONS,
    *LOOPS,
    "builtin.module",
    iree_ops.UTIL_INITIALIZER,
    "scf.if",
    "scf.index_switch",
    "scf.execute_region",
    "affine.if",
    "memref.alloca_scope",
)
"""Ops in whose regions a side effect may stand. A region of any other op is pure, or its rules are not known: nothing is put there."""
_PURE = (
    iree_ops.FLOW_DISPATCH_REGION,
    iree_ops.FLOW_DISPATCH_WORKGROUPS,
    "fissile.group",
    "tensor.generate",
    "tensor.pad",
    "memref.generic_atomic_rmw",
    "scf.reduce",
    "vector.mask",
    iree_ops.STREAM_ASYNC_EXECUTE,
    iree_ops.STREAM_CMD_EXECUTE,
    iree_ops.STREAM_ASYNC_CONCURRENT,
    iree_ops.STREAM_CMD_CONCURRENT,
    iree_ops.STREAM_CMD_SERIAL,
    "scf.forall.in_parallel",
)


def is_pure_region(op: ir.Operation) -> bool:
    """Whether a side effect inside a region of ``op`` makes the program illegal. A forall that yields tensors is such an op."""
    if op.name == "scf.forall":
        return bool(len(op.results))
    return op.name in _PURE or op.name.startswith(("linalg.", iree_ops.LINALG_EXT_OPS))


def pure_region_around(op: ir.Operation) -> ir.Operation | None:
    """The nearest op around ``op``, inside its function, in whose region no side effect may stand."""
    parent = op.parent
    while parent is not None and parent.operation.name not in FUNCTIONS:
        if is_pure_region(parent.operation):
            return parent.operation
        parent = parent.operation.parent
    return None


def takes_side_effects(op: ir.Operation) -> bool:
    """Whether a release may be put into the regions of ``op`` and of all ops around it."""
    here = op
    while here is not None:
        here = here.operation
        if here.name not in IMPURE_REGIONS or is_pure_region(here):
            return False
        if here.name in FUNCTIONS:
            return True
        here = here.parent
    return True


def released(op: ir.Operation) -> ir.Value | None:
    """The value whose storage ``op`` releases; None where it releases none."""
    if op.name == "memref.dealloc":
        return view_of(op).memref
    if op.name == iree_ops.STREAM_RESOURCE_DEALLOCA:
        return view_of(op).operand
    return view_of(op).value if op.name == "fissile.kill" else None


def same_storage(op: ir.Operation) -> list[tuple[ir.Value, ir.Value]]:
    """(result, operand) for each result of ``op`` that stands on the storage of an operand: views, casts and what is
    computed in place in a destination."""
    results, values = list(op.results), list(op.operands)
    if op.name in _VIEWS:
        source = (
            view_of(op).source
            if op.name.startswith("memref.") and hasattr(view_of(op), "source")
            else values[0]
        )
        if op.name in (iree_ops.UTIL_OPTIMIZATION_BARRIER, "builtin.unrealized_conversion_cast"):
            return list(zip(results, values, strict=False))
        return [(results[0], source)]
    if op.name == TENSOR:
        return [(results[0], view_of(op).storage)]
    if op.name in _IN_PLACE:
        return [(results[0], view_of(op).dest)]
    if op.name in (iree_ops.STREAM_TIMEPOINT_AWAIT,):
        return list(zip(results, view_of(op).resource_operands, strict=False))
    if op.name.startswith(("linalg.", iree_ops.LINALG_EXT_OPS)) and results:
        return list(zip(results, inits(op), strict=False))
    return []


def is_storage_like(type_: ir.Type) -> bool:
    """Whether a value of this type is a name of storage: a memref, a storage, a resource. A tensor is one only on a storage."""
    return (
        isinstance(type_, (ir.MemRefType, ir.UnrankedMemRefType))
        or str(type_) == STORAGE_TYPE
        or is_resource(type_)
    )


def is_resource(type_: ir.Type) -> bool:
    return str(type_).startswith(iree_ops.RESOURCE_TYPE)


def is_timepoint(type_: ir.Type) -> bool:
    return str(type_) == iree_ops.TIMEPOINT_TYPE


def is_workgroup_memory(type_: ir.Type) -> bool:
    """Whether a memref lives in a workgroup's memory, which ends with the workgroup and is never released."""
    return isinstance(type_, ir.MemRefType) and "workgroup" in str(type_.memory_space)


def operands_of(ops: Sequence[ir.Operation]) -> list[ir.Value]:
    return [value for op in ops for value in op.operands]
