"""Branches and loops of a kernel."""

from __future__ import annotations

import numpy as np

from fissile.pipelines.numerics.witness.registry import NoWitness

from .machine import Machine, chosen, simulates


def _where_active(machine: Machine, mask: np.ndarray):
    return machine.all_threads(mask) & machine.active


@simulates("scf.if")
def _if(machine, op, operands):
    condition = operands[0]
    branches = [region.blocks[0] for region in op.regions if len(region.blocks)]
    taken = _where_active(machine, condition)
    left = _where_active(machine, ~condition)
    if not left.any() or not taken.any():
        branch = 0 if taken.any() else 1
        return machine.block(branches[branch], []) if branch < len(branches) else []
    first = machine.under(taken, lambda: machine.block(branches[0], []))
    second = machine.under(left, lambda: machine.block(branches[1], [])) if len(branches) > 1 else []
    mask = machine.all_threads(condition)
    return [chosen(mask, a, b) for a, b in zip(first, second, strict=True)]


@simulates("scf.for")
def _for(machine, op, operands):
    low, high, step = operands[:3]
    carried, block = list(operands[3:]), op.regions[0].blocks[0]
    if (np.asarray(step) <= 0).any():
        raise NoWitness("scf.for with a step that is not positive")
    index = np.asarray(low)
    while True:
        inside = _where_active(machine, index < high)
        if not inside.any():
            return carried
        if (inside == machine.active).all():
            carried = machine.block(block, [index, *carried])
        else:
            passed = machine.under(inside, lambda i=index, c=carried: machine.block(block, [i, *c]))
            carried = [chosen(inside, new, old) for new, old in zip(passed, carried, strict=True)]
        index = index + step


@simulates("scf.while")
def _while(machine, op, operands):
    before, after = (region.blocks[0] for region in op.regions)
    carried, outer = list(operands), machine.active
    results: list | None = None
    try:
        while True:
            condition, *passed = machine.block(before, carried)
            going = _where_active(machine, condition)
            leaving = machine.active & ~going
            results = (
                passed
                if results is None
                else [chosen(leaving, new, old) for new, old in zip(passed, results, strict=True)]
            )
            if not going.any():
                return results
            machine.active = going
            carried = machine.block(after, passed)
    finally:
        machine.active = outer


@simulates("scf.execute_region")
def _execute(machine, op, operands):
    if len(op.regions[0].blocks) != 1:
        raise NoWitness("branches between blocks")
    return machine.block(op.regions[0].blocks[0], [])


@simulates("arith.select")
def _select(machine, op, operands):
    condition, first, second = operands
    if not isinstance(first, np.ndarray):
        return [chosen(machine.all_threads(condition), first, second)]
    rank = max(first.ndim, second.ndim)
    condition = condition.reshape(condition.shape + (1,) * (rank - condition.ndim))
    return [np.where(condition, first, second)]
