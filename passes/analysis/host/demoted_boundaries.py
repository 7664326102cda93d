"""Arguments and results of functions whose elements a caller has in another type than the program.

`--iree-input-demote-f64-to-f32` (on by default) and the flags like it change the types of a program. Where a front end has given
its functions IREE's ABI before (torch, ONNX), what crosses it keeps the type that the caller knows, and nothing converts it.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operands_named
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
    """Those of ``module``, at phase input: of each function, its arguments, its results, then the aliases."""
    functions = (
        op.operation for op in module.regions[0].blocks[0].operations if op.operation.name in FUNCTIONS
    )
    return [one for function in functions for one in _of_function(function)]


def _of_function(function: ir.Operation) -> list[DemotedBoundary]:
    """What uses an argument, and what makes a result: the function is not walked."""
    found: list[DemotedBoundary] = []
    for block in function.regions[0].blocks:
        for argument in block.arguments:
            if str(argument.type) != iree_ops.BUFFER_VIEW_TYPE:
                continue  # a fence is an argument of these ops as well
            users = [use.owner.operation for use in argument.uses]
            imports = [one for op in users if (one := _converted(op, function, iree_ops.HAL_TENSOR_IMPORT))]
            aliases = [op for op in users if op.name == iree_ops.HAL_TENSOR_ALIAS] if imports else []
            found += imports
            for alias in aliases:
                program = ir.RankedTensorType(operands_named(alias, "source")[0].type).element_type
                found.append(DemotedBoundary(alias, _name_of(function), imports[0].caller, program))
        for value in list(block.operations)[-1].operands:
            maker = value.owner.operation if isinstance(value, ir.OpResult) else None
            if maker is not None and (one := _converted(maker, function, iree_ops.HAL_TENSOR_EXPORT)):
                found.append(one)
    return found


def _converted(op: ir.Operation, function: ir.Operation, name: str) -> DemotedBoundary | None:
    if op.name != name:
        return None
    declared = ir.TypeAttr(op.attributes[_ENCODING[name]]).value
    imports = name == iree_ops.HAL_TENSOR_IMPORT
    type_ = op.results[0].type if imports else operands_named(op, "source")[0].type
    if not (isinstance(declared, ir.RankedTensorType) and isinstance(type_, ir.RankedTensorType)):
        return None
    caller, program = declared.element_type, type_.element_type
    return DemotedBoundary(op, _name_of(function), caller, program) if _differ(caller, program) else None


def _differ(one: ir.Type, other: ir.Type) -> bool:
    """Whether both are floats, of two formats, or complex numbers of such, or signless integers of two widths; an i1 is stored as an i8."""
    if isinstance(one, ir.ComplexType) and isinstance(other, ir.ComplexType):
        return _differ(one.element_type, other.element_type)
    if isinstance(one, ir.FloatType) and isinstance(other, ir.FloatType):
        return one != other
    if isinstance(one, ir.IntegerType) and isinstance(other, ir.IntegerType):
        return (
            one.width != other.width and one.width > 1 < other.width and one.is_signless and other.is_signless
        )
    return False


def _name_of(function: ir.Operation) -> str:
    return text_of(function, "sym_name").removesuffix(ASYNC_SUFFIX)
