"""Arguments and results of functions whose elements a caller has in another type than the program.

`--iree-input-demote-f64-to-f32` (on by default) and the flags like it change the types of a program. Where a front end has given
its functions IREE's ABI before (torch, ONNX), what crosses it keeps the type that the caller knows, and nothing converts it.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operand
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..bounds.value_names import ASYNC_SUFFIX
from ..dispatch.provenance import place_of
from ..program.private_calls import FUNCTIONS

_ENCODING = {
    iree_ops.HAL_TENSOR_IMPORT: "target_encoding",
    iree_ops.HAL_TENSOR_EXPORT: "source_encoding",
}


@dataclass(frozen=True)
class DemotedBoundary:
    """``op`` imports or exports a tensor of the program as one of ``caller`` elements, which have another width.

    An alias writes to the buffer of an argument, which is imported as such.
    """

    op: ir.Operation
    function: str
    caller: ir.Type
    program: ir.Type

    @property
    def is_argument(self) -> bool:
        return self.op.name == iree_ops.HAL_TENSOR_IMPORT

    @property
    def place(self) -> Place | None:
        return place_of(self.op)


def demoted_boundaries(module: ir.Operation) -> list[DemotedBoundary]:
    """Those of ``module``, at phase input, in program order."""
    found: list[DemotedBoundary] = []
    held: dict[ir.Value, ir.Type] = {}
    aliases: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == iree_ops.HAL_TENSOR_IMPORT:
            add(op, operand(op, "source"), op.results[0].type)
        elif op.name == iree_ops.HAL_TENSOR_EXPORT:
            add(op, None, operand(op, "source").type)
        elif op.name == iree_ops.HAL_TENSOR_ALIAS:
            aliases.append(op)
        return ir.WalkResult.ADVANCE

    def add(op: ir.Operation, buffer: ir.Value | None, type_: ir.Type) -> None:
        declared = ir.TypeAttr(op.attributes[_ENCODING[op.name]]).value
        if not (isinstance(declared, ir.RankedTensorType) and isinstance(type_, ir.RankedTensorType)):
            return
        caller, program = declared.element_type, type_.element_type
        if _differ(caller, program):
            found.append(DemotedBoundary(op, _function_of(op), caller, program))
            if buffer is not None:
                held[buffer] = caller

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    for alias in aliases:
        caller = held.get(operand(alias, "storage"))
        if caller is not None:
            program = ir.RankedTensorType(operand(alias, "source").type).element_type
            found.append(DemotedBoundary(alias, _function_of(alias), caller, program))
    return found


def _differ(one: ir.Type, other: ir.Type) -> bool:
    """Whether both are floats, of two formats, or signless integers of two widths; an i1 is stored as an i8."""
    if isinstance(one, ir.FloatType) and isinstance(other, ir.FloatType):
        return one != other
    if isinstance(one, ir.IntegerType) and isinstance(other, ir.IntegerType):
        return (
            one.width != other.width and one.width > 1 < other.width and one.is_signless and other.is_signless
        )
    return False


def _function_of(op: ir.Operation) -> str:
    while op.name not in FUNCTIONS:
        op = op.parent.operation
    return text_of(op, "sym_name").removesuffix(ASYNC_SUFFIX)
