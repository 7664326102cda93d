"""Has IREE copy an argument that is updated while the function returns it as it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.overwritten_arguments import argument_imports, returns
from fissile.passes.definition import Contract, option, register_pass
from fissile.passes.iree import ops as iree_ops
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class KeepArguments(Remedy):
    """Uses an argument once more at the function's end, so that IREE updates a copy of its buffer.

    For functions that return an argument as it came and update it as well (FIS142). `util.optimization_barrier` is the use: IREE keeps
    it until the copies are placed, and it does nothing. The same numbers bit-identical to what the program specifies. ``arguments`` chooses by
    name and argument (`main:0`); without it, every argument.
    """

    name: ClassVar[str] = "fissile-keep-arguments"
    cures: ClassVar[tuple[str, ...]] = ("FIS142",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "uses an argument at the end of the function"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: IREE computes another result in a returned argument (FIS142)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "kept the argument in use until the end, so that IREE updates a copy of it"
    advice: ClassVar[str] = "keep the argument in use until the end, so that IREE updates a copy of it"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))
    arguments: tuple[str, ...] = option(
        (), "FUNCTION:NUMBER of the arguments to keep, numbers from 0; empty: all"
    )

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for function, number, imported in list(argument_imports(op)):
            if self.arguments and f"{function}:{number}" not in self.arguments:
                continue
            for end in returns(imported.parent.operation):
                value = imported.results[0]
                with ir.InsertionPoint(end), imported.location:
                    ir.Operation.create(iree_ops.UTIL_OPTIMIZATION_BARRIER, [value.type], [value])
