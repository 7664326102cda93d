"""What IREE may compute as it compiles: ops that depend on constants alone. It hoists them into globals, and evaluates those in global
optimisation by a module for the CPU of this machine (ConstEval)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.dialect.element_bytes import stands_in_resource
from fissile.passes.iree import ops as iree_ops

from ..dispatch.producers import bytes_of_results
from ..dispatch.provenance import is_source_op
from ..host.on_host import HOST_REGIONS, ops_on_host

MAX_GROWTH = 1 << 20
"""Bytes that a tensor may take beyond those of the constants it is made of: IREE does not hoist it otherwise (by default)."""
_MADE = ("arith.constant", "tensor.empty", iree_ops.FLOW_TENSOR_CONSTANT)
_LOAD = iree_ops.UTIL_GLOBAL_LOAD
_COMPUTES = (
    "affine.",
    "arith.",
    "complex.",
    iree_ops.FLOW_OPS,
    "linalg.",
    "math.",
    "tensor.",
    iree_ops.LINALG_EXT_OPS,
)
"""Dialects whose ops compute what their operands say, and nothing else."""


@dataclass(frozen=True)
class Evaluated:
    """``value`` is a constant that other ops than those of constants use; ``ops`` compute it, constants included, in program order."""

    value: ir.OpResult
    ops: tuple[ir.Operation, ...]

    @property
    def source(self) -> ir.Operation:
        """The first op that computes."""
        return next(op for op in self.ops if is_source_op(op))


def evaluated_ops(module: ir.Operation) -> list[ir.Operation]:
    """The source ops of ``module``, at phase input, that depend on constants alone: IREE evaluates no other, and of these perhaps not all."""
    return [op for op in constant_ops(module) if is_source_op(op)]


def evaluated_values(module: ir.Operation) -> list[Evaluated]:
    """Each tensor of ``module``, at phase input, that IREE may put into a global by itself and evaluate, in program order."""
    ops = constant_ops(module)
    order = {op: number for number, op in enumerate(ops)}
    found = []
    for op in ops:
        for value in op.results:
            if not _is_held(value) or all(_around(use.owner.operation, order) for use in value.uses):
                continue
            made_by = sorted(_ops_behind(op), key=order.__getitem__)
            if any(map(is_source_op, made_by)) and not _grows(op, made_by):
                found.append(Evaluated(value, tuple(made_by)))
    return found


def constant_ops(module: ir.Operation) -> list[ir.Operation]:
    """The ops of ``module`` outside of bodies that are constants or compute constants of others, in program order."""
    globals_known: set[str] | None = None
    known: set[ir.Value] = set()
    found = []
    for op in ops_on_host(module):
        name = op.name
        if name == _LOAD:
            globals_known = _constant_globals(module) if globals_known is None else globals_known
            is_constant = text_of(op, "global") in globals_known
        elif len(op.operands):
            is_constant = name.startswith(_COMPUTES) and all(value in known for value in _read(op))
        else:
            is_constant = name in _MADE
        if is_constant:
            known.update(op.results)
            found.append(op)
    return found


def _read(op: ir.Operation) -> Iterator[ir.Value]:
    """The operands of ``op``, and what its regions read from outside of them."""
    yield from op.operands
    for region in op.regions:
        inside: set[ir.Value] = set()
        for block in region.blocks:
            inside.update(block.arguments)
            for inner in block.operations:
                yield from (value for value in _read(inner.operation) if value not in inside)
                inside.update(inner.operation.results)


def _constant_globals(module: ir.Operation) -> set[str]:
    """The globals whose contents the module has, and does not change."""
    return {
        text_of(op.operation, "sym_name")
        for op in module.regions[0].blocks[0]
        if op.operation.name == iree_ops.UTIL_GLOBAL
        and "is_mutable" not in op.operation.attributes
        and "initial_value" in op.operation.attributes
        and _is_content(op.operation.attributes["initial_value"])
    }


def _is_content(held: ir.Attribute) -> bool:
    return isinstance(held, ir.DenseElementsAttr) or stands_in_resource(held)


def _is_held(value: ir.Value) -> bool:
    """Whether a global can hold ``value``."""
    type_ = value.type
    return isinstance(type_, ir.RankedTensorType) and type_.has_static_shape and type_.encoding is None


def _around(op: ir.Operation, among: dict[ir.Operation, int]) -> bool:
    """Whether ``op`` is one of ``among``, or in one of their regions."""
    while op not in among and op.name not in HOST_REGIONS and op.parent is not None:
        op = op.parent.operation
    return op in among


def _ops_behind(op: ir.Operation) -> set[ir.Operation]:
    """``op`` and what it depends on."""
    seen: set[ir.Operation] = set()
    ahead = [op]
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead += [value.owner.operation for value in _read(one)]
    return seen


def _grows(op: ir.Operation, made_by: list[ir.Operation]) -> bool:
    given = sum(
        bytes_of_results(one) or 0 for one in made_by if not len(one.operands) and one.name != "tensor.empty"
    )
    return (bytes_of_results(op) or 0) > given + MAX_GROWTH
