"""Integers below a byte whose upper bits SPIR-V code generation reads without clearing them.

IREE 3.13 reads such an element by shifting its byte and truncating it. SPIR-V has no type for it, so the truncation becomes a
conversion to i32, and the extension to i8 or i16 one from i32: neither masks (MLIR's ArithToSPIRV), and the neighbour's bits stay. An
extension to 32 bits and a conversion to a float mask. Comparisons, minima, shifts to the right, divisions and casts to an index read the
whole register. Measured on a device with 8-bit storage: `arith.extui %x : i4 to i8` of [0, 1, 2, 3] gives [16, 1, 50, 3].
"""

from __future__ import annotations

from iree.compiler import ir

from ...dispatch.dispatches import Dispatch

WORD_BITS = 32
_EXTENSIONS = ("arith.extui", "arith.extsi")
_READ_WHOLE = frozenset(
    (
        "arith.cmpi",
        "arith.maxsi",
        "arith.minsi",
        "arith.maxui",
        "arith.minui",
        "arith.shrsi",
        "arith.shrui",
        "arith.divsi",
        "arith.divui",
        "arith.remsi",
        "arith.remui",
        "arith.index_cast",
        "arith.index_castui",
    )
)
_KEEP_UPPER = frozenset(
    ("arith.addi", "arith.subi", "arith.muli", "arith.shli", "arith.ori", "arith.xori", "arith.select")
)
"""Where an operand has bits of its neighbours, so has the result."""
_ANY_DEPTH = 24


def unmasked_types(dispatch: Dispatch) -> tuple[str, ...]:
    """The element types below a byte that a body of ``dispatch`` (configured, on tensors) reads together with their neighbours' bits."""
    if 8 not in dispatch.target.storage_bits:
        return ()  # everything is computed in 32 bits there
    found: dict[str, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _READ_WHOLE or op.name in _EXTENSIONS and _is_short(op.results[0].type):
            found.update(
                (str(v.type), None) for v in op.operands if _is_below_a_byte(v.type) and _has_neighbours(v)
            )
        return ir.WalkResult.ADVANCE

    dispatch.inner_module().walk(visit)
    return tuple(found)


def _has_neighbours(value: ir.Value, depth: int = 0) -> bool:
    """Whether the register that holds ``value``, an integer below a byte, holds bits of the elements beside it."""
    if isinstance(value.owner, ir.Block):
        return True
    op = value.owner.operation
    if op.name == "tensor.extract":
        return True
    narrow = [v for v in op.operands if _is_below_a_byte(v.type)]
    if depth > _ANY_DEPTH or not narrow:
        return False
    if op.name == "arith.andi":
        return all(_has_neighbours(v, depth + 1) for v in narrow)
    return op.name in _KEEP_UPPER and any(_has_neighbours(v, depth + 1) for v in narrow)


def _is_short(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IntegerType) and type_.width < WORD_BITS


def _is_below_a_byte(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IntegerType) and 1 < type_.width < 8
