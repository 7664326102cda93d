"""Vectors that SPIR-V code generation reads or writes at misaligned addresses.

IREE 3.13 gives a buffer elements that are vectors where every use is a vector transfer and its last dimension is a multiple of
the vector (SPIRVVectorizeLoadStore), and divides the last index of each transfer by the vector's size without asking whether it
is a multiple. A product that is stored into a padded tensor at column 1 lands at column 0. Measured on lavapipe: 17388 of 20736
values of a plain f32 matmul wrong, with no message.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

MAX_VECTOR_BITS = 128
WORD_BITS = 32
_READ, _WRITE = "vector.transfer_read", "vector.transfer_write"
_BUFFERS = (iree_ops.HAL_INTERFACE_BINDING_SUBSPAN, "memref.assume_alignment", "memref.alloc")
_OFFSETS = {
    "load": "static_offsets",
    "store": "static_offsets",
    "extract_slice": "static_offsets",
    "insert_slice": "static_offsets",
    "pad": "static_low",
}
_SLICES = (
    "dispatch.tensor.load",
    "dispatch.tensor.store",
    "tensor.extract_slice",
    "tensor.insert_slice",
    "tensor.pad",
)
_ANY_DEPTH = 24
_DYNAMIC = ir.ShapedType.get_dynamic_size()
_COMBINED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
}
_BITWISE: dict[str, Callable[[int, int], int]] = {
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
}
"""The lowest bits of the result are those of the operands alone: so are residues modulo a power of two."""
_REMAINDERS = ("arith.remui", "arith.remsi")


def may_misplace(function_or_module: ir.Operation) -> bool:
    """Whether a slice of the configured, unbufferized IR begins at a column that no vector begins at: worth a probe."""
    found = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        if op.name.endswith(_SLICES) and (name := _OFFSETS.get(op.name.rsplit(".", 1)[1])) in op.attributes:
            offsets = list(ir.DenseI64ArrayAttr(op.attributes[name]))
            found = found or bool(offsets) and offsets[-1] % (MAX_VECTOR_BITS // 8) != 0
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    return found


def misaligned_vectors(function_or_module: ir.Operation) -> tuple[str, ...]:
    """The types of the buffers in which vectors change their place, each once, in program order.

    Reads IR after vectorisation and bufferization, with views folded into transfers, before the conversion to SPIR-V.
    """
    found: dict[str, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _BUFFERS and _misaligned(op.results[0]):
            memref_type = ir.MemRefType(op.results[0].type)
            sizes = [
                "?" if memref_type.is_dynamic_dim(i) else str(memref_type.get_dim_size(i))
                for i in range(memref_type.rank)
            ]
            found["x".join([*sizes, str(memref_type.element_type)])] = None
        return ir.WalkResult.ADVANCE

    function_or_module.walk(visit)
    return tuple(found)


def _misaligned(buffer: ir.Value) -> list[ir.Operation]:
    memref_type = ir.MemRefType(buffer.type)
    if (
        not memref_type.rank
        or memref_type.is_dynamic_dim(memref_type.rank - 1)
        or not isinstance(memref_type.element_type, (ir.IntegerType, ir.FloatType))
    ):
        return []
    transfers = _transfers(buffer)
    if not transfers:
        return []
    element = memref_type.element_type.width
    vector = min([MAX_VECTOR_BITS, *(_bits(op) for op in transfers)])
    last = memref_type.shape[-1]
    if last % 2 or vector % WORD_BITS or (vector // element) % 2 or last * element % vector:
        return []  # IREE leaves such a buffer as it is
    return [op for op in transfers if residues(_last_index(op), vector // element) != {0}]


def _transfers(buffer: ir.Value) -> list[ir.Operation]:
    """All uses of ``buffer``, or none where one of them keeps IREE from changing it."""
    found = []
    for use in buffer.uses:
        user = use.owner.operation
        if user.name == "memref.dealloc":
            continue
        if user.name == "memref.assume_alignment":
            below = _transfers(user.results[0])
            if not below and any(True for _ in user.results[0].uses):
                return []
            found += below
        elif user.name in (_READ, _WRITE) and _is_plain(user):
            found.append(user)
        else:
            return []
    return found


def _is_plain(transfer: ir.Operation) -> bool:
    """Whether it has no mask and takes the last dimensions as they are."""
    sizes = list(ir.DenseI32ArrayAttr(transfer.attributes["operandSegmentSizes"]))
    order = ir.AffineMapAttr(transfer.attributes["permutation_map"]).value
    last = range(order.n_dims - len(order.results), order.n_dims)
    return sizes[-1] == 0 and all(
        isinstance(result, ir.AffineDimExpr) and result.position == position
        for result, position in zip(order.results, last, strict=True)
    )


def _bits(transfer: ir.Operation) -> int:
    value = transfer.results[0] if transfer.name == _READ else transfer.operands[0]
    vector_type = ir.VectorType(value.type)
    bits = vector_type.element_type.width
    for size in vector_type.shape:
        bits *= size
    return bits


def _last_index(transfer: ir.Operation) -> ir.Value:
    sizes = list(ir.DenseI32ArrayAttr(transfer.attributes["operandSegmentSizes"]))
    before = 1 if transfer.name == _READ else 2  # the buffer; in front of it the vector that is written
    return transfer.operands[before + sizes[before] - 1]


def residues(index: ir.Value, modulus: int, depth: int = 0) -> set[int]:
    """What ``index`` can be modulo ``modulus``; all residues where nothing is known."""
    anything = set(range(modulus))
    owner = index.owner
    if depth > _ANY_DEPTH:
        return anything
    if isinstance(owner, ir.Block):
        loop = owner.owner.operation
        if loop.name == "scf.for" and owner.arguments[0] == index:
            lower, step = (residues(loop.operands[i], modulus, depth + 1) for i in (0, 2))
            return lower if step == {0} else anything
        return _of_parallel(loop, index, modulus) if loop.name == "scf.forall" else anything
    op = owner.operation
    of = [lambda v=v: residues(v, modulus, depth + 1) for v in op.operands]
    if op.name == "arith.constant":
        return {ir.IntegerAttr(op.attributes["value"]).value % modulus}
    if op.name == "affine.apply":
        return _of_expression(ir.AffineMapAttr(op.attributes["map"]).value, [f() for f in of], modulus)
    if op.name in _COMBINED:
        left, right = (f() for f in of)
        return {_COMBINED[op.name](a, b) % modulus for a in left for b in right}
    if op.name in _BITWISE and modulus & (modulus - 1) == 0:
        left, right = (f() for f in of)
        return {_BITWISE[op.name](a, b) for a in left for b in right}
    if op.name in _REMAINDERS and is_multiple(op.operands[1], modulus):
        return of[0]()
    if op.name == "affine.linearize_index":
        return _of_linear([f() for f in of], op, modulus)
    if op.name == "affine.delinearize_index":
        basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
        last = index == op.results[len(op.results) - 1]
        return of[0]() if last and basis and basis[-1] % modulus == 0 else anything
    if op.name in ("arith.index_cast", "arith.index_castui"):
        return of[0]()
    if (
        op.name == "vector.extract"
        and len(op.operands) == 1
        and len(lane := list(ir.DenseI64ArrayAttr(op.attributes["static_position"]))) == 1
    ):
        return _of_lane(op.operands[0], lane[0], modulus, depth + 1)
    return anything


def is_multiple(value: ir.Value, modulus: int) -> bool:
    """Whether ``value`` is a constant multiple of ``modulus``."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return False
    return ir.IntegerAttr(owner.operation.attributes["value"]).value % modulus == 0


def _of_linear(operands: Sequence[set[int]], op: ir.Operation, modulus: int) -> set[int]:
    """What an affine.linearize_index can be: the sum of its indices, each times the sizes behind it."""
    basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
    count = len(operands) - basis.count(_DYNAMIC)
    given = iter(operands[count:])
    sizes = [next(given) if size == _DYNAMIC else {size % modulus} for size in basis]
    found, stride = {0}, {1 % modulus}
    for position in reversed(range(count)):
        found = {(a + b * c) % modulus for a in found for b in operands[position] for c in stride}
        if 0 < (size := position - count + len(sizes) + 1) <= len(sizes):
            stride = {a * b % modulus for a in stride for b in sizes[size - 1]}
    return found


def _of_parallel(loop: ir.Operation, index: ir.Value, modulus: int) -> set[int]:
    """What an index of an scf.forall with static bounds can be."""
    number = next(i for i, argument in enumerate(index.owner.arguments) if argument == index)
    bounds = [
        list(ir.DenseI64ArrayAttr(loop.attributes[name])) for name in ("staticLowerBound", "staticStep")
    ]
    lower, step = ((of[number] if number < len(of) else _DYNAMIC) for of in bounds)
    if _DYNAMIC in (lower, step) or step % modulus:
        return set(range(modulus))
    return {lower % modulus}


def _of_lane(vector: ir.Value, lane: int, modulus: int, depth: int) -> set[int]:
    """What element ``lane`` of a vector of indices can be: a gather of one row is counted by such vectors."""
    owner = vector.owner
    if depth > _ANY_DEPTH or isinstance(owner, ir.Block):
        return set(range(modulus))
    op = owner.operation
    if op.name == "vector.step":
        return {lane % modulus}
    if op.name == "vector.broadcast" and not isinstance(op.operands[0].type, ir.VectorType):
        return residues(op.operands[0], modulus, depth + 1)
    if op.name == "arith.constant" and (values := ir.DenseElementsAttr(op.attributes["value"])).is_splat:
        return {ir.IntegerAttr(values.get_splat_value()).value % modulus}
    if op.name in _COMBINED:
        left, right = (_of_lane(v, lane, modulus, depth + 1) for v in op.operands)
        return {_COMBINED[op.name](a, b) % modulus for a in left for b in right}
    return set(range(modulus))


def _of_expression(indexing: ir.AffineMap, operands: Sequence[set[int]], modulus: int) -> set[int]:
    dims = indexing.n_dims

    def of(expression: ir.AffineExpr) -> set[int]:
        if isinstance(expression, ir.AffineConstantExpr):
            return {expression.value % modulus}
        if isinstance(expression, ir.AffineDimExpr):
            return operands[expression.position]
        if isinstance(expression, ir.AffineSymbolExpr):
            return operands[dims + expression.position]
        if isinstance(expression, ir.AffineAddExpr):
            return {(a + b) % modulus for a in of(expression.lhs) for b in of(expression.rhs)}
        if isinstance(expression, ir.AffineMulExpr):
            return {a * b % modulus for a in of(expression.lhs) for b in of(expression.rhs)}
        if isinstance(expression, ir.AffineModExpr) and isinstance(expression.rhs, ir.AffineConstantExpr):
            if expression.rhs.value % modulus == 0:
                return of(expression.lhs)
        return set(range(modulus))

    return of(indexing.results[0])
