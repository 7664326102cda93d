"""The part of a module that one dispatch computes, as a module of its own."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from .provenance import is_source_op

_CHEAP = ("tensor.empty", "tensor.collapse_shape", "tensor.expand_shape", "tensor.cast", "tensor.dim")
_COPIED = (*_CHEAP, "tensor.extract_slice", "tensor.pad", "arith.", "index.")
"""Ops that are pure and belong to whatever reads them."""


def tensor_ops(module: ir.Operation) -> list[ir.Operation]:
    """The ops of ``module`` that make tensors, in program order, and are no cheap part of their readers: the source ops, and
    what moves elements. An op in the body of another is not among them."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        moves = (
            op.name.startswith("tensor.")
            and op.name not in _CHEAP
            and any(isinstance(r.type, ir.RankedTensorType) for r in op.results)
        )
        if is_source_op(op) or moves:
            found.append(op)
            return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def slice_of(ops: Iterable[ir.Operation], name: str = "reduced") -> ir.Operation:
    """A new module with one function of ``ops``, of one module, and what they need; everything else is an argument.

    Results are the values that something outside of the slice reads, or that nothing reads. The function takes and
    returns tensors, so stock iree-compile takes it from the start. Same context as the module's.
    """
    needed = _with_cheap_producers(list(ops))
    own = {hash(op) for op in ops}
    chosen = [op for op in needed if hash(op) in own]
    inputs = _inputs(needed)
    outputs = _outputs(chosen, {hash(op) for op in needed})
    with chosen[0].context, ir.Location.unknown():
        types = [value.type for value in inputs]
        results = [value.type for value in outputs]
        new = ir.Operation.create("builtin.module", regions=1)
        body = new.regions[0].blocks.append()
        signature = ir.TypeAttr.get(ir.FunctionType.get(types, results))
        function = ir.Operation.create(
            "func.func",
            regions=1,
            ip=ir.InsertionPoint(body),
            attributes={"sym_name": ir.StringAttr.get(name), "function_type": signature},
        )
        entry = function.regions[0].blocks.append(*types)
        replaced = dict(zip(map(hash, inputs), entry.arguments, strict=True))
        for op in needed:
            clone = op.clone(ip=ir.InsertionPoint(entry))
            _read_from(clone, replaced)
            replaced.update(zip(map(hash, op.results), clone.results, strict=True))
        ir.Operation.create(
            "func.return", operands=[replaced[hash(v)] for v in outputs], ip=ir.InsertionPoint(entry)
        )
    return new


def _with_cheap_producers(chosen: list[ir.Operation]) -> list[ir.Operation]:
    """``chosen`` and the cheap ops that they read, in program order."""
    found: dict[int, ir.Operation] = {hash(op): op for op in chosen}
    pending = list(chosen)
    while pending:
        op = pending.pop()
        for operand in _operands(op):
            owner = operand.owner
            if isinstance(owner, ir.Block):
                continue
            owner = owner.operation
            if owner.name.startswith(_COPIED) and hash(owner) not in found:
                found[hash(owner)] = owner
                pending.append(owner)
    # Reshapes between two chosen ops belong to them as well; they are reached from their reader above.
    order: dict[int, int] = {}
    root = chosen[0]
    while root.parent is not None:
        root = root.parent.operation
    root.walk(
        lambda op: (order.setdefault(hash(op), len(order)), ir.WalkResult.ADVANCE)[1], ir.WalkOrder.PRE_ORDER
    )
    return sorted(found.values(), key=lambda op: order[hash(op)])


def _operands(op: ir.Operation) -> list[ir.Value]:
    """Operands of ``op`` and values that its regions capture."""
    values = list(op.operands)
    own: set = set()

    def visit(inner: ir.Operation) -> ir.WalkResult:
        own.update(hash(result) for result in inner.results)
        for region in inner.regions:
            for block in region.blocks:
                own.update(hash(argument) for argument in block.arguments)
        return ir.WalkResult.ADVANCE

    op.walk(visit)

    def captured(inner: ir.Operation) -> ir.WalkResult:
        values.extend(v for v in inner.operands if hash(v) not in own)
        return ir.WalkResult.ADVANCE

    op.walk(captured)
    return list({hash(v): v for v in values}.values())


def _inputs(ops: list[ir.Operation]) -> list[ir.Value]:
    produced = {hash(result) for op in ops for result in op.results}
    inputs = {hash(v): v for op in ops for v in _operands(op) if hash(v) not in produced}
    return list(inputs.values())


def _outputs(chosen: list[ir.Operation], inside: set[int]) -> list[ir.Value]:
    outputs = []
    for op in chosen:
        for result in op.results:
            users = [use.owner.operation for use in result.uses]
            if not users or any(not _within(user, inside) for user in users):
                outputs.append(result)
    return outputs


def _within(op: ir.Operation, inside: set[int]) -> bool:
    while op is not None:
        if hash(op) in inside:
            return True
        op = op.parent.operation if op.parent is not None else None
    return False


def _read_from(clone: ir.Operation, replaced: dict[int, ir.Value]) -> None:
    """Lets ``clone``, and what its regions capture, read the new module's values."""

    def visit(inner: ir.Operation) -> ir.WalkResult:
        for operand in list(inner.operands):
            if hash(operand) in replaced:
                inner.replace_uses_of_with(operand, replaced[hash(operand)])
        return ir.WalkResult.ADVANCE

    clone.walk(visit)
