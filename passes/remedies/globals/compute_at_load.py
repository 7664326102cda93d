"""Has a module compute constants when it is loaded, and not IREE as it compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.finding import Finding
from fissile.passes.analysis.globals.evaluated import Evaluated, evaluated_values
from fissile.passes.analysis.program.private_calls import FUNCTIONS
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.flags import NOT_EVALUATED
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.host.held_tensors import held
from fissile.passes.remedies.rebuilt_ops import copy_into
from fissile.passes.remedies.remedy import Exactness, Remedy

NAME = "__computed_at_load"
_FILL = "linalg.fill"
_LOAD = iree_ops.UTIL_GLOBAL_LOAD


@register_pass
@dataclass(frozen=True)
class ComputeAtLoad(Remedy):
    """Moves ops that depend on constants alone into an initializer, with barriers behind the constants, so that IREE does not evaluate them.

    For programs that IREE rejects because it cannot evaluate a constant (FIS215): the device computes it when the module is loaded, and the
    code for it is repaired as any other is. Run it on the output of phase input. It changes programs that IREE compiles, too: it is for a
    program that IREE has rejected. Tensors of dynamic sizes, those that IREE would not hoist, and fills stay where they are.
    """

    name: ClassVar[str] = "fissile-compute-at-load"
    cures: ClassVar[tuple[str, ...]] = ("FIS215",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "computes constants when the module is loaded, and not while IREE compiles"
    repairs: ClassVar[str] = "constants that IREE fails to evaluate (FIS215)"
    numbers: ClassVar[str] = "bit-identical"
    counterpart: ClassVar[str] = f"`{NOT_EVALUATED}` does so for all constants of a program."
    done: ClassVar[str] = "had the device compute the constants when the module is loaded"
    advice: ClassVar[str] = "have the device compute the constants when the module is loaded"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        moved: list[Evaluated] = []
        first = next((one for one in _ops_of(op) if one.name in FUNCTIONS), None)
        known = _globals_before(op, first)
        for one in evaluated_values(op):
            if _top(one.value.owner.operation).name == iree_ops.UTIL_INITIALIZER:
                _hide(one.ops)
            elif not _is_fill(one) and all(
                text_of(load, "global") in known for load in one.ops if load.name == _LOAD
            ):
                moved.append(one)
        if moved:
            assert first is not None  # one of ``moved`` stands in it, or behind it
            _move(op, first, moved)


def _move(module: ir.Operation, first: ir.Operation, moved: list[Evaluated]) -> None:
    """An initializer computes all of ``moved``, each for a global of its own. Both stand before the ``first`` function: IREE 3.13 rejects a
    load of a tensor from a global that is declared behind it."""
    names = _unused(module)
    used = [
        (one, next(names), [use for use in one.value.uses if use.owner.operation not in one.ops])
        for one in moved
    ]
    with ir.InsertionPoint(first), moved[0].value.owner.operation.location:
        for one, name, _uses in used:
            _global(name, one.value.type)
        nothing = {"function_type": ir.TypeAttr.get(ir.FunctionType.get([], []))}
        initializer = ir.Operation.create(iree_ops.UTIL_INITIALIZER, attributes=nothing, regions=1)
    copied: dict[ir.Value, ir.Value] = {}
    done: set[ir.Operation] = set()
    with ir.InsertionPoint(initializer.regions[0].blocks.append()):
        for one, name, _uses in used:
            for inner in one.ops:
                if inner not in done:
                    done.add(inner)
                    with inner.location:
                        _copy(inner, copied)
            with one.value.owner.operation.location:
                symbol = {"global": ir.FlatSymbolRefAttr.get(name)}
                ir.Operation.create(iree_ops.UTIL_GLOBAL_STORE, [], [copied[one.value]], symbol)
        with initializer.location:
            ir.Operation.create(iree_ops.UTIL_RETURN)
    for one, name, uses in used:
        maker = one.value.owner.operation
        with ir.InsertionPoint(maker), maker.location:
            symbol = {"global": ir.FlatSymbolRefAttr.get(name)}
            loaded = ir.Operation.create(_LOAD, [one.value.type], [], symbol).results[0]
        for use in uses:
            use.owner.operands[use.operand_number] = loaded


def _global(name: str, type_: ir.Type) -> None:
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private"),
        "type": ir.TypeAttr.get(type_),
    }
    ir.Operation.create(iree_ops.UTIL_GLOBAL, attributes=attributes)


def _copy(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
    copy_into(op, values)
    if _is_leaf(op):
        values[op.results[0]] = held(values[op.results[0]], ())


def _hide(ops: Iterable[ir.Operation]) -> None:
    """Puts barriers behind the constants among ``ops``, which stand in an initializer already."""
    for op in filter(_is_leaf, ops):
        uses = list(op.results[0].uses)
        if any(use.owner.operation.name == iree_ops.UTIL_OPTIMIZATION_BARRIER for use in uses):
            continue
        with ir.InsertionPoint.after(op), op.location:
            behind = held(op.results[0], ())
        for use in uses:
            use.owner.operands[use.operand_number] = behind


def _is_fill(one: Evaluated) -> bool:
    """Whether ``one`` is one number everywhere, which IREE can evaluate: products that begin with the same zeros, loaded from a global, would
    update it in place (FIS156)."""
    element = ir.RankedTensorType(one.value.type).element_type
    return one.value.owner.operation.name == _FILL and not isinstance(element, ir.ComplexType)


def _is_leaf(op: ir.Operation) -> bool:
    """Whether ``op`` is a tensor that nothing computes."""
    is_made = not len(op.operands) and op.name != "tensor.empty"
    return is_made and isinstance(op.results[0].type, ir.RankedTensorType)


def _ops_of(module: ir.Operation) -> Iterator[ir.Operation]:
    return (op.operation for op in module.regions[0].blocks[0])


def _globals_before(module: ir.Operation, first: ir.Operation | None) -> set[str]:
    before = takewhile(lambda op: op != first, _ops_of(module))
    return {text_of(op, "sym_name") for op in before if op.name == iree_ops.UTIL_GLOBAL}


def _unused(module: ir.Operation) -> Iterator[str]:
    known = {text_of(op, "sym_name") for op in _ops_of(module)}
    number = 0
    while True:
        name = f"{NAME}_{number}"
        number += 1
        if name not in known:
            yield name


def _top(op: ir.Operation) -> ir.Operation:
    """The op of the module that ``op`` stands in."""
    while op.parent is not None and op.parent.operation.parent is not None:
        op = op.parent.operation
    return op
