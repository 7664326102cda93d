"""Ops that compute constants, which IREE evaluates in global optimisation, by a module for the CPU of this machine."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import is_source_op
from ..host.on_host import HOST_REGIONS, ops_on_host

_MADE = ("arith.constant", "tensor.empty", iree_ops.FLOW_TENSOR_CONSTANT)
_LOAD = iree_ops.UTIL_GLOBAL_LOAD


def evaluated_ops(module: ir.Operation) -> list[ir.Operation]:
    """The source ops of ``module``, at phase input, that depend on constants alone: IREE evaluates no other, and of these perhaps not all."""
    constants = _constants(module)
    known: set[ir.Value] = set()
    found = []
    for op in ops_on_host(module):
        name = op.name
        if name in HOST_REGIONS or not all(value in known for value in op.operands):
            continue
        if len(op.operands) or name in _MADE or name == _LOAD and text_of(op, "global") in constants:
            known.update(op.results)
            if is_source_op(op):
                found.append(op)
    return found


def _constants(module: ir.Operation) -> set[str]:
    """The globals whose contents the module has, and does not change."""
    return {
        text_of(op.operation, "sym_name")
        for op in module.regions[0].blocks[0]
        if op.operation.name == iree_ops.UTIL_GLOBAL
        and "is_mutable" not in op.operation.attributes
        and "initial_value" in op.operation.attributes
        and isinstance(op.operation.attributes["initial_value"], ir.ElementsAttr)
    }
