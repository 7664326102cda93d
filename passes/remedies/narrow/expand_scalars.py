"""Computes scalar ops that a target's code generation does not know by simpler ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from iree.compiler import ir

from fissile.dialect.places import is_defined_inside
from fissile.passes.definition import option, register_pass

from ..remedy import Exactness, Match, OpRemedy
from .float_forms import NOT_THE_SAME, float_form_of
from .index_forms import index_form_of
from .integer_forms import integer_form_of
from .narrow_constants import has_wide_constants, narrow_constants
from .scaled_floats import byte_form_of, scaled_form_of

if TYPE_CHECKING:
    from fissile.passes.analysis.dispatch.dispatches import Dispatch


@register_pass
@dataclass(frozen=True)
class ExpandScalars(OpRemedy):
    """Replaces, in the bodies of linalg ops, what some target computes no other way than by these forms.

    64-bit divisions, absolute values and bit counts: a Vulkan target without 64-bit integers has IREE compute all others in pairs of
    32 bits (IREE 3.13), and has no way to those from a constant tensor of i64, which becomes one of i32 where that holds it. Integer
    powers and complementary error functions: known to no target. Ops of the index dialect (a TOSA FFT has them), and booleans as
    signed floats: unknown on GPUs. Decimal logarithms, truncation, the larger or smaller of two halves, integers to bfloat16, and a
    few functions of f64: on llvm-cpu calls of functions that IREE does not link, by the processor's features. Conversions of small
    floats with a scale (`arith.scaling_extf`, `arith.scaling_truncf`): unknown to SPIR-V. Conversions of 8-bit floats that are stored as
    bytes: unknown to NVIDIA and AMD GPUs without such floats.

    Integers, truncation, scaled floats and the larger or smaller are bit-identical; logarithms have one rounding more, an error function up
    to 1e-5 of itself (where that is below 1e-20).

    ``ops`` chooses source ops by index; without it, every op whose body has such an op. A chosen op without one is FIS114.
    """

    name: ClassVar[str] = "fissile-expand-scalars"
    order: ClassVar[int] = 40
    cures: ClassVar[tuple[str, ...]] = ("FIS104", "FIS108")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces scalar ops that a target lacks: 64-bit divisions, absolute values and bit counts by 32-bit halves; "
        "integer powers by squarings; logarithms by natural logarithms; truncation through an integer; the larger of "
        "two halves by a comparison; integers to bfloat16 by bit operations; `arith.scaling_extf` and "
        "`arith.scaling_truncf` by the bits of the small float and products with powers of two; conversions of 8-bit floats that are stored as bytes by bit operations; "
        "the index dialect by "
        "arith; an i64 constant tensor by an i32 one"
    )
    repairs: ClassVar[str] = (
        "on default Vulkan these integers and constants (IREE computes all other 64-bit integers as pairs of 32 bits); "
        "on every target integer powers and `math.erfc`; on GPUs index ops (a TOSA FFT) and booleans as signed floats; "
        "on Vulkan conversions with a scale; on llvm-cpu the library functions that LLVM calls and IREE does not link, "
        "depending on the processor: `log10f`, and without SSE4.1, F16C and AVX512 `truncf`, `fmaxf` of halves (every "
        "`linalg.softmax` in f16), `__truncsfbf2`"
    )
    numbers: ClassVar[str] = (
        "integers, truncation, minima and maxima, scaled floats, index ops: bit-identical. Logarithms: one more "
        "rounding; `erfc`: relative error up to 1e-5; integers of more than 24 bits to bfloat16: rounded twice, as in "
        "the library call"
    )
    counterpart: ClassVar[str] = (
        "MLIR's math and arith expansions run in IREE's code generation only for chosen ops and backends; the ops named "
        "here are not among them."
    )
    done: ClassVar[str] = "replaced what the target lacks in {ops} with simpler ops"
    advice: ClassVar[str] = "replace what the target lacks in {ops} with simpler ops"
    refusal: ClassVar[str] = "{op} has nothing to expand: {why}"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "math")
    ops: tuple[int, ...] = option((), "indices of the source ops; empty: all with an op to expand")

    def match(self, op: ir.Operation, dispatch: Dispatch | None = None) -> Match:
        return Match("" if expandable(op) or _constants(op) else "every target computes what its body has")

    def rewrite(self, ops: Sequence[ir.Operation]) -> None:
        expand_scalars(ops)

    def facts(self, ops: Sequence[ir.Operation]) -> tuple[tuple[str, str], ...]:
        inexact = sorted({found for op in ops if (found := rounding_of(op))})
        return (("rounding", "; ".join(inexact)),) if inexact else ()


def expand_scalars(ops: Iterable[ir.Operation]) -> None:
    """Expands all there is in the bodies of ``ops``, in place."""
    for op in ops:
        if _constants(op):
            narrow_constants(op)
        for scalar in expandable(op):
            with ir.InsertionPoint(scalar), scalar.location:
                scalar.results[0].replace_all_uses_with(_built(scalar))
            scalar.erase()


def _constants(op: ir.Operation) -> bool:
    return op.name == "linalg.generic" and has_wide_constants(op)


def _built(scalar: ir.Operation) -> ir.Value:
    """What ``scalar`` computes, by its form, at the insertion point."""
    if of_integers := integer_form_of(scalar):
        return of_integers(*scalar.operands)
    form = scaled_form_of(scalar) or byte_form_of(scalar) or float_form_of(scalar) or index_form_of(scalar)
    assert form is not None  # `match` found one
    return form(scalar)


_SCALAR_DIALECTS = ("arith.", "math.")
SELDOM_A_CALL = "math.floor"
"""Every processor's code generation has it, but LLVM makes a truncation of a magnitude that is rounded down and gets its sign again."""


def may_lack(op: ir.Operation) -> bool:
    """Whether ``op`` has a scalar op that a target may lack, of those that are rare."""
    return any(scalar.name != SELDOM_A_CALL for scalar in expandable(op))


def rounding_of(op: ir.Operation) -> str:
    """How far the numbers of ``op`` may change when it is expanded; empty: in no bit."""
    return ", ".join(
        sorted({f"{s.name}: {NOT_THE_SAME[s.name]}" for s in expandable(op) if s.name in NOT_THE_SAME})
    )


def expandable(op: ir.Operation) -> list[ir.Operation]:
    """The scalar ops in the regions of ``op`` that have a form, and those outside that compute a scalar used in there.

    IREE takes the latter into the dispatch: the number of elements that a mean divides by, of sizes that the call decides.
    """
    found: list[ir.Operation] = []
    outside: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if len(inner.results) == 1 and _has_form(inner):
            found.append(inner)
        outside.extend(
            value.owner
            for value in inner.operands
            if _is_scalar_result(value) and not is_defined_inside(value, op)
        )
        return ir.WalkResult.ADVANCE

    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                inner.operation.walk(visit)
    seen: dict[ir.Operation, None] = {}
    while outside:
        scalar = outside.pop()
        if scalar not in seen:
            seen[scalar] = None
            outside.extend(value.owner for value in scalar.operands if _is_scalar_result(value))
    return [*found, *(scalar for scalar in seen if len(scalar.results) == 1 and _has_form(scalar))]


def _has_form(op: ir.Operation) -> bool:
    return bool(
        integer_form_of(op)
        or scaled_form_of(op)
        or byte_form_of(op)
        or float_form_of(op)
        or index_form_of(op)
    )


def _is_scalar_result(value: ir.Value) -> bool:
    """Whether an op computes ``value``, a number, of numbers alone."""
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.name.startswith(_SCALAR_DIALECTS) and not owner.regions
