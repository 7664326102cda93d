"""linalg ops that are left in a kernel: loops that each thread runs alone, over buffers or vectors."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.registry import NoWitness
from fissile.pipelines.numerics.witness.views import maps_of, value_of

from .machine import Machine, simulates
from .memory import View

_MOST_STEPS = 20_000


@simulates("linalg.generic", "linalg.fill", "linalg.copy")
def _generic(machine: Machine, op, operands):
    if op.results:
        raise NoWitness(f"{op.name} of tensors")
    maps = maps_of(op)
    block = op.regions[0].blocks[0]
    ranges = _ranges(maps, operands)
    most = [int(size.max()) for size in ranges]
    if math.prod(most) > _MOST_STEPS:
        raise NoWitness(f"{op.name} of more than {_MOST_STEPS} steps in a thread")
    for at in itertools.product(*(range(size) for size in most)):
        indices = [np.asarray([n], np.int64) for n in at]
        inside = np.ones(1, bool)
        for index, size in zip(indices, ranges, strict=True):
            inside = inside & (index < size)
        machine.under(machine.all_threads(inside), partial(_step, machine, block, operands, maps, indices))
    return []


def _step(machine: Machine, block: ir.Block, operands, maps, indices) -> list:
    machine.loops_at = indices
    arguments = [_element(machine, v, map_, indices) for v, map_ in zip(operands, maps, strict=True)]
    results = machine.block(block, arguments)
    first = len(operands) - len(results)
    for value, view, map_ in zip(results, operands[first:], maps[first:], strict=True):
        machine.memory.write(view, _place(view, map_, indices), value, machine.active)
    return []


@simulates("linalg.index")
def _index(machine: Machine, op, operands):
    return [machine.loops_at[ir.IntegerAttr(op.attributes["dim"]).value]]


def _ranges(maps, operands) -> list[np.ndarray]:
    """How often each loop runs; the last tile of a tensor may be smaller, so threads may differ."""
    found: dict[int, np.ndarray] = {}
    for operand, map_ in zip(operands, maps, strict=True):
        for axis, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr) and isinstance(operand, View):
                found[expression.position] = np.atleast_1d(np.asarray(operand.sizes[axis], np.int64))
    if len(found) < maps[0].n_dims:
        raise NoWitness("a loop that indexes no operand alone")
    return [found[loop] for loop in range(maps[0].n_dims)]


def _place(view: View, map_: ir.AffineMap, indices) -> np.ndarray:
    at = [np.atleast_1d(value_of(expression, indices)) for expression in map_.results]
    return view.linear(at) if at else np.atleast_1d(np.asarray(view.offset, np.int64))


def _element(machine: Machine, operand, map_: ir.AffineMap, indices):
    if not isinstance(operand, View):
        return operand
    return machine.memory.read(operand, _place(operand, map_, indices), machine.active)
