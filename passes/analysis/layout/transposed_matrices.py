"""Matrices that a program transposes in memory for one product with a vector, which could read them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from iree.compiler import ir

from ..dispatch.producers import read_once
from ..memory.footprint import element_bits
from .transposed_operands import is_transposition

VECTOR_PRODUCTS = ("linalg.vecmat", "linalg.matvec", "linalg.batch_vecmat", "linalg.batch_matvec")
"""IREE folds a transposition into a matrix product; these it leaves as they are, and the transposition is a dispatch of its own."""


def transposed_matrices(ops: Sequence[ir.Operation]) -> dict[int, int]:
    """The transpositions among the source ``ops`` (at global optimisation) whose one reader is such a product: index -> bytes."""
    found = {}
    for index, op in enumerate(ops):
        if not is_transposition(op) or not read_once(op):
            continue
        [use] = op.results[0].uses
        type_ = ir.RankedTensorType(op.results[0].type)
        if use.owner.operation.name in VECTOR_PRODUCTS and type_.has_static_shape:
            found[index] = prod(type_.shape) * element_bits(type_.element_type) // 8
    return found
