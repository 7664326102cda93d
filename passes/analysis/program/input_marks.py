"""What an input says that IREE's import drops, and that is wanted later."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iree.compiler import ir

from fissile.dialect import BUDGET
from fissile.dialect.attributes import text_of
from fissile.dialect.budgets import write_budgets
from fissile.finding import Finding
from fissile.passes.containment import contained
from fissile.passes.iree import ops as iree_ops

from ..bounds.value_names import declared_names
from ..imports.stablehlo_ops import INDEXED
from .private_calls import FUNCTIONS as _ENTRIES
from .stable_sorts import is_marked_stable


@dataclass(frozen=True)
class InputMarks:
    """``declared``: function -> what it calls its arguments; ``stable_sorts``: whether a sort is marked as stable; ``bounded``: whether
    all gathers and scatters are StableHLO's, which are defined for indices outside of their operands; ``functions``: whether an op is one of
    the FUNCTIONS; ``empty_products``: whether one of the PRODUCTS has an operand without elements; ``wrong``: FIS402 of attributes that
    the dialect does not have."""

    declared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stable_sorts: bool = False
    bounded: bool = False
    functions: bool = False
    empty_products: bool = False
    wrong: tuple[Finding, ...] = ()


NO_MARKS = InputMarks()


def marks_of(module: ir.Operation) -> InputMarks:
    """The marks of ``module``, as it was parsed; the budgets that it states are in its locations then."""
    stable_sorts, bounded, functions, empty, owned = contained(
        "marks of ops", lambda: _marked_ops(module), (False, False, False, False, False)
    )
    return InputMarks(
        contained("names of arguments", lambda: declared_names(module), {}),
        stable_sorts,
        bounded,
        functions,
        empty,
        contained("budgets", lambda: write_budgets(module), ()) if owned else (),
    )


FUNCTIONS = frozenset(
    "acosh asinh atan2 atanh cbrt cos cosh cosine fpowi polar pow power powf sin sinc sine sinh tan".split()
)
"""What ops are called, in any dialect, that compute functions which IREE expands (`failures/scalars/scalar_functions.py`)."""

PRODUCTS = frozenset(
    "addbmm addmm addmv baddbmm batch_matmul batch_matvec batch_vecmat bmm contract dot dot_general einsum gemm linear matmul matmulinteger "
    "matvec mm mv tensordot vecmat vdot".split()
)
"""What ops are called, in any dialect, that become products of matrices."""
_EMPTY = re.compile(r"[<\[x,]0[x,\]]")
"""In the type of a tensor, with a dimension of size 0."""
_OTHERS = (iree_ops.LINALG_EXT_OPS, "linalg.", "memref.", "tensor.", "torch.", "tosa.", "vector.")
"""Dialects of which an op may access a tensor by an index as well."""
_OPERATOR = "torch.operator"
_OWN = "fissile."


def _marked_ops(module: ir.Operation) -> tuple[bool, bool, bool, bool, bool]:
    """``stable_sorts``, ``bounded``, ``functions`` and ``empty_products`` of the ops of ``module``, and whether one has an attribute of
    fissile's."""
    stable = indexed = others = functions = empty = owned = False

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal stable, indexed, others, functions, empty, owned
        name = op.name
        stable = stable or is_marked_stable(op, name)
        indexed = indexed or name in INDEXED
        others = others or name.startswith(_OTHERS)
        parts = _parts(op, name)
        functions = functions or not FUNCTIONS.isdisjoint(parts)
        empty = empty or not PRODUCTS.isdisjoint(parts) and _is_empty(op)
        # Of other ops only the one name is looked for: a look at all costs as much as the rest of the walk.
        owned = (
            owned
            or BUDGET in op.attributes
            or name in _ENTRIES
            and any(n.startswith(_OWN) for n in op.attributes)
        )
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return stable, indexed and not others, functions, empty, owned


def _parts(op: ir.Operation, name: str) -> list[str]:
    """The parts of what ``op`` is called, in lower case where a front end calls it otherwise."""
    return (text_of(op, "name").lower() if name == _OPERATOR else name).split(".")


def _is_empty(op: ir.Operation) -> bool:
    return any(_EMPTY.search(str(operand.type)) for operand in op.operands)
