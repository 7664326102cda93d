"""What a kernel is given: workgroup and thread numbers, bindings, and constants of the host."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops
from fissile.pipelines.numerics.witness.elements import element_of_type
from fissile.pipelines.numerics.witness.registry import NoWitness

from .machine import Machine, simulates
from .memory import View, suffix_strides, uniform


def _dimension(op: ir.Operation) -> int:
    attribute = op.attributes["dimension"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else "xyz".index(str(attribute)[-2])


@simulates(iree_ops.HAL_INTERFACE_WORKGROUP_ID, "gpu.block_id")
def _workgroup_id(machine: Machine, op, operands):
    return [machine.launch.workgroups[machine.workgroup_of, _dimension(op)].astype(np.int64)]


@simulates(iree_ops.HAL_INTERFACE_WORKGROUP_COUNT, "gpu.grid_dim")
def _workgroup_count(machine: Machine, op, operands):
    return [np.asarray([machine.launch.counts[_dimension(op)]], np.int64)]


@simulates("gpu.block_dim", iree_ops.HAL_INTERFACE_WORKGROUP_SIZE)
def _block_dim(machine: Machine, op, operands):
    return [np.asarray([machine.launch.block[_dimension(op)]], np.int64)]


@simulates("gpu.thread_id")
def _thread_id(machine: Machine, op, operands):
    x, y, _z = machine.launch.block
    step = (1, x, x * y)[_dimension(op)]
    return [(machine.thread_of // step % machine.launch.block[_dimension(op)]).astype(np.int64)]


@simulates("gpu.lane_id")
def _lane_id(machine: Machine, op, operands):
    return [(machine.thread_of % machine.launch.subgroup).astype(np.int64)]


@simulates("gpu.subgroup_id")
def _subgroup_id(machine: Machine, op, operands):
    return [(machine.thread_of // machine.launch.subgroup).astype(np.int64)]


@simulates("gpu.subgroup_size")
def _subgroup_size(machine: Machine, op, operands):
    return [np.asarray([machine.launch.subgroup], np.int64)]


@simulates(iree_ops.HAL_INTERFACE_CONSTANT_LOAD)
def _constant(machine: Machine, op, operands):
    ordinal = ir.IntegerAttr(op.attributes["ordinal"]).value
    if ordinal not in machine.constants:
        raise NoWitness("a constant of the host")
    return [np.asarray([machine.constants[ordinal]], element_of_type(op.results[0].type).held)]


@simulates(
    iree_ops.UTIL_ASSUME_INT, iree_ops.CODEGEN_INDEX_HINT, iree_ops.TENSOR_EXT_DISPATCH_WORKLOAD_ORDINAL
)
def _same(machine: Machine, op, operands):
    return operands[: len(op.results)]


@simulates(iree_ops.HAL_INTERFACE_BINDING_SUBSPAN)
def _subspan(machine: Machine, op, operands):
    type_ = ir.MemRefType(op.results[0].type)
    element = element_of_type(type_.element_type)
    offset, *sizes = operands
    given = iter(sizes)
    shape = [
        uniform(next(given), "a size") if type_.is_dynamic_dim(i) else type_.get_dim_size(i)
        for i in range(type_.rank)
    ]
    number = ir.IntegerAttr(op.attributes["binding"]).value
    strides, start = suffix_strides(shape), uniform(offset, "an offset") * 8 // element.bits
    return [View(machine.bindings[number], element, start, tuple(shape), strides)]
