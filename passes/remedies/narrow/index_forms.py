"""Ops of MLIR's index dialect as those of arith on index: SPIR-V and LLVMGPU code generation convert only the latter (IREE 3.13)."""

from __future__ import annotations

import re
from collections.abc import Callable

from iree.compiler import ir
from iree.compiler.dialects import arith

Form = Callable[[ir.Operation], ir.Value]
"""Builds the result of an op at the insertion point."""

_SAME = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "divs": "divsi",
    "divu": "divui",
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivui",
    "floordivs": "floordivsi",
    "rems": "remsi",
    "remu": "remui",
    "maxs": "maxsi",
    "maxu": "maxui",
    "mins": "minsi",
    "minu": "minui",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrui",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
    "casts": "index_cast",
    "castu": "index_castui",
}
"""The same op by its name in the index dialect and in arith."""


def index_form_of(op: ir.Operation) -> Form | None:
    """How ``op`` is computed in arith; None where it is none of the index dialect's, or has no counterpart."""
    dialect, _, name = op.name.partition(".")
    if dialect != "index":
        return None
    return _again if name in _SAME else _OTHERS.get(name)


def without_index_dialect(module: ir.Operation) -> ir.Operation:
    """``module``, or a copy in which arith computes what ops of the index dialect do, where it has any.

    Text for iree-compile: it does not know the dialect when it parses, only once a pass has made such ops (IREE 3.13).
    """
    if not _index_ops(module):
        return module
    copy = module.operation.clone()
    for op in _index_ops(copy):
        with ir.InsertionPoint(op), op.location:
            if form := index_form_of(op):
                op.results[0].replace_all_uses_with(form(op))
        op.erase()
    return copy


def _index_ops(module: ir.Operation) -> list[ir.Operation]:
    """Those that have a form, in program order."""
    found: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if index_form_of(op):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(look, ir.WalkOrder.PRE_ORDER)
    return found


def _again(op: ir.Operation) -> ir.Value:
    name = f"arith.{_SAME[op.name.partition('.')[2]]}"
    return ir.Operation.create(name, [op.results[0].type], list(op.operands)).results[0]


def _constant(op: ir.Operation) -> ir.Value:
    return arith.constant(op.results[0].type, ir.IntegerAttr(op.attributes["value"]).value)


def _truth(op: ir.Operation) -> ir.Value:
    return arith.constant(op.results[0].type, int(ir.BoolAttr(op.attributes["value"]).value))


def _compared(op: ir.Operation) -> ir.Value:
    [predicate] = re.findall(r"cmp_predicate[ <]+(\w+)", str(op.attributes["pred"]))
    return arith.cmpi(arith.CmpIPredicate[predicate], *op.operands)


_OTHERS: dict[str, Form] = {"constant": _constant, "bool.constant": _truth, "cmp": _compared}
