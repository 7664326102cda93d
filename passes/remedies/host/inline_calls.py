"""Has IREE inline functions that the program keeps apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.program.private_calls import kept_apart
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree.attributes import NEVER_INLINED
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class InlineCalls(Remedy):
    """Removes the wish not to be inlined from private functions that are called (FIS178).

    IREE's inliner, which runs in phase abi, then inlines them. Run it on the output of phase input. It changes programs that IREE
    compiles, too: it is for a program that IREE has rejected.
    """

    name: ClassVar[str] = "fissile-inline-calls"
    cures: ClassVar[tuple[str, ...]] = ("FIS178",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "has IREE inline private functions that are marked `noinline`"
    repairs: ClassVar[str] = "calls that IREE rejects for the storage or the sizes of their tensors (FIS178)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "had IREE inline the function"
    advice: ClassVar[str] = "have IREE inline the function: remove `noinline`"
    dialects: ClassVar[tuple[str, ...]] = ("util",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for function, _calls in kept_apart(op):
            for name in NEVER_INLINED:
                if name in function.attributes:
                    del function.attributes[name]
