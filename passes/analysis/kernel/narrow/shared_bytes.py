"""Which elements below a byte do several threads write into the same byte, each by reading the byte and writing it back?

On AMD IREE 3.13 emulates buffers of such elements by bytes without atomic operations (AMDGPUEmulateNarrowType): where one thread writes the lower
half of a byte and another one the upper half, one of the two is lost. The other backends write them with atomic operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iree.compiler import ir

from fissile.dialect.operands import operands_named
from fissile.passes.iree import ops as iree_ops

from ..vector_alignment import is_multiple
from .byte_alignment import BYTE_BITS, below_a_byte, type_name

_IDS = ("gpu.thread_id", "gpu.lane_id", "gpu.block_id", iree_ops.HAL_INTERFACE_WORKGROUP_ID)
_PRIVATE = "private"
_VECTORS = ("vector.store", "vector.maskedstore", "vector.transfer_write")
_SUMS = ("arith.addi", "arith.subi", "arith.ori", "arith.xori")
_SAME = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci")
_VIEWS = (
    "amdgpu.fat_raw_buffer_cast",
    "memref.assume_alignment",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.memory_space_cast",
)
_ANY_DEPTH = 32


def types_in_shared_bytes(function_or_module: ir.Operation) -> tuple[str, ...]:
    """The element types of which two threads may write parts of one byte, each once, in program order.

    Reads IR after vectorisation and bufferization, with views folded into accesses, before narrow types are emulated.
    """
    found: dict[str, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        for base, indices in _writes(op):
            if name := _shared(base, indices):
                found[name] = None
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    return tuple(found)


def _writes(op: ir.Operation) -> Iterator[tuple[ir.Value, list[ir.Value]]]:
    """The buffers that ``op`` writes, each with the indices of the first element; no indices: from the beginning."""
    if op.name == "memref.store" or op.name in _VECTORS:
        base = next((v for v in op.operands if isinstance(v.type, ir.MemRefType)), None)
        if base is not None and not _in_whole_bytes(op, ir.MemRefType(base.type).element_type):
            yield (
                base,
                [v for v in op.operands if isinstance(v.type, ir.IndexType)][
                    -ir.MemRefType(base.type).rank :
                ],
            )
    elif op.name == "memref.copy":
        yield op.operands[1], []
    elif op.name.startswith("linalg.") and "operandSegmentSizes" in op.attributes and not op.results:
        inputs = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[0]
        for value in list(op.operands)[inputs:]:
            if isinstance(value.type, ir.MemRefType):
                yield value, []


def _in_whole_bytes(op: ir.Operation, element: ir.Type) -> bool:
    """Whether ``op`` writes a vector that fills bytes; where it begins within one, that is FIS138's."""
    bits = below_a_byte(element)
    vector = next((ir.VectorType(v.type) for v in op.operands if isinstance(v.type, ir.VectorType)), None)
    return bool(
        bits
        and vector is not None
        and vector.rank
        and op.name != "vector.maskedstore"
        and vector.shape[-1] % (BYTE_BITS // bits) == 0
    )


def _shared(base: ir.Value, indices: Sequence[ir.Value]) -> str:
    """The type of the elements of ``base`` where threads that write at ``indices`` may write parts of one byte; or nothing."""
    buffer = ir.MemRefType(base.type)
    bits = below_a_byte(buffer.element_type)
    if not bits or not buffer.rank or _PRIVATE in str(buffer.memory_space):
        return ""
    in_a_byte = BYTE_BITS // bits
    if _any_varies(buffer, indices, in_a_byte) or _begins_apart(base, in_a_byte):
        return type_name(buffer.element_type, bits)
    return ""


def _any_varies(buffer: ir.MemRefType, indices: Sequence[ir.Value], modulus: int) -> bool:
    strides, _offset = buffer.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    return any(
        (stride == dynamic or stride % modulus != 0) and _varies(index, modulus)
        for index, stride in zip(indices, strides, strict=False)
    )


def _begins_apart(view: ir.Value, modulus: int) -> bool:
    """Whether views of a buffer begin, thread by thread, at different elements of a byte."""
    while not isinstance(view.owner, ir.Block):
        op = view.owner.operation
        if op.name == "memref.subview":
            source = ir.MemRefType(op.operands[0].type)
            offsets = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
            given = iter(operands_named(op, "offsets"))
            dynamic = ir.ShapedType.get_dynamic_size()
            varying = [next(given) if offset == dynamic else None for offset in offsets]
            strides, _offset = source.get_strides_and_offset()
            for offset, stride in zip(varying, strides, strict=False):
                loose = stride == ir.ShapedType.get_dynamic_stride_or_offset() or stride % modulus
                if offset is not None and loose and _varies(offset, modulus):
                    return True
        elif op.name not in _VIEWS:
            return False
        view = op.operands[0]
    return False


def _varies(value: ir.Value, modulus: int, depth: int = 0) -> bool:
    """Whether ``value`` modulo ``modulus`` may differ from thread to thread."""
    owner = value.owner
    if depth > _ANY_DEPTH:
        return False
    if isinstance(owner, ir.Block):
        loop = owner.owner.operation
        if loop.name == "scf.forall":
            return True
        # The rounds of a loop are the thread's own: what differs between threads is where it begins.
        return (
            loop.name == "scf.for"
            and value == owner.arguments[0]
            and _varies(loop.operands[0], modulus, depth + 1)
        )
    op = owner.operation
    if op.name in _IDS:
        return True

    def of(operand: ir.Value, within: int = modulus) -> bool:
        return _varies(operand, within, depth + 1)

    if op.name == "affine.apply":
        return _of_expression(op, [of(v) for v in op.operands], modulus)
    if op.name == "arith.muli":
        return not any(is_multiple(v, modulus) for v in op.operands) and any(map(of, op.operands))
    if op.name == "affine.linearize_index":
        return _of_linear(op, of, modulus)
    if op.name == "affine.delinearize_index":
        basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
        last = value == op.results[len(op.results) - 1]
        if last and basis and basis[-1] > 0 and basis[-1] % modulus == 0:
            return of(op.operands[0])
        # A part of a number differs where the number does, whatever its lowest bits.
        return _varies_at_all(op.operands[0], depth + 1)
    if op.name in _SUMS or op.name in _SAME:
        return any(map(of, op.operands))
    return any(_varies_at_all(v, depth + 1) for v in op.operands if _is_index(v))


def _is_index(value: ir.Value) -> bool:
    return isinstance(value.type, (ir.IndexType, ir.IntegerType))


def _varies_at_all(value: ir.Value, depth: int) -> bool:
    """Whether an id of the thread, or of its workgroup, goes into ``value``."""
    owner = value.owner
    if depth > _ANY_DEPTH or isinstance(owner, ir.Block):
        return not isinstance(owner, ir.Block) or owner.owner.operation.name == "scf.forall"
    op = owner.operation
    return op.name in _IDS or any(_varies_at_all(v, depth + 1) for v in op.operands if _is_index(v))


def _of_linear(op: ir.Operation, of, modulus: int) -> bool:
    basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
    count = len(op.operands) - basis.count(ir.ShapedType.get_dynamic_size())
    indices = list(op.operands)[:count]
    stride = 1
    for position in reversed(range(count)):
        if stride % modulus and of(indices[position]):
            return True
        size = basis[position - count + len(basis)] if position - count + len(basis) >= 0 else 1
        stride = stride * size if size > 0 else stride
    return False


def _of_expression(op: ir.Operation, varying: Sequence[bool], modulus: int) -> bool:
    indexing = ir.AffineMapAttr(op.attributes["map"]).value
    dims = indexing.n_dims

    def of(expression: ir.AffineExpr) -> bool:
        if isinstance(expression, ir.AffineConstantExpr):
            return False
        if isinstance(expression, ir.AffineDimExpr):
            return varying[expression.position]
        if isinstance(expression, ir.AffineSymbolExpr):
            return varying[dims + expression.position]
        if isinstance(expression, ir.AffineAddExpr):
            return of(expression.lhs) or of(expression.rhs)
        if isinstance(expression, ir.AffineMulExpr):
            right = expression.rhs
            if isinstance(right, ir.AffineConstantExpr) and right.value % modulus == 0:
                return False
            return of(expression.lhs) or of(right)
        if isinstance(expression, ir.AffineModExpr) and isinstance(expression.rhs, ir.AffineConstantExpr):
            if expression.rhs.value % modulus == 0:
                return of(expression.lhs)
        # The quotient of a number differs where the number does, whatever its lowest bits.
        return any(_varies_at_all(v, 0) for v in op.operands)

    return of(indexing.results[0])
