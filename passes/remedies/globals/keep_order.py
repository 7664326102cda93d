"""Keeps IREE from moving loads and stores of globals across a loop or a branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.finding import Finding
from fissile.passes.analysis.globals.moved_accesses import moved_accesses
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.iree.attributes import INLINE_NEVER, NEVER_INLINED
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

_NAME = "__fissile_keep_order"


@register_pass
@dataclass(frozen=True)
class KeepOrder(Remedy):
    """Calls a function that does nothing, and that IREE does not inline, before and behind each loop or branch that IREE would move an access
    of a global across (FIS183).

    SimplifyGlobalAccesses moves nothing across a call; ScheduleExecution may (`fissile-submit-in-order`). Run it on the output of phase input.
    """

    name: ClassVar[str] = "fissile-keep-order"
    cures: ClassVar[tuple[str, ...]] = ("FIS183",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "calls an empty function around loops and branches that access the globals which stand beside them"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a global that a branch or a loop stores is loaded before it (FIS183)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = (
        "called an empty function before and behind the loop or branch, which IREE moves nothing across"
    )
    advice: ClassVar[str] = "call a function that is not inlined before and behind the loop or branch"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        regions = list(dict.fromkeys(one.around for one in moved_accesses(op)))
        if not regions:
            return
        name = order_function(op)
        for region in regions:
            with ir.InsertionPoint(region), region.location:
                call_order(name)
            if len(region.regions):  # the end of a condition has none, and nothing behind it
                with ir.InsertionPoint.after(region), region.location:
                    call_order(name)


def call_order(name: str) -> None:
    """Calls the function at the insertion point."""
    ir.Operation.create(iree_ops.UTIL_CALL, [], [], {"callee": ir.FlatSymbolRefAttr.get(name)})


def order_function(module: ir.Operation) -> str:
    """Adds the function to ``module``, before its first op; returns its name. A hidden value keeps IREE from finding that it does nothing."""
    body = module.regions[0].blocks[0]
    known = {
        str(op.operation.attributes["sym_name"])
        for op in body.operations
        if "sym_name" in op.operation.attributes
    }
    name = next(n for n in (_NAME, *(f"{_NAME}_{i}" for i in range(len(known)))) if f'"{n}"' not in known)
    with ir.InsertionPoint.at_block_begin(body), ir.Location.unknown(module.context):
        policy = ir.Attribute.parse(INLINE_NEVER)
        function = ir.Operation.create(
            iree_ops.UTIL_FUNC,
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
                NEVER_INLINED[0]: policy,
            },
            regions=1,
        )
        with ir.InsertionPoint(function.regions[0].blocks.append()):
            flag = ir.IntegerType.get_signless(1)
            yes = arith.constant(flag, ir.IntegerAttr.get(flag, 1))
            ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [flag], [yes])
            ir.Operation.create(iree_ops.UTIL_RETURN)
    return name
