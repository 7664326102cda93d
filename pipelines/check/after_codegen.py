"""May IREE refuse what the host does, behind code generation?"""

from __future__ import annotations

from iree.compiler import ir

from fissile.passes.iree import ops as iree_ops

_HOST_FLOATS = ("f32", "f64")
_HOST_BITS = (1, 8, 16, 32, 64)
"""What IREE's VM computes with (3.13); it has other types for no scalar, and converts some ops on them to invalid ones."""


def doubtful_on_host(module: ir.Operation) -> str:
    """The first type of a value outside of executables that the VM may have no form for; empty where there is none.

    ``module`` is at phase executable-configurations.
    """
    found: list[str] = []

    def see(kind: ir.Type) -> None:
        text = str(kind)
        known = (
            text in _HOST_FLOATS
            if isinstance(kind, ir.FloatType)
            else not isinstance(kind, (ir.ComplexType, ir.VectorType, ir.RankedTensorType))
        )
        if isinstance(kind, ir.IntegerType):
            known = kind.width in _HOST_BITS
        if not known:
            found.append(text)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in (iree_ops.HAL_EXECUTABLE, iree_ops.FLOW_EXECUTABLE, iree_ops.STREAM_EXECUTABLE):
            return ir.WalkResult.SKIP
        for value in op.results:
            see(value.type)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.arguments:
                    see(argument.type)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[0] if found else ""
