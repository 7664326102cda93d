"""The walk of a long program takes effort in proportion to its length, apart from what it copies."""

from __future__ import annotations

import sys

from iree.compiler import ir

from bench.lifetime.suite import new_context
from fissile.passes.analysis.lifetime.explore import walk
from fissile.passes.analysis.lifetime.flow import flow_of
from fissile.passes.analysis.lifetime.module import functions_of


def branches(count: int) -> str:
    """A program with ``count`` branches in sequence, each of which gives its buffer on or another one."""
    allocs = "".join(f"%a{i} = memref.alloc(%n) : memref<?xf32>\n" for i in range(count))
    ifs = "".join(
        f"""%r{i} = scf.if %c{i} -> memref<?xf32> {{
          scf.yield %a{i} : memref<?xf32>
        }} else {{
          memref.dealloc %a{i} : memref<?xf32>
          %b = memref.alloc(%n) : memref<?xf32>
          scf.yield %b : memref<?xf32>
        }}
        memref.dealloc %r{i} : memref<?xf32>\n"""
        for i in range(count)
    )
    flags = ", ".join(f"%c{i}: i1" for i in range(count))
    return f"func.func @main(%n: index, {flags}) {{\n{allocs}{ifs}return }}"


def calls_of_a_walk(count: int) -> int:
    """How many calls of Python functions it takes to walk the program with ``count`` branches."""
    module = ir.Module.parse(branches(count), new_context())
    functions = functions_of(module.operation)
    flow = flow_of(functions["main"], functions)
    made = 0

    def count_calls(_frame, event, _argument):
        nonlocal made
        made += event == "call"

    sys.setprofile(count_calls)
    try:
        seen = walk(flow)
    finally:
        sys.setprofile(None)
    assert seen.complete and not seen.troubles
    return made


def test_twice_the_branches_take_twice_the_calls():
    assert calls_of_a_walk(40) < 2.5 * calls_of_a_walk(20)
