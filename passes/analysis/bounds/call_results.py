"""The shapes and integers that a call returns, in terms of what its caller passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops

from ..program.private_calls import FUNCTIONS
from .shaped_values import is_argument
from .size_terms import Term, substitute, symbols_of

if TYPE_CHECKING:
    from .extents import Extents

RETURNS = ("func.return", iree_ops.UTIL_RETURN)


def dimension(extents: Extents, call: ir.Operation, number: int, index: int) -> Term | None:
    """Dimension ``index`` of result ``number``."""
    return _of_returned(extents, call, number, lambda value: extents.dimension(value, index))


def integer(extents: Extents, call: ir.Operation, number: int) -> Term | None:
    """The integer that is result ``number``."""
    return _of_returned(extents, call, number, extents.value)


def _of_returned(
    extents: Extents, call: ir.Operation, number: int, term_of: Callable[[ir.Value], Term]
) -> Term | None:
    function = _callee(extents, call)
    if function is None or function in extents.entered:
        return None
    extents.entered.add(function)  # a function that calls itself says nothing
    try:
        block = function.regions[0].blocks[0]
        last = block.operations[len(block.operations) - 1].operation
        if last.name not in RETURNS or number >= len(last.operands):
            return None
        found = term_of(last.operands[number])
    finally:
        extents.entered.discard(function)
    passed = {}
    for ident, symbol in symbols_of(found).items():
        if ident < 0 or extents.definitions.get(ident) is not None:
            return None
        handle = extents.handle(symbol)
        if not is_argument(handle.value) or handle.value.owner != block or handle.element is not None:
            return None
        given = call.operands[ir.BlockArgument(handle.value).arg_number]
        passed[ident] = (
            extents.value(given) if handle.dimension is None else extents.dimension(given, handle.dimension)
        )
    return substitute(found, passed)


def _callee(extents: Extents, call: ir.Operation) -> ir.Operation | None:
    """The function of one block that ``call`` runs."""
    if extents.functions is None:
        top = call
        while top.parent is not None:
            top = top.parent.operation
        extents.functions = {}
        for op in top.regions[0].blocks[0].operations:
            op = op.operation
            if op.name in FUNCTIONS and len(op.regions[0].blocks) == 1:
                extents.functions[text_of(op, "sym_name")] = op
    return extents.functions.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
