"""Whether each run-time check comes before the dispatches that it guards, in the program as IREE has
scheduled it (the output of phase stream).

A `cf.assert` does not order the dispatches around it: a dispatch is submitted where its
`stream.cmd.execute` stands, and IREE puts that where its operands are ready. So a check guards a
dispatch by where it stands, or the dispatch stays in bounds whatever the check says:

- A check of sizes and offsets reads host values. A dispatch that is computed from all of them can be
  the guarded one, and has to be submitted behind the check. It always can be: what the check reads is
  known where the dispatch is submitted. The same holds for an allocation: one of a small negative size
  wraps to a few bytes in IREE's runtime, which writes its header past them.
- A dispatch that loads its indices or offsets itself depends on no check of them: each has to be
  clamped to its dimension there.
"""

from __future__ import annotations

from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.operands import operands_named
from fissile.dialect.views import view_of
from fissile.passes.iree import ops as iree_ops

from ..bounds.extents import is_argument

ALLOCATE = iree_ops.STREAM_RESOURCE_ALLOCA
EXECUTE, DISPATCH = iree_ops.STREAM_CMD_EXECUTE, iree_ops.STREAM_CMD_DISPATCH
GROUPS = (iree_ops.STREAM_CMD_CONCURRENT, iree_ops.STREAM_CMD_SERIAL)
SLICING = (
    iree_ops.TENSOR_EXT_DISPATCH_TENSOR_LOAD,
    iree_ops.TENSOR_EXT_DISPATCH_TENSOR_STORE,
    "tensor.extract_slice",
    "tensor.insert_slice",
)
SCALARS = ("arith.", "affine.", "index.", iree_ops.UTIL_OPTIMIZATION_BARRIER)
"""Dialects whose ops compute host values from host values alone."""
CLAMPS = ("arith.minui", "arith.remui")
"""Ops whose result is bounded by their second operand, whatever the first is."""


@dataclass(frozen=True)
class Overtaken:
    """``dispatch`` may be submitted, or memory be allocated, where ``execute`` stands, before ``check`` was made; it has ``message``."""

    message: str
    dispatch: str
    check: ir.Operation
    execute: ir.Operation


def overtaken_checks(module: ir.Operation) -> list[Overtaken]:
    """The checks of host values in ``module`` (at phase stream) that a dispatch or an allocation may run ahead of."""
    found: list[Overtaken] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name in (EXECUTE, ALLOCATE) and (checks := _behind(op)):
            known = _leaves(_operands(op))
            ahead = [check for check in checks if _read_by(check) <= known]
            found.extend(Overtaken(_message(check), _contents(op), check, op) for check in ahead)
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def unclamped_accesses(module: ir.Operation) -> list[ir.Operation]:
    """The ops in the dispatches of ``module`` (at phase stream) that access a tensor where loaded data
    says, with no bound on it."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if any(is_loaded(place) for place in _places(op)):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def _places(op: ir.Operation) -> list[ir.Value]:
    """The values that say where ``op`` accesses a tensor."""
    if op.name == "tensor.extract":
        return operands_named(op, "indices")
    if op.name in SLICING:
        view = view_of(op)
        return [*view.offsets, *view.sizes]
    return []


def is_loaded(value: ir.Value) -> bool:
    """Whether ``value`` is computed from an element of a tensor and no op bounds it from above."""
    if is_argument(value):
        owner = value.owner.owner
        return owner is not None and owner.operation.name.startswith("linalg.")
    op = value.owner.operation
    if op.name in CLAMPS:
        return is_loaded(op.operands[1])
    if op.name == "tensor.extract":
        return True
    return any(is_loaded(v) for v in op.operands) or _loads_inside(op)


def _loads_inside(op: ir.Operation) -> bool:
    """Whether a branch or a loop reads a tensor, or uses what was read."""
    found = False

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal found
        if inner == op:
            return ir.WalkResult.ADVANCE
        found |= inner.name == "tensor.extract" or any(is_loaded(v) for v in inner.operands)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    if len(op.regions):
        op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _behind(op: ir.Operation) -> list[ir.Operation]:
    """The asserts that stand behind ``op`` in its block."""
    rows = [row.operation for row in op.block.operations]
    return [row for row in rows[rows.index(op) + 1 :] if row.name == "cf.assert"]


def _read_by(check: ir.Operation) -> set[ir.Value]:
    return _leaves([view_of(check).arg])


def _message(check: ir.Operation) -> str:
    return text_of(check, "msg")


def _operands(execute: ir.Operation) -> list[ir.Value]:
    """Every value that the ops inside ``execute`` are given, sizes of resources included."""
    found = list(execute.operands)
    for inner in _inside(execute):
        found += list(inner.operands)
    return found


def _inside(execute: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op != execute:
            found.append(op)
        return ir.WalkResult.ADVANCE

    execute.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _leaves(values: list[ir.Value]) -> set[ir.Value]:
    """The host values that ``values`` are computed from; constants are none."""
    found: set[ir.Value] = set()
    seen: set[ir.Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if is_argument(value):
            found.add(value)
            continue
        op = value.owner.operation
        if op.name.startswith(SCALARS):
            pending += list(op.operands)
        else:
            found.add(value)
            if op.name.startswith(
                iree_ops.STREAM_OPS
            ):  # a resource: what decides its size is known where it is used
                pending += [v for v in op.operands if isinstance(v.type, ir.IndexType)]
    return found


def _contents(execute: ir.Operation) -> str:
    """What ``execute`` submits, by name; an allocation's own name."""
    if execute.name == ALLOCATE:
        return execute.name
    names = [
        str(op.attributes["entry_points"]) if op.name == DISPATCH else op.name
        for op in _inside(execute)
        if op.name.startswith(iree_ops.STREAM_COMMANDS) and op.name not in GROUPS
    ]
    return ", ".join(dict.fromkeys(names))
