"""Keeps IREE from scheduling loads and stores of globals in another order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.globals.late_ops import submissions
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

from .barriers import hide_operand
from .keep_order import call_order, order_function


@register_pass
@dataclass(frozen=True)
class SubmitInOrder(Remedy):
    """Calls a function that does nothing, and that IREE does not inline, before work of the device which follows an op of the host that
    waits for the device, where a global is accessed behind that (FIS183).

    IREE submits no work together across a call, so no op of the host waits for work that stood behind it, and none is moved. Run
    it on the output of phase flow.
    """

    name: ClassVar[str] = "fissile-submit-in-order"
    cures: ClassVar[tuple[str, ...]] = ("FIS183",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "submits the work that the host waits for before the work behind it"
    repairs: ClassVar[str] = (
        "wrong numbers on every target: a global is loaded before the branch, the loop or the store that it stands behind (FIS183)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = (
        "called an empty function where the host waits for the device: work behind it is submitted on its own"
    )
    advice: ClassVar[str] = "call a function that is not inlined where the host waits for the device"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "flow", "tensor", "util")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        found = submissions(op)
        if not found.before:
            return
        name = order_function(op)
        for reader in found.reads:
            hide_operand(reader)
        for place in found.before:
            with ir.InsertionPoint(place), place.location:
                call_order(name)
