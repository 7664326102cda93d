"""The devices that a module is compiled for."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.iree import ops as iree_ops


def has_device(module: ir.Operation, name: str) -> bool:
    """Whether ``module``, once devices are assigned, has a device of IREE's ``name`` ("vulkan").

    A program that copies alone has no executable that says so. Globals of other types are not read: their text may be all weights.
    """
    start = f'{iree_ops.DEVICE_GLOBAL_ATTRIBUTE}"{name}"'
    return any(
        start in str(attribute(op.operation, "initial_value"))
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == iree_ops.UTIL_GLOBAL
        and str(attribute(op.operation, "type")) == iree_ops.DEVICE_TYPE
    )
