"""Functions that IREE computes wrongly at the edges of their range, in the bodies of ops."""

from __future__ import annotations

from iree.compiler import ir

from ..bounds.shaped_values import is_argument
from .bodies import functions_in_bodies

EXPANDED = ("math.cbrt",)
"""Wherever IREE expands functions: NaN for infinity."""
OF_SPIRV = ("math.acos", "math.asin", "math.log1p")
"""In SPIR-V: arc functions are GLSL's, which are not defined outside of -1 … 1, and log1p(x) is log(1 + x)."""
_CHOICE = "arith.select"


def edges_in(op: ir.Operation, spirv: bool) -> list[ir.Operation]:
    """Those of floats of 32 bits or less in the regions of ``op``, of EXPANDED, and of OF_SPIRV where it is compiled to ``spirv``."""
    names = (*EXPANDED, *OF_SPIRV) if spirv else EXPANDED
    return [one for one in functions_in_bodies(op, names) if not _is_guarded(one)]


def _is_guarded(function: ir.Operation) -> bool:
    """Whether a choice keeps ``function`` from its edge, and another by the same condition has the number for it."""
    operand = function.operands[0]
    if is_argument(operand) or operand.owner.operation.name != _CHOICE:
        return False
    condition = operand.owner.operation.operands[0]
    users = [use.owner.operation for use in function.results[0].uses]
    return bool(users) and all(user.name == _CHOICE and user.operands[0] == condition for user in users)
