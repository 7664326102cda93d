"""What ops do to the life of storage: which make it, end it, hand another name of it on, and which regions are pure."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.dialect import STORAGE_TYPE, ops_of
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
STORES = (
    iree_ops.UTIL_GLOBAL_STORE,
    "ml_program.global_store",
    iree_ops.STREAM_TENSOR_EXPORT,
    iree_ops.HAL_TENSOR_EXPORT,
)
"""Ops that put storage where others find it."""
_STRANGERS = ("func.call_indirect", "memref.extract_aligned_pointer_as_index")
"""Ops behind which the storage may be used, or released, where nobody can look."""
_BORROWERS = (
    "affine",
    "arith",
    "bufferization",
    "builtin",
    "cf",
    "fissile",
    "func",
    "linalg",
    "math",
    "memref",
    "ml_program",
    "scf",
    "tensor",
    "vector",
    *iree_ops.DIALECTS,
)
"""Dialects whose ops use storage only while they run, except for those named here."""

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


def stores(op: ir.Operation) -> bool:
    """Whether ``op`` puts storage among its operands where others find it."""
    if op.name == "memref.store":
        return is_storage_like(view_of(op).value.type)
    return op.name in STORES


def is_stranger(op: ir.Operation) -> bool:
    """Whether nobody knows what ``op`` does with storage among its operands: it may keep it, release it or hand it on."""
    if op.name in _STRANGERS:
        return True
    dialect = op.name.partition(".")[0]
    if dialect in _BORROWERS:
        return dialect != "fissile" and not op.context.is_registered_operation(op.name)
    if not op.context.is_registered_operation(op.name):
        return True
    return any(is_storage_like(value.type) for value in op.operands)


def released(op: ir.Operation) -> ir.Value | None:
    """The value whose storage ``op`` releases; None where it releases none."""
    if op.name == "memref.dealloc":
        return view_of(op).memref
    if op.name == iree_ops.STREAM_RESOURCE_DEALLOCA:
        return view_of(op).operand
    return view_of(op).value if op.name == "fissile.kill" else None


def released_inside(op: ir.Operation) -> list[ir.Value]:
    """What is released in the regions of ``op``."""
    found = (released(release) for name in RELEASES for release in ops_of(op, name))
    return [value for value in found if value is not None]


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
