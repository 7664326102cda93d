"""What threads do together: barriers, and exchange within a subgroup."""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.elements import element_of_type, hold
from fissile.pipelines.numerics.witness.registry import NoWitness

from .machine import Machine, simulates
from .vectors import combiner


@simulates("gpu.barrier")
def _barrier(machine: Machine, op, operands):
    in_part = _partly_active(machine, machine.workgroup_of)
    if in_part:
        machine.fault("a barrier that some threads of a workgroup do not reach", op.name, in_part)
    machine.memory.epoch += 1
    return []


@simulates("amdgpu.lds_barrier", "rocdl.s.barrier")
def _lds_barrier(machine: Machine, op, operands):
    return _barrier(machine, op, operands)


@simulates("amdgpu.sched_barrier", "rocdl.sched.barrier", "rocdl.s.setprio", "rocdl.s.waitcnt")
def _schedule(machine: Machine, op, operands):
    return []


def _partly_active(machine: Machine, group_of: np.ndarray) -> int:
    """How many groups have both active and masked threads."""
    if machine.active.all():
        return 0
    groups = int(group_of.max()) + 1
    active = np.bincount(group_of, machine.active, groups)
    return int(((active > 0) & (active < np.bincount(group_of, minlength=groups))).sum())


def by_subgroup(machine: Machine, value: np.ndarray, size: int | None = None) -> np.ndarray:
    """``value`` as (subgroups, lanes, …); workgroups must consist of whole subgroups."""
    lanes = size or machine.launch.subgroup
    if machine.launch.per_workgroup % lanes:
        raise NoWitness("a workgroup that is not made of whole subgroups")
    full = machine.all_threads(value)
    return full.reshape(-1, lanes, *full.shape[1:])


def _meets(machine: Machine, op: ir.Operation) -> None:
    if in_part := _partly_active(machine, machine.subgroup_of):
        machine.fault("an exchange that some threads of a subgroup do not reach", op.name, in_part)


@simulates("gpu.subgroup_reduce")
def _reduce(machine: Machine, op, operands):
    _meets(machine, op)
    lanes = machine.launch.subgroup
    size = ir.IntegerAttr(op.attributes["cluster_size"]).value if "cluster_size" in op.attributes else lanes
    step = ir.IntegerAttr(op.attributes["cluster_stride"]).value if "cluster_stride" in op.attributes else 1
    value = by_subgroup(machine, operands[0])
    rest = value.shape[2:]
    clusters = value.reshape(value.shape[0], lanes // (size * step), size, step, *rest)
    combined = combiner(op.attributes["op"]).reduce(clusters, axis=2, keepdims=True)
    result = np.broadcast_to(combined, clusters.shape).reshape(-1, *rest)
    element = element_of_type(op.results[0].type)
    return [
        hold(result, element) if element.kind == "integer" else machine.settled(result, op.results[0].type)
    ]


@simulates("gpu.shuffle")
def _shuffle(machine: Machine, op, operands):
    _meets(machine, op)
    value, offset, width = operands
    lanes = machine.launch.subgroup
    mode = str(op.attributes["mode"]).rstrip(">").replace("<", " ").split()[-1]
    lane = machine.thread_of % lanes
    offset, width = (machine.all_threads(one).astype(np.int64) for one in (offset, width))
    first = lane // width * width
    other = {
        "xor": lane ^ offset,
        "up": lane - offset,
        "down": lane + offset,
        "idx": first + offset,
    }[mode]
    valid = (other >= first) & (other < first + width)
    full = machine.all_threads(value)
    source = (
        machine.workgroup_of * machine.launch.per_workgroup
        + machine.thread_of // lanes * lanes
        + np.where(valid, other, lane)
    )
    return [full[source], valid]
