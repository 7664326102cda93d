"""Floats of less than 32 bits that the host holds by themselves: IREE's VM has no such type."""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from ..dispatch.provenance import place_of

VM_FLOAT_BITS = 32
_CASTS = ("arith.truncf", "arith.extf")


@dataclass(frozen=True)
class HostFloat:
    """A `util.global` of a narrow float: ``value`` where it is a constant cast to it, None where it is computed otherwise."""

    op: ir.Operation
    name: str
    type: ir.FloatType
    value: float | None
    place: Place | None
    stores: tuple[ir.Operation, ...]
    loads: tuple[ir.Operation, ...]


def host_floats(module: ir.Operation) -> list[HostFloat]:
    """Every such global of ``module``, in program order. IREE hoists a cast that MLIR does not fold (one that overflows or
    rounds) into one, in global optimisation."""
    globals_ = {}
    for op in (o.operation for o in module.regions[0].blocks[0].operations):
        if op.name == iree_ops.UTIL_GLOBAL:
            float_type = ir.TypeAttr(op.attributes["type"]).value
            if isinstance(float_type, ir.FloatType) and float_type.width < VM_FLOAT_BITS:
                globals_[text_of(op, "sym_name")] = (op, float_type)
    if not globals_:
        return []
    uses: dict[str, list[ir.Operation]] = {name: [] for name in globals_}

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in (iree_ops.UTIL_GLOBAL_LOAD, iree_ops.UTIL_GLOBAL_STORE):
            name = text_of(op, "global")
            if name in uses:
                uses[name].append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    found = []
    for name, (op, float_type) in globals_.items():
        stores, loads = (
            tuple(u for u in uses[name] if u.name.endswith(which)) for which in (".store", ".load")
        )
        value = (
            _constant(stores[0].operands[0])
            if len(stores) == 1 and "initial_value" not in op.attributes
            else None
        )
        found.append(
            HostFloat(
                op, name, float_type, value, place_of(stores[0]) if stores else place_of(op), stores, loads
            )
        )
    return found


def _constant(value: ir.Value) -> float | None:
    """The number behind casts of a constant, each rounded as it is; None for anything else."""
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if op.name == "arith.constant":
        return ir.FloatAttr(op.attributes["value"]).value
    if op.name not in _CASTS or (before := _constant(op.operands[0])) is None:
        return None
    with op.location:
        return ir.FloatAttr.get(op.results[0].type, before).value
