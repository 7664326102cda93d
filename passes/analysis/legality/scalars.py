"""Which scalar op in the body of an op does IREE refuse: each is compiled in a loop of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from iree.compiler import ir

from fissile.dialect import place_of
from fissile.finding import Place
from fissile.passes.iree import ops as iree_ops

from .compiler import Compiler

_SCALAR = re.compile(r"(?:[su]?i\d+|bf16|t?f\d+\w*|index)$")
_LENGTH = 4
_TEMPLATE = """
func.func @op({arguments}){returns} {{
{nowhere}  %e = tensor.empty() : tensor<{n}x{result}>
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
    {ins} outs(%e : tensor<{n}x{result}>) {{
  ^bb0({body}%out: {result}):
    {op}
    linalg.yield %v : {result}
  }} -> tensor<{n}x{result}>
{end}
}}
"""


def scalar_to_blame(
    compiler: Compiler,
    op: ir.Operation,
    flags: Sequence[str],
    to: str,
    nameless: Collection[str] = (),
) -> tuple[str, Place | None] | None:
    """The first op in the body of ``op`` that IREE refuses in a loop of its own, with its place; None where there is none."""
    for inner in _scalar_ops(op):
        with_op = _program(inner, nameless)
        outcome = compiler.compile(with_op, flags, to)
        if not outcome.ok and compiler.compile(_without(inner, nameless), flags, to).ok:
            return inner.name, place_of(inner)
    return None


def _scalar_ops(op: ir.Operation) -> list[ir.Operation]:
    """The ops of ``op``'s body, by kind, that compute one scalar from scalars."""
    found: dict[tuple, ir.Operation] = {}
    for region in op.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                types = [str(value.type) for value in (*inner.operands, *inner.results)]
                if (
                    len(inner.results) == 1
                    and len(inner.operands) > 0
                    and not len(inner.regions)
                    and all(map(_SCALAR.match, types))
                ):
                    found.setdefault((inner.name, *types, *map(str, inner.attributes)), inner)
    return list(found.values())


def _program(op: ir.Operation, nameless: Collection[str]) -> str:
    types = [str(value.type) for value in op.operands]
    result = str(op.results[0].type)
    printed = op.get_asm(print_generic_op_form=True, use_local_scope=True).strip()
    attributes = re.search(r"\)\s*(<\{.*\}>)?\s*(\{.*\})?\s*: \(", printed)
    given = " ".join(part for part in (attributes.groups() if attributes else ()) if part)
    names = ", ".join(f"%a{i}" for i in range(len(types)))
    line = f'%v = "{op.name}"({names}) {given} : ({", ".join(types)}) -> {result}'
    return _filled(types, result, line, nameless)


def _without(op: ir.Operation, nameless: Collection[str]) -> str:
    """The same loop over the same types, which computes nothing: its result comes in."""
    types = [str(value.type) for value in op.operands]
    result = str(op.results[0].type)
    return _filled([*types, result], result, "", nameless).replace("%v :", f"%a{len(types)} :")


def _filled(types: Sequence[str], result: str, line: str, nameless: Collection[str]) -> str:
    """``nameless``: element types that no function takes; a barrier makes values of them, or reads them."""
    tensors = [f"tensor<{_LENGTH}x{type_}>" for type_ in types]
    barrier = iree_ops.UTIL_OPTIMIZATION_BARRIER
    made = [
        f"  %e{i} = tensor.empty() : {type_}\n  %t{i} = {barrier} %e{i} : {type_}\n"
        for i, (type_, element) in enumerate(zip(tensors, types, strict=True))
        if element in nameless
    ]
    passed = [
        f"%t{i}: {type_}"
        for i, (type_, element) in enumerate(zip(tensors, types, strict=True))
        if element not in nameless
    ]
    made_type = f"tensor<{_LENGTH}x{result}>"
    shut = result in nameless
    return _TEMPLATE.format(
        returns="" if shut else f" -> {made_type}",
        nowhere="".join(made),
        end=f"  %k = {barrier} %r : {made_type}\n  return" if shut else f"  return %r : {made_type}",
        n=_LENGTH,
        result=result,
        op=line,
        arguments=", ".join(passed),
        maps=", ".join(["affine_map<(d0) -> (d0)>"] * (len(types) + 1)),
        ins=f"ins({', '.join(f'%t{i}' for i in range(len(types)))} : {', '.join(tensors)})",
        body="".join(f"%a{i}: {type_}, " for i, type_ in enumerate(types)),
    )
