"""May IREE refuse what the host does, behind code generation?"""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.dialect.attributes import attributes
from fissile.passes.checks.refusals.other_program import other_program
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.legality.candidates import ABI_ELEMENTS

_HOST_FLOATS = ("f32", "f64")
_HOST_BITS = (1, 8, 16, 32, 64)
"""What IREE's VM computes with (3.13); it has other types for no scalar, and converts some ops on them to invalid ones."""


_HOST_UNKNOWN = (ir.ComplexType, ir.VectorType, ir.RankedTensorType, ir.MemRefType, ir.UnrankedMemRefType)
_FLOAT = re.compile(r"(?:bf16|t?f\d+\w*)$")
"""The bindings have no class for some of them: f80, f128."""


def doubtful_on_host(module: ir.Operation) -> str:
    """The first type of a value outside of executables that the VM may have no form for, or what else stands beside its functions; empty
    where there is neither.

    ``module`` is at phase executable-configurations.
    """
    found: list[str] = []

    def see(type_: ir.Type) -> None:
        text = str(type_)
        known = text in _HOST_FLOATS if _FLOAT.match(text) else not isinstance(type_, _HOST_UNKNOWN)
        if isinstance(type_, ir.IntegerType):
            known = type_.width in _HOST_BITS and type_.is_signless
        if not known:
            found.append(text)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in (iree_ops.HAL_EXECUTABLE, iree_ops.FLOW_EXECUTABLE, iree_ops.STREAM_EXECUTABLE):
            return ir.WalkResult.SKIP
        if op.name == iree_ops.STREAM_TENSOR_EXPORT:
            found.extend(_unnamed(op))
        for value in op.results:
            see(value.type)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    see(argument.type)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    beside = next((note for note in other_program(module)), "")
    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else beside


def _unnamed(export: ir.Operation) -> list[str]:
    """The tensor that ``export`` returns to the caller, where the ABI may have no name for its elements."""
    types = [value.value for _name, value in attributes(export) if isinstance(value, ir.TypeAttr)]
    return [
        str(type_)
        for type_ in types
        if isinstance(type_, ir.RankedTensorType) and str(type_.element_type).lstrip("su") not in ABI_ELEMENTS
    ]
