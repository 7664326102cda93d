"""Products of matrices over a dimension without elements."""

from __future__ import annotations

from iree.compiler import ir

from ..dispatch.provenance import source_ops
from ..dispatch.structure import loop_extents, structure_of

_WRITTEN = ("linalg.generic", "linalg.map", "linalg.reduce")
"""Ops whose body the program writes: IREE 3.13 compiles these."""


def empty_products(module: ir.Operation) -> list[ir.Operation]:
    """The named linalg ops of ``module``, at phase input, that reduce two operands over a dimension of size 0: the result is what it begins
    with. IREE 3.13 divides by the size as it chooses a layout, and ends in SIGFPE."""
    return [op for op in source_ops(module) if op.name not in _WRITTEN and _reduces_nothing(op)]


def _reduces_nothing(op: ir.Operation) -> bool:
    structure = structure_of(op)
    if structure is None or len(structure.maps) != 3 or len(op.results) != 1:
        return False
    if not all(positions.is_projected_permutation for positions in structure.maps):
        return False  # a convolution, which IREE compiles
    extents = loop_extents(op, structure)
    return any(
        not parallel and extent == 0 for parallel, extent in zip(structure.parallel, extents, strict=True)
    )
