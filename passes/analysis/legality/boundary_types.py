"""Arguments and results of a function whose types IREE takes in no function: each type is compiled in a function of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.dialect.attributes import text_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.legality.candidates import ABI_ELEMENTS, NARROWER

from .compiler import Compiler, Outcome
from .nameless_elements import element_of, through_barrier
from .units import functions, is_passable, is_private
from .unranked import is_unranked

PACKED_WIDTHS = (4, 8, 16)
"""Bits of an element that IREE stores without a gap: the size in bytes is that of the bits."""
_FLOAT = re.compile(r"(?:bf16|t?f\d+\w*)$")


@dataclass(frozen=True)
class BoundaryValue:
    """``what`` is `argument 2 of @main`, ``function`` its symbol; ``outcome`` what becomes of a function that takes ``type`` and returns it.

    ``apart``: the rest of the program is compiled without it, where no other function calls this one. ``number``: it is a number or a tensor. ``as_bytes``: the tensor that IREE takes and reinterprets as ``type`` inside the function;
    ``instead``: another type that it takes. Both were compiled.
    """

    what: str
    function: str
    type: str
    place: Place | None
    outcome: Outcome
    apart: bool = False
    number: bool = False
    as_bytes: str = ""
    instead: str = ""


def refused_boundaries(
    compiler: Compiler, module: ir.Operation, flags: Sequence[str], to: str, start: str
) -> list[BoundaryValue]:
    """The arguments and results of ``module``'s functions whose types IREE refuses on the way to phase ``to``."""
    if start != "start":
        return []
    found = []
    for function in functions(module):
        name = text_of(function, "sym_name")
        for what, type_ in _values(function):
            if _is_plain(type_) or is_unranked(type_):
                continue
            outcome = compiler.compile(_program(str(type_)), flags, to)
            if not outcome.ok and compiler.compile(_program(""), flags, to).ok:
                found.append(BoundaryValue(what, name, str(type_), place_of(function), outcome))
    return found


def nameless_boundaries(module: ir.Operation, nameless: Mapping[str, Outcome]) -> list[BoundaryValue]:
    """The arguments and results of ``module``'s public functions with ``nameless`` elements, but for an argument that is handed back unread."""
    found = []
    for function in functions(module) if nameless else ():
        if is_private(function):
            continue
        name, unread = text_of(function, "sym_name"), _unread(function)
        found += [
            BoundaryValue(what, name, str(type_), place_of(function), nameless[element_of(type_)], apart=True)
            for what, type_ in _values(function)
            if element_of(type_) in nameless and what not in unread
        ]
    return found


def with_ways_out(compiler: Compiler, value: BoundaryValue, flags: Sequence[str]) -> BoundaryValue:
    """``value`` with the types that IREE takes in the place of its own."""
    context = compiler.session(flags).context
    with context, ir.Location.unknown(context):
        type_ = ir.Type.parse(value.type)
        if (element := element_of(type_)) == "" and not _is_number(type_):
            return value
        bytes_ = _bytes_of(ir.RankedTensorType(type_)) if element else ""
        others = _tensors_instead(type_, element) if element else _numbers_instead(type_)

    def taken(program: str) -> bool:
        return compiler.compile(program, flags, "end").ok

    return replace(
        value,
        number=True,
        as_bytes=bytes_ if bytes_ and taken(_reinterpreted(bytes_, value.type)) else "",
        instead=next((other for other in others if taken(through_barrier(other.replace("?", "4")))), ""),
    )


def _bytes_of(type_: ir.RankedTensorType) -> str:
    """The tensor of bytes that is as large as ``type_``; empty where its size is open, or IREE stores elements of its width padded."""
    if not type_.has_static_shape or not isinstance(type_.element_type, ir.FloatType):
        return ""
    width = ir.FloatType(type_.element_type).width
    bits = prod(type_.shape) * width
    return "" if width not in PACKED_WIDTHS or bits % 8 else f"tensor<{bits // 8}xi8>"


def _reinterpreted(bytes_: str, type_: str) -> str:
    bitcast, barrier = iree_ops.FLOW_TENSOR_BITCAST, iree_ops.UTIL_OPTIMIZATION_BARRIER
    return (
        f"func.func @op(%a: {bytes_}) -> {bytes_} {{\n"
        f"  %0 = {bitcast} %a : {bytes_} -> {type_}\n  %1 = {barrier} %0 : {type_}\n"
        f"  %2 = {bitcast} %1 : {type_} -> {bytes_}\n  return %2 : {bytes_}\n}}\n"
    )


def _tensors_instead(type_: ir.Type, element: str) -> list[str]:
    narrow = NARROWER.get(element, "f32" if _FLOAT.match(element) else "")
    sizes = str(type_).removeprefix("tensor<").split(element, 1)[0]
    return [f"tensor<{sizes}{narrow}>"] if narrow else []


def _numbers_instead(type_: ir.Type) -> list[str]:
    """For a number: the same without a sign, a tensor of no dimensions."""
    signless = [str(type_).lstrip("su")] if isinstance(type_, ir.IntegerType) else []
    return [*(other for other in signless if other != str(type_)), f"tensor<{type_}>"]


def _values(function: ir.Operation) -> Iterator[tuple[str, ir.Type]]:
    name = text_of(function, "sym_name")
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    yield from ((f"argument {n} of @{name}", type_) for n, type_ in enumerate(signature.inputs))
    yield from ((f"result {n} of @{name}", type_) for n, type_ in enumerate(signature.results))


def _unread(function: ir.Operation) -> set[str]:
    """The arguments that nothing reads, and the results that are an argument: IREE hands those back as they came."""
    name = text_of(function, "sym_name")
    block = function.regions[0].blocks[0]
    end = list(block.operations)[-1].operation
    found = {
        f"argument {n} of @{name}"
        for n, value in enumerate(block.arguments)
        if all(use.owner.operation == end for use in value.uses)
    }
    return found | {f"result {n} of @{name}" for n, value in enumerate(end.operands) if value.owner == block}


def _is_plain(type_: ir.Type) -> bool:
    """Whether every function takes it; a tensor's element type was asked for before."""
    return str(type_) in ABI_ELEMENTS if _is_number(type_) else is_passable(type_)


def _is_number(type_: ir.Type) -> bool:
    return isinstance(type_, (ir.IntegerType, ir.FloatType, ir.ComplexType)) or bool(_FLOAT.match(str(type_)))


def _program(type_: str) -> str:
    if not type_:
        return "func.func @op() {\n  return\n}\n"
    return f"func.func @op(%a: {type_}) -> {type_} {{\n  return %a : {type_}\n}}\n"
