"""Matrix instructions of AMD GPUs in generated code."""

from __future__ import annotations

from iree.compiler import ir

from .bodies import ops_in_bodies

_INSTRUCTIONS = ("amdgpu.mfma", "amdgpu.wmma")
_UNSIGNED = ("unsignedA", "unsignedB")


def takes_signed_bytes(code: ir.Operation) -> bool:
    """Whether an instruction of ``code`` multiplies 8-bit integers and takes all of them for signed ones."""
    return any(
        op.name in _INSTRUCTIONS
        and str(ir.VectorType(op.operands[0].type).element_type) == "i8"
        and not any(name in op.attributes for name in _UNSIGNED)
        for op in ops_in_bodies(code)
    )
