"""A program without some of its ops: what they computed comes from the caller instead."""

from __future__ import annotations

from collections.abc import Iterable

from iree.compiler import ir

from fissile.dialect.attributes import text_of

from .nameless_elements import comes_from_nowhere, value_from_nowhere
from .units import Unit, called_symbols, functions, is_passable


def cut(module: ir.Operation, unwanted: Iterable[Unit]) -> list[Unit]:
    """Takes ops out of ``module``, in place; returns those that could be taken out.

    In a function that another calls, a tensor comes from nowhere instead. An op stays where a result has a type that no function takes,
    or cannot be made from nowhere.
    """
    called = called_symbols(module)
    done: list[Unit] = []
    unwanted = list(unwanted)
    ops = {unit.op for unit in unwanted}
    for unit in [one for one in unwanted if not _is_inside(one.op, ops)]:
        is_called = text_of(unit.function, "sym_name") in called
        can_come = comes_from_nowhere if is_called else is_passable
        used = [result for result in unit.op.results if _is_used(result)]
        if not all(can_come(result.type) for result in used):
            continue
        block = unit.function.regions[0].blocks[0]
        with unit.op.context, ir.Location.unknown(unit.op.context):
            for result in used:
                if is_called:
                    value = value_from_nowhere(result.type, ir.InsertionPoint(unit.op))
                else:
                    value = block.add_argument(result.type, ir.Location.unknown())
                result.replace_all_uses_with(value)
            unit.op.erase()
            _retype(unit.function, block)
        done.append(unit)
    return done


def _is_inside(op: ir.Operation, ops: set[ir.Operation]) -> bool:
    """Whether one of ``ops`` is around ``op``, and takes it along."""
    parent = op.parent
    while parent is not None:
        if parent.operation in ops:
            return True
        parent = parent.operation.parent
    return False


def remove_functions(module: ir.Operation, names: Iterable[str]) -> bool:
    """Takes those of the functions ``names`` out of ``module`` that no other calls; whether there was one."""
    wanted = set(names) - called_symbols(module)
    found = [op for op in functions(module) if text_of(op, "sym_name") in wanted]
    for op in found:
        op.erase()
    return bool(found)


def _is_used(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def _retype(function: ir.Operation, block: ir.Block) -> None:
    """Brings the type of ``function`` in line with the arguments of its first block."""
    kept = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, kept.results))
    if "arg_attrs" in function.attributes:
        given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
        given += [ir.DictAttr.get({})] * (len(inputs) - len(given))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)
