"""Scalars of the host that a target without 64-bit arithmetic cannot compute, where dispatch creation would move them to.

Dispatch creation clones the arithmetic of sizes into the dispatches that read or make tensors of such sizes.
"""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.places import ops_of
from fissile.passes.iree import ops as iree_ops

from ..host.on_host import ops_on_host

_DIVISIONS = (
    "arith.ceildivsi", "arith.ceildivui", "arith.divsi", "arith.divui", "arith.floordivsi", "arith.remsi", "arith.remui",
)  # fmt: skip
"""Which IREE's emulation of 64-bit integers on SPIR-V (3.13) leaves as they are; it has sums, products, shifts and comparisons."""
_PASSED_ON = (32, 64)
"""Bits of the integers that a dispatch takes as constants."""


def wide_scalars(module: ir.Operation) -> list[ir.Value]:
    """Quotients of 64-bit integers, and what becomes of f64, that the size, the place or an element of a tensor depends on."""
    return [op.results[0] for op in ops_on_host(module) if _is_wide(op) and _reaches_tensors(op.results[0])]


def _is_wide(op: ir.Operation) -> bool:
    if len(op.results) != 1 or not op.name.startswith(("arith.", "math.")):
        return False
    made = op.results[0].type
    if isinstance(made, ir.IntegerType):
        if made.width not in _PASSED_ON:
            return False
    elif not isinstance(made, (ir.IndexType, ir.F32Type)):
        return False
    if op.name in _DIVISIONS:
        return isinstance(made, ir.IntegerType) and made.width == 64
    return any(isinstance(value.type, ir.F64Type) for value in op.operands)


def _reaches_tensors(value: ir.Value) -> bool:
    """Whether an op on tensors, or the body of one, reads what is computed of ``value``."""
    pending, seen = [value], set()
    while pending:
        for use in pending.pop().uses:
            user = use.owner.operation
            if user in seen or not user.results:
                continue
            seen.add(user)
            if any(_is_tensor(one) for one in (*user.operands, *user.results)) or _in_body(user):
                return True
            pending.extend(user.results)
    return False


def _is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.ShapedType)


def _in_body(op: ir.Operation) -> bool:
    parent = op.parent
    return parent is not None and any(map(_is_tensor, parent.operation.results))


def moved_scalars(module: ir.Operation) -> list[ir.Operation]:
    """Such ops in the functions of dispatches, outside of the bodies of ops on tensors; ``module`` has its dispatches outlined."""
    found: list[ir.Operation] = []
    for executable in module.regions[0].blocks[0].operations:
        if executable.operation.name != iree_ops.FLOW_EXECUTABLE:
            continue
        for inner in ops_of(executable.operation, "func.func"):
            found += [op.operation for op in inner.regions[0].blocks[0].operations if _is_wide(op.operation)]
    return found
