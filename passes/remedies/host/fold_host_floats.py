"""Puts narrow float constants that IREE would keep on the host into the code that uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.finding import Finding
from fissile.passes.analysis.host.host_floats import HostFloat, host_floats
from fissile.passes.definition import Contract, register_pass
from fissile.passes.properties import DISPATCHES_NOT_FORMED, WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy


@register_pass
@dataclass(frozen=True)
class FoldHostFloats(Remedy):
    """Replaces a global that holds a constant of a float type below 32 bits by the constant.

    MLIR does not fold a cast that rounds or overflows (-3.4e38 as f16, the padding of an fp16 pooling), so IREE's global
    optimisation hoists it into a global; IREE 3.13's VM has no type for that and refuses the module, on every target. Run it after
    global optimisation. The same numbers in every bit: the cast is done here, to the nearest, ties to even.
    """

    name: ClassVar[str] = "fissile-fold-host-floats"
    cures: ClassVar[tuple[str, ...]] = ("FIS126",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "moves a constant of a float type below 32 bits from the host to its use"
    repairs: ClassVar[str] = (
        "fp16 and bf16 programs that IREE rejects on every target (`util.initializer`, FIS126)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "placed the constant where it is used"
    advice: ClassVar[str] = "place the constant where it is used"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED, DISPATCHES_NOT_FORMED))

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        fold_host_floats(host_floats(op))


def fold_host_floats(found: Iterable[HostFloat]) -> None:
    """Folds each that is a constant, in place."""
    for one in found:
        if one.value is None:
            continue
        for load in one.loads:
            with ir.InsertionPoint(load), load.location:
                constant = ir.Operation.create(
                    "arith.constant", [one.type], [], {"value": ir.FloatAttr.get(one.type, one.value)}
                )
            load.results[0].replace_all_uses_with(constant.results[0])
            load.erase()
        for store in one.stores:
            _erase_with_what_it_stores(store)
        one.op.erase()


def _erase_with_what_it_stores(store: ir.Operation) -> None:
    pending = [store.operands[0]]
    store.erase()
    while pending:
        value = pending.pop()
        op = value.owner.operation
        if not any(True for _ in value.uses):
            pending += list(op.operands)
            op.erase()
