"""Properties of IR that several passes' contracts name. A property of one pass stands beside that pass."""

from __future__ import annotations

import re

from iree.compiler import ir

from fissile.dialect import ops_of, place_of, place_of_location
from fissile.dialect.verify import verify_dialect
from fissile.passes.iree import ops as iree_ops

from .definition import Offence, define_property


@define_property("well-formed", "MLIR's verifier and the rules of the fissile dialect accept the program")
def WELL_FORMED(op: ir.Operation) -> list[Offence]:
    try:
        op.operation.verify()
    except ir.MLIRError as error:
        errors = [one for one in error.error_diagnostics if one.severity == ir.DiagnosticSeverity.ERROR]
        return [
            Offence(one.message.split("\n", 1)[0], place_of_location(one.location)) for one in errors
        ] or [Offence(str(error).split("\n", 1)[0])]
    return [Offence(found.message, found.places[0] if found.places else None) for found in verify_dialect(op)]


@define_property("no-unknown-op", "every op belongs to a dialect of IREE or of fissile")
def NO_UNKNOWN_OP(op: ir.Operation) -> list[Offence]:
    known: dict[str, bool] = {}
    found: list[Offence] = []

    def visit(one: ir.Operation) -> ir.WalkResult:
        name = one.name
        if name not in known:
            known[name] = name.startswith("fissile.") or one.context.is_registered_operation(name)
        if not known[name]:
            found.append(Offence(f"{name} is an op of no known dialect", place_of(one)))
        return ir.WalkResult.ADVANCE

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


@define_property("fully-typed", "every tensor and buffer has a rank and an element type")
def FULLY_TYPED(op: ir.Operation) -> list[Offence]:
    typed: dict[ir.Type, bool] = {}
    found: list[Offence] = []

    def visit(one: ir.Operation) -> ir.WalkResult:
        for result in one.results:
            type_ = result.type
            if type_ not in typed:
                typed[type_] = not _UNTYPED.match(str(type_))
            if not typed[type_]:
                found.append(Offence(f"{one.name} has a result of type {type_}", place_of(one)))
        return ir.WalkResult.ADVANCE

    op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


_UNTYPED = re.compile(r"(tensor|memref)<\*|!torch\.(tensor|vtensor)(<\*|$)|!torch\.any$")
"""Types of values whose shape or element type is not known."""


@define_property("no-fissile-boundaries", "no fissile.boundary is left")
def NO_BOUNDARIES(op: ir.Operation) -> list[Offence]:
    return _offending_ops(op, "fissile.boundary")


@define_property("no-fissile-groups", "no fissile.group is left")
def NO_GROUPS(op: ir.Operation) -> list[Offence]:
    return _offending_ops(op, "fissile.group")


@define_property("no-fissile-requires", "no fissile.require is left")
def NO_REQUIRES(op: ir.Operation) -> list[Offence]:
    return _offending_ops(op, "fissile.require")


@define_property(
    "no-fissile-storage", "no fissile.alloc_storage, fissile.alloc_tensor or fissile.kill is left"
)
def NO_STORAGE(op: ir.Operation) -> list[Offence]:
    return _offending_ops(op, "fissile.alloc_storage", "fissile.alloc_tensor", "fissile.kill")


@define_property("no-fissile-ops", "no op of the fissile dialect is left")
def NO_FISSILE_OPS(op: ir.Operation) -> list[Offence]:
    return _offending_ops(op, "fissile.")


@define_property("tensor-level", "structured ops have tensor operands, not memrefs")
def LINALG_ON_TENSORS(op: ir.Operation) -> list[Offence]:
    return [
        Offence(f"{found.name} has a memref operand", place_of(found))
        for found in ops_of(op, "linalg.")
        if any(isinstance(operand.type, ir.MemRefType) for operand in found.operands)
    ]


@define_property(
    "dispatches-not-formed", "dispatch creation has not run: no executable and no dispatch of one"
)
def DISPATCHES_NOT_FORMED(op: ir.Operation) -> list[Offence]:
    # A pre-formed flow.dispatch.region is input of dispatch creation, so it does not count.
    return _offending_ops(
        op,
        iree_ops.FLOW_DISPATCH_WORKGROUPS,
        iree_ops.FLOW_EXECUTABLE,
        iree_ops.HAL_EXECUTABLE,
        iree_ops.STREAM_EXECUTABLE,
    )


@define_property(
    "dispatches-formed", "dispatch creation has run: no structured op is left outside a dispatch"
)
def DISPATCHES_FORMED(op: ir.Operation) -> list[Offence]:
    return [
        Offence(f"{found.name} is in no dispatch", place_of(found))
        for found in ops_of(op, "linalg.")
        if found.name not in ("linalg.yield", "linalg.index") and not _in_dispatch(found)
    ]


def _in_dispatch(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None:
        if parent.name.startswith(iree_ops.FLOW_DISPATCH_OPS) or parent.name.endswith(".executable"):
            return True
        parent = parent.operation.parent
    return False


def _offending_ops(op: ir.Operation, *names: str) -> list[Offence]:
    return [
        Offence(f"{found.name} is there", place_of(found)) for name in names for found in ops_of(op, name)
    ]
