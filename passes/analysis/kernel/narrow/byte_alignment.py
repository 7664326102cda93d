"""Vectors of elements below a byte that code generation reads or writes from the beginning of a byte, wherever they begin.

IREE 3.13 emulates buffers of such elements by bytes (EmulateNarrowType, MLIR's VectorEmulateNarrowType). Where a vector fills whole
bytes, its position within the first byte is taken for 0 without a look at the address: four i4 at column 1 are read at column 0.
A store goes there as well, over its neighbours. Vectors that do not fill their bytes are right, or refused. Measured on llvm-cpu: 122 of 128 values of an i4 convolution of three columns.
"""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

from ...dispatch.narrow_types import PACKED_BOOLEAN
from ..vector_alignment import residues

BYTE_BITS = 8
_READS = ("vector.load", "vector.maskedload", "vector.transfer_read")
_WRITES = ("vector.store", "vector.maskedstore", "vector.transfer_write")
_ALLOCATED = (
    iree_ops.HAL_INTERFACE_BINDING_SUBSPAN,
    "memref.alloc",
    "memref.alloca",
    "memref.get_global",
)
"""They begin with a byte."""
_SAME_ADDRESS = ("memref.assume_alignment", "memref.cast", "memref.memory_space_cast")
_COUNTED = ("affine.apply", "arith.addi", "arith.subi", "arith.muli", "arith.constant")
_LOOPS = ("scf.for", "scf.forall")
_ANY_DEPTH = 24


def misread_types(function_or_module: ir.Operation) -> dict[str, bool]:
    """The element types of vectors that may begin within a byte, and whether some do in every call that runs them.

    Reads IR after vectorisation and bufferization, with views folded into accesses, before narrow types are emulated.
    """
    found: dict[str, bool] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _READS or op.name in _WRITES:
            misread = _misread(op)
            if misread is not None:
                name, certain = misread
                found[name] = found.get(name, False) or certain
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    return found


def _misread(op: ir.Operation) -> tuple[str, bool] | None:
    base = next((v for v in op.operands if isinstance(v.type, ir.MemRefType)), None)
    if base is None:
        return None
    buffer = ir.MemRefType(base.type)
    bits = below_a_byte(buffer.element_type)
    vector = next(
        (
            ir.VectorType(v.type)
            for v in (*op.results, *op.operands)
            if isinstance(v.type, ir.VectorType) and ir.VectorType(v.type).element_type == buffer.element_type
        ),
        None,
    )
    if not bits or vector is None or not buffer.rank:
        return None
    in_a_byte, count = BYTE_BITS // bits, vector.shape[-1]
    if count % in_a_byte:
        return None
    indices = [v for v in op.operands if isinstance(v.type, ir.IndexType)]
    positions, certain = _positions(base, buffer, indices, in_a_byte)
    if positions == {0}:
        return None
    return type_name(buffer.element_type, bits), certain


def type_name(element: ir.Type, bits: int) -> str:
    """``element``, of ``bits`` bits, as NARROW_TYPES spells it."""
    return PACKED_BOOLEAN if bits == 1 else str(element)


def below_a_byte(element: ir.Type) -> int:
    """The bits of an element that shares its byte with others; 0 of any other."""
    bits = getattr(element, "width", 0) if isinstance(element, (ir.IntegerType, ir.FloatType)) else 0
    return bits if bits < BYTE_BITS and bits and not BYTE_BITS % bits else 0


def _positions(
    base: ir.Value, buffer: ir.MemRefType, indices: list[ir.Value], modulus: int
) -> tuple[set[int], bool]:
    """The elements of its first byte that a vector at ``indices`` may begin at; whether the program decides it, and no value."""
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    strides, offset = buffer.get_strides_and_offset()
    anything = set(range(modulus))
    certain = True
    if _begins_with_a_byte(base):
        positions = {0}
    elif offset == dynamic:
        positions, certain = anything, False
    else:
        positions = {offset % modulus}
    for index, stride in zip(indices, strides, strict=False):
        if stride == dynamic:
            of_index = {0} if _is_zero(index) else anything
            certain = certain and of_index == {0}
        elif stride % modulus == 0:
            of_index = {0}
        else:
            of_index = {r * stride % modulus for r in residues(index, modulus)}
            certain = certain and (of_index == {0} or _is_counted(index))
        positions = {(a + b) % modulus for a in positions for b in of_index}
    return positions, certain


def _is_zero(index: ir.Value) -> bool:
    owner = index.owner
    return (
        not isinstance(owner, ir.Block)
        and owner.operation.name == "arith.constant"
        and ir.IntegerAttr(owner.operation.attributes["value"]).value == 0
    )


def _begins_with_a_byte(base: ir.Value) -> bool:
    """Whether ``base`` is a buffer as it was bound or allocated: its offset counts bytes."""
    while not isinstance(base.owner, ir.Block):
        op = base.owner.operation
        if op.name in _ALLOCATED:
            return True
        if op.name not in _SAME_ADDRESS:
            return False
        base = op.operands[0]
    return False


def _is_counted(index: ir.Value, depth: int = 0) -> bool:
    """Whether ``index`` comes from loops, workgroups and constants alone."""
    owner = index.owner
    if depth > _ANY_DEPTH:
        return False
    if isinstance(owner, ir.Block):
        return owner.owner.operation.name in _LOOPS
    op = owner.operation
    if op.name == iree_ops.HAL_INTERFACE_WORKGROUP_ID:
        return True
    return op.name in _COUNTED and all(_is_counted(v, depth + 1) for v in op.operands)
