"""The accessors that IREE's Python package has for an op of a known class (``view_of(op).static_sizes``).

A process of fissile's own loads the classes of a dialect when one is used (`passes/iree/late_imports.py`), so ``op.opview`` is spelled here
alone. Where `operands` names what is wanted, no class is needed.
"""

from __future__ import annotations

from typing import Any

from iree.compiler import ir

from fissile.start.late_modules import load_now


def view_of(op: ir.Operation | ir.OpView) -> Any:
    """``op`` with the accessors of its class."""
    load_now((f"iree.compiler.dialects.{op.operation.name.partition('.')[0]}",))
    return op.operation.opview
