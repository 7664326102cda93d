"""Converts a program of several front ends, one after the other: IREE's input conversion takes one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.passmanager import PassManager

from fissile.dialect import place_of
from fissile.dialect.places import ops_of
from fissile.finding import Finding, Severity
from fissile.passes.definition import Contract, register_pass
from fissile.passes.iree.pipelines import INPUT_CONVERSIONS, TORCH_INPUT
from fissile.passes.properties import WELL_FORMED
from fissile.passes.remedies.remedy import Exactness, Remedy

from ..front_end import FRONT_END_OP


@register_pass
@dataclass(frozen=True)
class ConvertMixedInputs(Remedy):
    """Runs IREE's own input conversions of StableHLO and TOSA where the program has ops of several front ends. Torch is left, which IREE then recognises.

    With --iree-input-type=auto, IREE 3.13 rejects a program that mixes StableHLO, TOSA and torch or ONNX; with another value it leaves the
    ops of the others. Run it behind the remedies of front-end ops. It changes nothing if one of the conversions fails.
    """

    name: ClassVar[str] = "fissile-convert-mixed-inputs"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP,)
    exactness: ClassVar[Exactness] = Exactness.BITS
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "linalg", "tensor", "arith", "math")
    contract: ClassVar[Contract] = Contract(requires=(WELL_FORMED,))
    does: ClassVar[str] = (
        "runs IREE's input conversions of StableHLO and TOSA one after the other (in the input)"
    )
    repairs: ClassVar[str] = (
        "a program that mixes StableHLO, TOSA and torch or ONNX, which IREE rejects on every target (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "converted the front ends one after the other"
    advice: ClassVar[str] = "convert the front ends one after the other"

    def run(self, op: ir.Operation, report: Callable[[Finding], None]) -> None:
        mixed = _front_ends(op)
        if len(mixed) < 2:
            return
        pipeline = f"builtin.module({','.join(one for one in mixed if one != TORCH_INPUT)})"
        try:
            PassManager.parse(pipeline, context=op.context).run(op.operation.clone())
        except ir.MLIRError:
            return  # an op that its own front end does not lower either
        ops = list(mixed.values())
        places = [replace(place, label=one.name) for one in ops if (place := place_of(one))]
        names = ", ".join(one.name.split(".", 1)[0] for one in ops)
        report(
            Finding(
                FRONT_END_OP,
                f"IREE converts one front end, and the program has ops of {len(ops)}: {names}",
                Severity.REPAIRED,
                subject=names,
                places=tuple(places),
                helps=(self.help(("pass", self.name), ("numerics", self.numbers)),),
            )
        )
        PassManager.parse(pipeline, context=op.context).run(op.operation)


def _front_ends(module: ir.Operation) -> dict[str, ir.Operation]:
    """By IREE's conversion of the front end, the first op of each that the program has."""
    found: dict[str, ir.Operation] = {}
    for conversion, dialects in INPUT_CONVERSIONS.items():
        ops = [one for dialect in dialects for one in ops_of(module, dialect)]
        if ops:
            found[conversion] = ops[0]
    return found
