"""Products of booleans that are named ops: their body is what the types of their elements say."""

from __future__ import annotations

from iree.compiler import ir

from ..dispatch.provenance import source_ops
from ..dispatch.structure import structure_of

_WRITTEN = ("linalg.generic", "linalg.map", "linalg.reduce")
"""Ops whose body the program writes."""


def boolean_products(module: ir.Operation) -> list[ir.Operation]:
    """The named ops of ``module``, at phase global-optimization, that reduce booleans: they are an `or` of `and`s. What IREE has made a generic
    of by then is none: its body stays as it is."""
    return [op for op in source_ops(module) if _is_product(op)]


def _is_product(op: ir.Operation) -> bool:
    if op.name in _WRITTEN or not all(_element(value.type) == "i1" for value in (*op.operands, *op.results)):
        return False
    structure = structure_of(op)
    return structure is not None and not all(structure.parallel)


def _element(type_: ir.Type) -> str:
    return str(type_.element_type) if isinstance(type_, ir.RankedTensorType) else str(type_)
