"""Gives an FFT stage the table of its factors, which IREE's code computes otherwise and crashes over."""

from __future__ import annotations

from array import array
from cmath import exp, pi
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.dialect.attributes import attributes
from fissile.passes.definition import option, register_pass
from fissile.passes.iree.lowerings import FFT

from ..remedy import Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

_WITHOUT_TABLES = ("stage", "real", "imaginary")
_WITH_TABLES = ("stage", "real table", "imaginary table", "real", "imaginary")
LARGEST_STAGE = 20
"""A table of 2 MiB for each part."""


@register_pass
@dataclass(frozen=True)
class TabulateFfts(OpRemedy):
    """Adds the factors `exp(-2 pi i k / 2^stage)` to FFT stages of constant number as two constant tensors, for real and imaginary part.

    Without tables IREE 3.13 computes them in the loop. Its code generation crashes over that (llvm-cpu, SPIR-V; SIGSEGV), or has
    no configuration by which each butterfly has a thread. ``ops`` chooses source ops by index; without it, every stage without tables.
    Another chosen op is FIS114.
    """

    name: ClassVar[str] = "fissile-tabulate-ffts"
    order: ClassVar[int] = 31
    cures: ClassVar[tuple[str, ...]] = ("FIS107", "FIS111")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = "gives an FFT stage without a table a constant table of factors"
    repairs: ClassVar[str] = "FFT stages without tables, for which code generation crashes or threads race"
    numbers: ClassVar[str] = "the factors are rounded once, from float64; IREE's code rounds the angle first"
    counterpart: ClassVar[str] = "IREE creates tables only for FFTs of StableHLO and torch."
    done: ClassVar[str] = "gave {ops} a constant table of factors"
    advice: ClassVar[str] = "give {ops} a constant table of factors"
    refusal: ClassVar[str] = "{op} cannot be given a table of factors: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "iree_linalg_ext")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all FFT stages without tables")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if op.name != FFT:
            return Match("it is no FFT")
        if len(op.operands) != len(_WITHOUT_TABLES):
            return Match("it has tables")
        if not isinstance(_element(op), ir.F32Type):
            return Match("its elements are not f32")
        return Match("" if 0 < _stage(op) <= LARGEST_STAGE else "its stage is not known, or too large")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            stage, real, imaginary = op.operands
            with ir.InsertionPoint(op), op.location:
                tables = [_constant(part, _element(op)) for part in factors(_stage(op) or 1)]
                new = ir.Operation.create(
                    FFT,
                    [result.type for result in op.results],
                    [stage, *tables, real, imaginary],
                    {
                        **dict(attributes(op)),
                        _SEGMENTS: ir.DenseI32ArrayAttr.get([1] * len(_WITH_TABLES)),
                    },
                )
            for old, result in zip(list(op.results), new.results, strict=True):
                old.replace_all_uses_with(result)
            op.erase()

    def costs(self, ops: Sequence[ir.Operation]) -> str:
        return f"{sum(8 << ((_stage(op) or 1) - 1) for op in ops)} bytes of constants"


_SEGMENTS = "operandSegmentSizes"


def factors(stage: int) -> tuple[list[float], list[float]]:
    """Real and imaginary parts of the factors of ``stage``, one for each butterfly of a block."""
    size = 1 << stage
    every = [exp(-2j * pi * k / size) for k in range(size // 2)]
    return [f.real for f in every], [f.imag for f in every]


def _element(op: ir.Operation) -> ir.Type:
    return ir.RankedTensorType(op.results[0].type).element_type


def _stage(op: ir.Operation) -> int:
    """The number of the stage; 0 where it is known only when the program runs."""
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return 0
    return ir.IntegerAttr(owner.operation.attributes["value"]).value


def _constant(values: Sequence[float], element: ir.Type) -> ir.Value:
    tensor_type = ir.RankedTensorType.get([len(values)], element)
    return arith.ConstantOp(
        tensor_type, ir.DenseElementsAttr.get(array("f", values), type=tensor_type)
    ).result
