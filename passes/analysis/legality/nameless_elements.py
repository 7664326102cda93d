"""Element types that IREE's ABI has no name for: no function takes or returns a tensor of them, and code computes with them all the same.

Each is compiled in a function of its own. What a program computes with them is compiled without its arguments and results of
these types, so that ops are judged apart from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from iree.compiler import ir

from fissile.dialect.attributes import text_of
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.legality.candidates import ABI_ELEMENTS

from .compiler import Compiler, Outcome
from .units import called_symbols, functions

RETURNS = ("func.return", iree_ops.UTIL_RETURN)
_SIZE = 4
"""Stands for each unknown size of a tensor that comes from no argument."""
_SIGNEDNESS = re.compile(r"[su](?=i\d)")


def element_of(value_type: ir.Type) -> str:
    """The element type of a tensor with a rank; empty for any other type."""
    return str(value_type.element_type) if isinstance(value_type, ir.RankedTensorType) else ""


def nameless_elements(
    compiler: Compiler, values: Iterable[ir.Type], flags: Sequence[str]
) -> dict[str, Outcome]:
    """Of the element types of ``values``, those that IREE takes in no function and yet has tensors of, with what it says."""
    elements = {element_of(value_type) for value_type in values} - {""}
    found = {}
    for element in sorted(e for e in elements if _SIGNEDNESS.sub("", e) not in ABI_ELEMENTS):
        outcome = compiler.compile(through_barrier(f"tensor<{_SIZE}x{element}>"), flags, "end")
        if (
            not outcome.ok
            and compiler.compile(through_barrier(f"tensor<{_SIZE}xf32>"), flags, "end").ok
            and compiler.compile(_from_nowhere(f"tensor<{_SIZE}x{element}>"), flags, "end").ok
        ):
            found[element] = outcome
    return found


def through_barrier(type_: str) -> str:
    """A function that takes and returns ``type_``; the barrier keeps IREE from handing the argument back unread."""
    return (
        f"func.func @op(%a: {type_}) -> {type_} {{\n"
        f"  %0 = {iree_ops.UTIL_OPTIMIZATION_BARRIER} %a : {type_}\n  return %0 : {type_}\n}}\n"
    )


def _from_nowhere(type_: str) -> str:
    """A function that has a tensor of ``type_``, and neither takes nor returns it."""
    return (
        f"func.func @op() {{\n  %0 = tensor.empty() : {type_}\n"
        f"  %1 = {iree_ops.UTIL_OPTIMIZATION_BARRIER} %0 : {type_}\n  return\n}}\n"
    )


def comes_from_nowhere(value_type: ir.Type) -> bool:
    """Whether `value_from_nowhere` makes a value of ``value_type``."""
    return isinstance(value_type, ir.RankedTensorType)


def value_from_nowhere(value_type: ir.Type, at: ir.InsertionPoint) -> ir.Value:
    """A tensor of ``value_type`` that no optimisation knows anything of."""
    tensor_type = ir.RankedTensorType(value_type)
    sizes = [_unknown_size(at) for size in tensor_type.shape if tensor_type.is_dynamic_size(size)]
    empty = ir.Operation.create("tensor.empty", results=[tensor_type], operands=sizes, ip=at)
    return kept(empty.results[0], at)


def kept(value: ir.Value, at: ir.InsertionPoint) -> ir.Value:
    """``value`` behind a barrier: what computes it stays."""
    return ir.Operation.create(
        iree_ops.UTIL_OPTIMIZATION_BARRIER, results=[value.type], operands=[value], ip=at
    ).results[0]


def _unknown_size(at: ir.InsertionPoint) -> ir.Value:
    index = ir.IndexType.get()
    constant = ir.Operation.create(
        "arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, _SIZE)}, ip=at
    )
    return kept(constant.results[0], at)


def shut_in(module: ir.Operation, nameless: Mapping[str, Outcome]) -> bool:
    """Takes arguments and results of ``nameless`` elements off the functions of ``module`` that no other calls; whether there were any."""
    called = called_symbols(module)
    changed = False
    for function in functions(module):
        if text_of(function, "sym_name") not in called:
            with function.context, function.location:
                changed = _shut_in(function, nameless) or changed
    return changed


def _shut_in(function: ir.Operation, nameless: Mapping[str, Outcome]) -> bool:
    block = function.regions[0].blocks[0]
    arguments = [n for n, value in enumerate(block.arguments) if element_of(value.type) in nameless]
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    results = [n for n, type_ in enumerate(signature.results) if element_of(type_) in nameless]
    if not arguments and not results:
        return False
    for end in _returns(function):
        at = ir.InsertionPoint(end)
        values = list(end.operands)
        for number in results:
            kept(values[number], at)
        ir.Operation.create(
            end.name, operands=[v for n, v in enumerate(values) if n not in results], loc=end.location, ip=at
        )
        end.erase()
    for number in reversed(arguments):
        made = value_from_nowhere(block.arguments[number].type, ir.InsertionPoint.at_block_begin(block))
        block.arguments[number].replace_all_uses_with(made)
        block.erase_argument(number)
    inputs = [value.type for value in block.arguments]
    outputs = [type_ for n, type_ in enumerate(signature.results) if n not in results]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs))
    for name, gone in (("arg_attrs", arguments), ("res_attrs", results)):
        if name in function.attributes:
            given = ir.ArrayAttr(function.attributes[name])
            function.attributes[name] = ir.ArrayAttr.get([a for n, a in enumerate(given) if n not in gone])
    return True


def _returns(function: ir.Operation) -> list[ir.Operation]:
    ends = (list(block.operations)[-1].operation for block in function.regions[0].blocks)
    return [end for end in ends if end.name in RETURNS]
