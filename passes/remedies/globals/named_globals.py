"""The globals that a pass has to change, by name."""

from __future__ import annotations

from collections.abc import Sequence

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.errors import UsageError, closest
from fissile.passes.iree import ops as iree_ops


def check_names(names: Sequence[str], module: ir.Operation, pass_name: str) -> None:
    """Raises UsageError where one of ``names`` is no global of ``module``; ``pass_name`` is the pass's."""
    known = [
        text_of(op.operation, "sym_name")
        for op in module.regions[0].blocks[0]
        if op.operation.name == iree_ops.UTIL_GLOBAL
    ]
    for name in names:
        if name not in known:
            there = closest(name, known) or ("" if known else "the module has no globals")
            raise UsageError(f"{pass_name}: there is no global @{name}", there)
