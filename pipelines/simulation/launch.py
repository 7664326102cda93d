"""How many workgroups and threads a kernel is launched with, and what the host passes."""

from __future__ import annotations

import re

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.dispatch.dispatches import Dispatch
from fissile.passes.iree import ops as iree_ops
from fissile.pipelines.numerics.witness.registry import NoWitness

from .machine import Launch, numbers
from .reference import Reference

SIZE = 37
"""What a dynamic size is, where the program asks for no multiple: no power of two."""


def constants_of(function: ir.Operation) -> dict[int, int]:
    """What the host passes, by ordinal: sizes of `SIZE`, offsets as small as the program says they may be.

    A number of 64 bits comes in two halves; the upper one is 0.
    """
    found: dict[int, int] = {}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.HAL_INTERFACE_CONSTANT_LOAD:
            found[ir.IntegerAttr(op.attributes["ordinal"]).value] = _passed(op)
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return found


def _passed(load: ir.Operation) -> int:
    pending, is_size, low, divisor = [load.results[0]], False, 0, 1
    assumed = None
    while pending:
        value = pending.pop()
        for use in value.uses:
            user = use.owner.operation
            if user.name == "arith.shli":
                return 0
            if user.name in ("arith.extui", "arith.ori", "arith.index_castui", "arith.index_cast"):
                pending.append(user.results[0])
            elif user.name == iree_ops.UTIL_ASSUME_INT:
                assumed = assumed or _assumption(user, use.operand_number)
                pending.append(user.results[use.operand_number])
            elif user.name == iree_ops.TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL:
                is_size = True
    if assumed:
        low, high, divisor = assumed
        if low == high:
            return low
    if not is_size:
        return low
    return max(low, -(-SIZE // divisor) * divisor)


def _assumption(op: ir.Operation, operand: int) -> tuple[int, int, int]:
    """The least value, the largest, and the divisor that `util.assume.int` states first of an operand."""
    alternatives = ir.ArrayAttr(ir.ArrayAttr(op.attributes["assumptions"])[operand])
    text = str(alternatives[0])
    read = {name: int(value) for name, value in re.findall(r"(umin|umax|udiv) = (\d+)", text)}
    return read.get("umin", 0), read.get("umax", 1 << 62), read.get("udiv", 1)


def launch_of(module: ir.Operation, dispatch: Dispatch, reference: Reference, most: int) -> Launch:
    """The launch of a lowered kernel; of a grid with more than ``most`` threads some workgroups, the first and the last among them."""
    configuration = next(
        (
            op.operation
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == iree_ops.CODEGEN_DISPATCH_CONFIG
        ),
        None,
    )
    if configuration is None or "workgroup_size" not in configuration.attributes:
        raise NoWitness("a kernel without the size of its workgroups")
    block = numbers(configuration, "workgroup_size")
    block += [1] * (3 - len(block))
    known = "subgroup_size" in configuration.attributes  # on Vulkan it is the driver's choice
    subgroup = ir.IntegerAttr(configuration.attributes["subgroup_size"]).value if known else 32
    counts = _counts(configuration, reference)
    total, threads = int(np.prod(counts)), int(np.prod(block))
    if not total:
        raise NoWitness("no workgroups")
    ran = np.unique(np.linspace(0, total - 1, min(total, max(1, most // threads))).astype(np.int64))
    x, y = counts[0], counts[1]
    ids = np.stack([ran % x, ran // x % y, ran // (x * y)], axis=1)
    return Launch(ids, counts, (block[0], block[1], block[2]), min(subgroup, threads), 0 if known else 1)


def _counts(configuration: ir.Operation, reference: Reference) -> tuple[int, int, int]:
    block = configuration.regions[0].blocks[0]
    for number, argument in enumerate(list(block.arguments)[1:]):
        if number not in reference.workload:
            raise NoWitness("a workload that is not known")
        reference.values[argument] = np.int64(reference.workload[number])
    for op in block.operations:
        if op.operation.name == iree_ops.CODEGEN_YIELD:
            x, y, z = (int(reference.values[v]) for v in op.operands)
            return x, y, z
        reference.evaluate(op.operation)
    raise NoWitness("no number of workgroups")
