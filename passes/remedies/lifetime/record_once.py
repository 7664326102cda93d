"""Has command buffers that copy tensors recorded anew for every call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.program.replayed_copies import ONCE, replayed_copies
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class RecordOnce(Remedy):
    """Marks `stream.cmd.execute` ops on Vulkan that copy tensors of the call and do nothing else (FIS175).

    The host records their commands in every call. Run it after phase stream.
    """

    name: ClassVar[str] = "fissile-record-once"
    cures: ClassVar[tuple[str, ...]] = ("FIS175",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "has command buffers of copies alone recorded anew for every call (Vulkan, after phase stream)"
    )
    repairs: ClassVar[str] = (
        "wrong numbers on Vulkan from the second call on: copies of an earlier call are replayed (FIS175)"
    )
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    done: ClassVar[str] = "recorded the copies anew for every call"
    advice: ClassVar[str] = "record the copies anew for every call"
    dialects: ClassVar[tuple[str, ...]] = ()
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        for execute in replayed_copies(op):
            execute.attributes[ONCE] = ir.UnitAttr.get()
