"""Bodies that compute with narrow integers, with 32 bits in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith

from fissile.passes.analysis.dispatch.narrow_types import NarrowSet
from fissile.passes.analysis.scalars.narrow_integers import NARROW_WIDTHS, bodies_with_narrow_integers
from fissile.passes.definition import option, register_pass

from ..narrow.widened_scalars import CannotWiden, ScalarWidener
from ..remedy import FITS, Exactness, Match, OpRemedy

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch

_EXTRACT = "tensor.extract"


@register_pass
@dataclass(frozen=True)
class WidenIntegers(OpRemedy):
    """Computes the 8- and 16-bit integers in the bodies of linalg ops with 32 bits, sign-extended, and brings each result back to its width.

    For targets without such integers (FIS192). Elements of narrow tensors are extended and truncated. ``ops`` chooses source ops by
    index; without it, every op whose body reads the upper bits of such an integer. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-widen-integers"
    order: ClassVar[int] = 46
    cures: ClassVar[tuple[str, ...]] = ("FIS192",)
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = "computes 8- and 16-bit integers with 32 bits, sign-extended"
    repairs: ClassVar[str] = "signed 8- and 16-bit integers on Vulkan targets without them (FIS192)"
    numbers: ClassVar[str] = "bit-identical to what the program specifies"
    counterpart: ClassVar[str] = "MLIR's conversion to SPIR-V has no other form."
    done: ClassVar[str] = "computed 8- and 16-bit integers in {ops} with 32 bits"
    advice: ClassVar[str] = "compute 8- and 16-bit integers in {ops} with 32 bits"
    refusal: ClassVar[str] = "{op} has no narrow integers to widen: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with such integers")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        if not bodies_with_narrow_integers(op, NARROW_WIDTHS):
            return Match("its body reads the upper bits of none")
        with ir.InsertionPoint(op):
            trial = op.clone()
        try:
            _widen(trial)
        except CannotWiden as error:
            return Match(f"no 32-bit form of {error.op.name}")
        finally:
            trial.erase()
        return FITS

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        for op in ops:
            _widen(op)


def _widen(op: ir.Operation) -> None:
    """Rewrites the body of ``op``, in place."""
    body = op.regions[0].blocks[0]
    *computed, end = [inner.operation for inner in body.operations]
    narrow = NarrowSet(NARROW_WIDTHS)
    for inner in computed:
        if inner.name == _EXTRACT and narrow.of(inner.results[0].type):
            raise CannotWiden(inner)
    widener = ScalarWidener(narrow, lambda tensor: tensor)
    with ir.InsertionPoint(end), op.location:
        for value in body.arguments:
            if narrow.of(value.type):
                widener.enter(value, arith.extsi(ir.IntegerType.get_signless(32), value))
        widener.block(computed)
        for position, value in enumerate(list(end.operands)):
            new = widener.value(value)
            end.operands[position] = arith.trunci(value.type, new) if narrow.of(value.type) else new
    for inner in reversed(computed):
        inner.erase()
