"""Properties of IR that several passes' contracts name. A property of one pass stands beside that pass."""

from __future__ import annotations

from iree.compiler import ir

from fissile.dialect import ops_of, place_of

from .definition import Offence, define_property


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


@define_property("linalg-on-tensors", "structured ops have tensor operands, not memrefs")
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
        op, "flow.dispatch.workgroups", "flow.executable", "hal.executable", "stream.executable"
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
        if parent.name.startswith("flow.dispatch.") or parent.name.endswith(".executable"):
            return True
        parent = parent.operation.parent
    return False


def _offending_ops(op: ir.Operation, *names: str) -> list[Offence]:
    return [
        Offence(f"{found.name} is there", place_of(found)) for name in names for found in ops_of(op, name)
    ]
