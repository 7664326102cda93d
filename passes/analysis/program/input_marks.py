"""What an input says that IREE's import drops, and that is wanted later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.passes.containment import contained
from fissile.passes.iree import ops as iree_ops

from ..bounds.value_names import declared_names
from ..imports.stablehlo_ops import INDEXED
from .stable_sorts import is_marked_stable


@dataclass(frozen=True)
class InputMarks:
    """``declared``: function -> what it calls its arguments; ``stable_sorts``: whether a sort is marked as stable; ``bounded``: whether
    all gathers and scatters are StableHLO's, which are defined for indices outside of their operands."""

    declared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stable_sorts: bool = False
    bounded: bool = False


NO_MARKS = InputMarks()


def marks_of(module: ir.Operation) -> InputMarks:
    """The marks of ``module``, as it was parsed."""
    stable_sorts, bounded = contained("marks of ops", lambda: _marked_ops(module), (False, False))
    return InputMarks(
        contained("names of arguments", lambda: declared_names(module), {}), stable_sorts, bounded
    )


_OTHERS = (iree_ops.LINALG_EXT_OPS, "linalg.", "memref.", "tensor.", "torch.", "tosa.", "vector.")
"""Dialects of which an op may access a tensor by an index as well."""


def _marked_ops(module: ir.Operation) -> tuple[bool, bool]:
    """``stable_sorts`` and ``bounded`` of the ops of ``module``."""
    stable = indexed = others = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal stable, indexed, others
        name = op.name
        stable = stable or is_marked_stable(op, name)
        indexed = indexed or name in INDEXED
        others = others or name.startswith(_OTHERS)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return stable, indexed and not others
