"""Matrix instructions: which lane of a subgroup holds which element, as their vendors document it.

AMD's instruction set guides (CDNA 3, RDNA 3 and 4) and NVIDIA's PTX manual (mma.m16n8k16).
"""

from __future__ import annotations

import numpy as np
from iree.compiler import ir

from fissile.pipelines.numerics.witness.elements import element_of_type, hold
from fissile.pipelines.numerics.witness.registry import NoWitness

from .lanes import by_subgroup
from .machine import Machine, numbers, simulates


def _integer(op: ir.Operation, name: str, default: int = 0) -> int:
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else default


def _multiply(machine: Machine, op, operands, left, right, result):
    """``left``, ``right`` and ``result`` are (row, column) of each lane's elements: arrays of (lanes, elements)."""
    a, b, c = operands
    rows, columns, depth = (1 + int(m.max()) for m in (left[0], right[1], left[1]))
    lanes = left[0].shape[0]
    element = element_of_type(op.results[0].type)
    wide = np.int64 if element.kind == "integer" else np.float64
    a, b, c = (by_subgroup(machine, v.reshape(v.shape[0], -1), lanes) for v in (a, b, c))
    first = np.zeros((a.shape[0], rows, depth), wide)
    second = np.zeros((a.shape[0], depth, columns), wide)
    start = np.zeros((a.shape[0], rows, columns), wide)
    first[:, left[0], left[1]], second[:, right[0], right[1]], start[:, result[0], result[1]] = a, b, c
    product = (first @ second + start)[:, result[0], result[1]]
    product = product.reshape(-1, *operands[2].shape[1:])
    return [
        hold(product, element) if element.kind == "integer" else machine.settled(product, op.results[0].type)
    ]


def _lanes_and_elements(lanes: int, elements: int):
    return np.arange(lanes)[:, None] + np.zeros((1, elements), int), np.arange(elements)[None] + np.zeros(
        (lanes, 1), int
    )


@simulates("amdgpu.mfma")
def _mfma(machine: Machine, op, operands):
    m, n = _integer(op, "m"), _integer(op, "n")
    if _integer(op, "blocks", 1) != 1 or m != n:
        raise NoWitness("an MFMA of several blocks")
    each = operands[0].reshape(operands[0].shape[0], -1).shape[1]
    lane, i = _lanes_and_elements(64, each)
    left = (lane % m, each * (lane // m) + i)
    lane, i = _lanes_and_elements(64, operands[2].reshape(operands[2].shape[0], -1).shape[1])
    if element_of_type(op.results[0].type).text == "f64":
        row = 4 * i + lane // n
    else:
        row = 4 * (64 // n) * (i // 4) + 4 * (lane // n) + i % 4
    return _multiply(machine, op, operands, left, left[::-1], (row, lane % n))


@simulates("amdgpu.wmma")
def _wmma(machine: Machine, op, operands):
    each, results = operands[0].shape[1], operands[2].shape[1]
    lane, i = _lanes_and_elements(32, each)
    if each == 16:  # RDNA 3: lanes 16 to 31 hold what lanes 0 to 15 hold
        left = (lane % 16, i)
        lane, i = _lanes_and_elements(32, 8)
        row = 2 * i + lane // 16
        if results == 16:  # 16-bit results: each in one half of a register, the other half stays
            half = slice(_integer(op, "subwordOffset"), None, 2)
            part = [*operands[:2], operands[2][:, half]]
            (product,) = _multiply(machine, op, part, left, left[::-1], (row, lane % 16))
            whole = np.array(machine.all_threads(operands[2]))
            whole[:, half] = product
            return [whole]
    else:
        left = (lane % 16, each * (lane // 16) + i)
        lane, i = _lanes_and_elements(32, results)
        row = 8 * (lane // 16) + i
    if "unsignedA" in op.attributes or "unsignedB" in op.attributes:
        raise NoWitness("a WMMA of unsigned numbers")
    return _multiply(machine, op, operands, left, left[::-1], (row, lane % 16))


@simulates("nvgpu.mma.sync")
def _mma_sync(machine: Machine, op, operands):
    if numbers(op, "mmaShape")[:2] != [16, 8]:
        raise NoWitness("an mma.sync that is not m16n8")
    each = operands[0].shape[2]
    lane, i = _lanes_and_elements(32, operands[0].shape[1] * each)
    part, j = i // each, i % each
    left = (lane // 4 + 8 * (part % 2), lane % 4 * each + j + 4 * each * (part // 2))
    lane, i = _lanes_and_elements(32, operands[1].shape[1] * each)
    right = (lane % 4 * each + i % each + 4 * each * (i // each), lane // 4)
    lane, i = _lanes_and_elements(32, 4)
    return _multiply(machine, op, operands, left, right, (lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2))
