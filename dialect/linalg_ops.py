"""What is used of linalg's Python package, without its op DSL, which alone takes as long to import as IREE's bindings.

The classes of its ops, a third of that, are loaded by whoever makes one: whoever only looks at ops has the maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from iree.compiler import ir
from iree.compiler._mlir_libs._mlirDialectsLinalg import fill_builtin_region, get_indexing_maps

if TYPE_CHECKING:
    from iree.compiler.dialects._linalg_ops_gen import GenericOp, IndexOp, YieldOp

__all__ = ["GenericOp", "IndexOp", "YieldOp", "fill", "indexing_maps", "named"]

_MEMO = "linalg.memoized_indexing_maps"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from iree.compiler.dialects import _linalg_ops_gen

    return getattr(_linalg_ops_gen, name)


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap] | None:
    """The map of each operand of a structured op, outputs last; None where it has none, or not one for each operand."""
    if "indexing_maps" in op.attributes:
        attribute = op.attributes["indexing_maps"]
    elif op.name.startswith("linalg."):
        known = _MEMO in op.attributes
        try:
            attribute = get_indexing_maps(op)
        except (TypeError, ValueError, RuntimeError):
            return None
        if not known and _MEMO in op.attributes:
            del op.attributes[_MEMO]  # asking leaves the answer on the op; looking changes nothing
        if attribute is None:
            return None
    else:
        return None
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(attribute)]
    return maps if len(maps) == len(op.operands) else None


def fill(value: ir.Value, *, outs: Sequence[ir.Value]) -> ir.Value:
    """The one tensor of ``outs`` with ``value`` everywhere; made at the insertion point."""
    from iree.compiler.dialects._linalg_ops_gen import FillOp

    op = FillOp([out.type for out in outs], [value], list(outs))
    fill_builtin_region(op.operation)
    return op.results[0]


def named(
    name: str, inputs: Sequence[ir.Value], init: ir.Value, attributes: dict[str, ir.Attribute]
) -> ir.Value:
    """The result of the structured op called ``name``; made at the insertion point."""
    segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), 1])}
    op = ir.Operation.create(name, [init.type], [*inputs, init], {**attributes, **segments}, regions=1)
    fill_builtin_region(op)
    return op.results[0]
