"""What is used of linalg's Python package, without its op DSL, which alone takes as long to import as IREE's bindings."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler._mlir_libs._mlirDialectsLinalg import fill_builtin_region, get_indexing_maps
from iree.compiler.dialects._linalg_ops_gen import FillOp, GenericOp, IndexOp, YieldOp

__all__ = ["GenericOp", "IndexOp", "YieldOp", "fill", "get_indexing_maps"]


def fill(value: ir.Value, *, outs: Sequence[ir.Value]) -> ir.Value:
    """The one tensor of ``outs`` with ``value`` everywhere; made at the insertion point."""
    op = FillOp([out.type for out in outs], [value], list(outs))
    fill_builtin_region(op.operation)
    return op.results[0]
