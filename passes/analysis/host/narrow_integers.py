"""Integers of less than 32 bits that the host computes with."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of
from .on_host import ops_on_host

VM_INTEGER_BITS = 32
CMPI, SHLI, FOR = "arith.cmpi", "arith.shli", "scf.for"
SIGNED_PREDICATES = (2, 3, 4, 5)
"""slt, sle, sgt, sge."""
READS_SIGN = (
    "arith.ceildivsi",
    "arith.divsi",
    "arith.floordivsi",
    "arith.index_cast",
    "arith.maxsi",
    "arith.minsi",
    "arith.remsi",
    "arith.shrsi",
    "math.absi",
)
"""Ops that need the sign of a narrow operand in the upper bits of its 32."""
READS_ZEROS = (
    "arith.ceildivui",
    "arith.divui",
    "arith.index_castui",
    "arith.maxui",
    "arith.minui",
    "arith.remui",
    SHLI,
    "arith.shrui",
)
"""Ops that need zeros there (`arith.shli`: in the amount)."""
COUNTS_ALL = "math.ctlz"
"""Counts the upper bits too, whatever they are."""
LOGIC = {
    "arith.addi": "arith.xori",
    "arith.subi": "arith.xori",
    "arith.maxsi": "arith.andi",
    "arith.minsi": "arith.ori",
}
"""What ops on i1, whose true is -1, are in terms of bits: IREE 3.13 computes these with 0 and 1."""
MAX_OPS = 5
"""How far back is looked for what is known of a number: each op may have two operands."""
_MASKED = ("arith.trunci", "arith.extui", "tensor.extract", iree_ops.FLOW_TENSOR_LOAD)
_MASKED_IF_ONE = ("arith.andi", "arith.minui")
_MASKED_IF_ALL = ("arith.ori", "arith.xori", "arith.maxui", "arith.divui", "arith.remui", "arith.shrui")


@dataclass(frozen=True)
class NarrowOp:
    """``op`` computes with integers of ``bits`` < 32 bits, and the VM's 32 bits give another result for some values."""

    op: ir.Operation
    bits: int
    place: Place | None


def narrow_integers(module: ir.Operation) -> list[NarrowOp]:
    """Every such op of ``module`` that runs on the host, before dispatches are formed, in program order.

    IREE 3.13's VM has integers of 32 and 64 bits. Its conversion takes the op of 32 bits for one of 8 or 16, and extends neither
    the operands' sign nor cuts off what is carried out of the width: i8 -2 is 254 in a comparison. Loads and `arith.trunci` leave
    zeros above the width; `arith.extsi`, `arith.extui` and stores look at the low bits alone, and are right.
    """
    return [
        NarrowOp(op, bits, place_of(op))
        for op in ops_on_host(module)
        if (bits := _width(op)) is not None and (_is_wrong_bit(op) if bits == 1 else _is_wrong(op))
    ]


def _width(op: ir.Operation) -> int | None:
    """The bits of the narrow integers that ``op`` computes with; None for other ops."""
    if not (op.name.startswith(("arith.", "math.")) or op.name == FOR) or not len(op.operands):
        return None
    type_ = op.operands[0].type
    if isinstance(type_, ir.IndexType) and op.name == "arith.index_cast":
        type_ = op.results[0].type
    narrow = isinstance(type_, ir.IntegerType) and type_.width < VM_INTEGER_BITS
    return type_.width if narrow else None


def reads_sign(op: ir.Operation) -> bool:
    """Whether ``op`` takes its operands, of a loop its bounds, for signed numbers."""
    if op.name == FOR:
        return "unsignedCmp" not in op.attributes
    return op.name in READS_SIGN or (op.name == CMPI and _predicate(op) in SIGNED_PREDICATES)


def _predicate(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["predicate"]).value


def _is_wrong_bit(op: ir.Operation) -> bool:
    """The i1 that the VM holds are 0 and 1, except where one of these ops makes them."""
    if op.name == CMPI:
        return _predicate(op) in SIGNED_PREDICATES
    return op.name in (*LOGIC, "arith.index_cast", COUNTS_ALL)


def _is_wrong(op: ir.Operation) -> bool:
    if op.name == COUNTS_ALL:
        return True
    if op.name == SHLI:
        return not _is_masked(op.operands[1])
    if op.name == "arith.index_cast" and isinstance(op.operands[0].type, ir.IndexType):
        return False  # the low bits are right
    compared = list(op.operands)[:3] if op.name == FOR else list(op.operands)
    if reads_sign(op):
        return not all(_is_masked(v) and _is_positive(v) for v in compared)
    if op.name == FOR:
        return not all(_is_masked(v) for v in compared)
    return (op.name in READS_ZEROS or op.name == CMPI) and not all(_is_masked(v) for v in op.operands)


def _is_masked(value: ir.Value, ops: int = MAX_OPS) -> bool:
    """Whether the bits above the width of ``value`` are known to be zeros, from at most ``ops`` ops one after the other."""
    if isinstance(value.owner, ir.Block) or not ops:
        return False
    op = value.owner.operation
    if op.name in _MASKED:
        return True
    if op.name in _MASKED_IF_ONE:
        return any(_is_masked(v, ops - 1) for v in op.operands)
    if op.name in _MASKED_IF_ALL:
        return all(_is_masked(v, ops - 1) for v in op.operands)
    if op.name == "arith.select":
        return all(_is_masked(v, ops - 1) for v in list(op.operands)[1:])
    return _constant(value) >= 0


def _is_positive(value: ir.Value, ops: int = MAX_OPS) -> bool:
    """Whether the uppermost bit of the width of ``value``, which is masked, is known to be zero, from as many ops."""
    if isinstance(value.owner, ir.Block) or not ops:
        return False
    op = value.owner.operation
    if op.name == "arith.extui":
        return True  # from fewer bits
    if op.name in _MASKED_IF_ONE:
        return any(_is_masked(v, ops - 1) and _is_positive(v, ops - 1) for v in op.operands)
    if op.name == "arith.shrui":
        return _constant(op.operands[1]) > 0
    if op.name == "arith.remui":
        return _is_positive(op.operands[1], ops - 1)
    if op.name == "arith.select":
        return all(_is_positive(v, ops - 1) for v in list(op.operands)[1:])
    return _constant(value) >= 0


def _constant(value: ir.Value) -> int:
    """The number that ``value`` is; -1 where it is not known."""
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return -1
    op = value.owner.operation
    return ir.IntegerAttr(op.attributes["value"]).value
