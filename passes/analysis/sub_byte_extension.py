"""Integers below a byte that SPIR-V code generation extends without clearing what stands above them.

IREE 3.13 reads such an element by shifting its byte and truncating it. SPIR-V has no type for it, so the truncation becomes a
conversion to i32, and the extension to i8 or i16 one from i32: neither masks (MLIR's ArithToSPIRV), and the neighbour's bits stay. An
extension to 32 bits masks. Measured on a device with 8-bit storage: `arith.extui %x : i4 to i8` of [0, 1, 2, 3] gives [16, 1, 50, 3].
"""

from __future__ import annotations

from iree.compiler import ir

from .dispatches import Dispatch

WORD_BITS = 32
_EXTENSIONS = ("arith.extui", "arith.extsi")


def unmasked_types(dispatch: Dispatch) -> tuple[str, ...]:
    """The element types below a byte that a body of ``dispatch`` (configured, on tensors) reads and extends to fewer than 32 bits."""
    if 8 not in dispatch.target.storage_bits:
        return ()  # everything is computed in 32 bits there
    found: dict[str, None] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in _EXTENSIONS and _is_short(op.results[0].type) and _is_below_a_byte(kind := op.opview.in_.type):
            if isinstance(op.opview.in_.owner, ir.Block) or op.opview.in_.owner.operation.name == "tensor.extract":
                found[str(kind)] = None
        return ir.WalkResult.ADVANCE

    dispatch.inner_module().walk(visit)
    return tuple(found)


def _is_short(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and kind.width < WORD_BITS


def _is_below_a_byte(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType) and 1 < kind.width < 8
