"""What of a program is compiled alone: the ops of its functions, with what belongs inside of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.legality.candidates import OPENED_OPS, TERMINATORS

FUNCTIONS = ("func.func", iree_ops.UTIL_FUNC)
_PASSABLE = re.compile(
    r"(?:tensor|vector)<(?!\*)|!torch\.vtensor|!torch\.(?:int|float|bool)\b|[su]?i\d+$|bf16$|t?f\d+\w*$|index$|complex<"
)
"""Types of values that a function may take and return."""


@dataclass(frozen=True)
class Unit:
    """One op of function ``function``."""

    op: ir.Operation
    function: ir.Operation

    @property
    def name(self) -> str:
        return op_name(self.op)

    @property
    def place(self) -> Place | None:
        return place_of(self.op)


def op_name(op: ir.Operation) -> str:
    """The op as its front end calls it: `torch.operator "onnx.Add"` is `onnx.Add`."""
    if op.name == "torch.operator" and (named := text_of(op, "name")):
        return named
    return op.name


def is_passable(value_type: ir.Type) -> bool:
    """Whether a function of a probe can take and return a value of this type."""
    return _PASSABLE.match(str(value_type)) is not None


def functions(module: ir.Operation) -> list[ir.Operation]:
    """The functions of ``module`` that have a body."""
    return [
        op.operation
        for op in module.operation.regions[0].blocks[0].operations
        if op.operation.name in FUNCTIONS and len(op.operation.regions[0].blocks)
    ]


def is_private(function: ir.Operation) -> bool:
    return "private" in text_of(function, "sym_visibility")


def called_symbols(module: ir.Operation) -> set[str]:
    """The symbols that ops in functions of ``module`` call."""
    found: set[str] = set()

    def visit(op: ir.Operation) -> ir.WalkResult:
        if "callee" in op.attributes:
            found.add(text_of(op, "callee"))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def value_types(module: ir.Operation) -> list[ir.Type]:
    """The types of all values in the functions of ``module``, and of what these return."""
    found: list[ir.Type] = []
    for function in functions(module):
        signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        found += [*signature.inputs, *signature.results]
    found += [result.type for unit in units(module) for result in unit.op.results]
    return list({hash(value_type): value_type for value_type in found}.values())


def units(module: ir.Operation) -> Iterator[Unit]:
    """Every op of the functions of ``module``, in program order; terminators are none."""
    for function in functions(module):
        for op in _inside(function):
            yield Unit(op, function)


def _inside(op: ir.Operation) -> Iterator[ir.Operation]:
    pending = [_children(op)]  # no recursion: a program may be nested deeper than Python's stack
    while pending:
        inner = next(pending[-1], None)
        if inner is None:
            pending.pop()
            continue
        if inner.name.endswith(TERMINATORS) or inner.name == iree_ops.UTIL_OPTIMIZATION_BARRIER:
            continue
        yield inner
        if inner.name.startswith(OPENED_OPS):
            pending.append(_children(inner))


def _children(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for child in block.operations:
                yield child.operation
