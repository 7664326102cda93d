"""Indices that are split into several, or made of several."""

from __future__ import annotations

import numpy as np

from .machine import Machine, mixed, segments, simulates


@simulates("affine.delinearize_index")
def _delinearize(machine: Machine, op, operands):
    rest, *dynamic = operands
    basis = mixed(op, "static_basis", dynamic)
    inner = basis if len(op.results) > len(basis) else basis[1:]  # an outer bound changes nothing
    found: list = []
    for size in reversed(inner):
        found.insert(0, np.asarray(rest % size))
        rest = np.asarray(rest // size)
    return [rest, *found]


@simulates("affine.linearize_index")
def _linearize(machine: Machine, op, operands):
    indices, dynamic = segments(op, operands)
    basis = mixed(op, "static_basis", dynamic)
    inner = basis[1:] if len(basis) == len(indices) else basis
    result = indices[0]
    for index, size in zip(indices[1:], inner, strict=True):
        result = result * size + index
    return [np.asarray(result)]
