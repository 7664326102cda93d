"""Matrix products that name an algorithm, as products of the types that the algorithm names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attributes
from fissile.passes.analysis.imports.products.dot_forms import DotAlgorithm, DotForm, needs_known_sizes
from fissile.passes.analysis.imports.stablehlo_ops import DOT_GENERAL, element_of, width_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..stablehlo.values import converted, with_element

_SUMS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
"""The types of sums -> their bits."""


@register_pass
@dataclass(frozen=True)
class ApplyDotAlgorithms(FrontEndRemedy):
    """Writes a `stablehlo.dot_general` with an `algorithm` without it: operands of the types that the algorithm names, and a result of
    the type in which it accumulates.

    IREE 3.13 rejects an algorithm on a product with batch dimensions, and ignores it on others. An f32 operand that the algorithm splits
    in several parts, or rounds to tf32, stays f32, which is at least as precise. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-apply-dot-algorithms"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    candidates: ClassVar[tuple[str, ...]] = (DOT_GENERAL,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)
    does: ClassVar[str] = (
        "replaces a `stablehlo.dot_general` with an `algorithm` and batch dimensions by one of the types that the algorithm names "
        "(in the input)"
    )
    repairs: ClassVar[str] = (
        "gradients of attention in bf16 (`jax.nn.dot_product_attention`), and other such products, which IREE rejects (FIS421)"
    )
    numbers: ClassVar[str] = "accumulated in the type that the algorithm names; sums may be reordered"
    done: ClassVar[str] = "applied the types of the algorithm"
    advice: ClassVar[str] = "apply the types of the algorithm"

    def fits(self, op: ir.Operation) -> bool:
        algorithm = DotAlgorithm.of(op)
        if algorithm is None or not (DotForm.of(op).batch[0] or needs_known_sizes(op)):
            return False
        rounds = zip(op.operands, algorithm.operands, strict=True)
        return (
            algorithm.sums in _SUMS
            and isinstance(element_of(op.results[0]), ir.FloatType)
            and all(_can_round(*one, algorithm.products, _SUMS[algorithm.sums]) for one in rounds)
        )

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        algorithm = DotAlgorithm.of(op)
        assert algorithm is not None  # `fits`
        operands = [
            value if _stays(value, name, algorithm.products) else converted(value, ir.Type.parse(name))
            for value, name in zip(op.operands, algorithm.operands, strict=True)
        ]
        result = op.results[0]
        kept = {name: value for name, value in attributes(op) if name != "algorithm"}
        sums = with_element(result.type, ir.Type.parse(algorithm.sums))
        product = ir.Operation.create(DOT_GENERAL, [sums], operands, kept).result
        return [converted(product, element_of(result))]


def _stays(value: ir.Value, name: str, products: int) -> bool:
    """Whether an operand is not rounded: it has the type, or is an f32 of which several parts, or its first bits, are to be multiplied."""
    given = str(element_of(value))
    return given == name or (given == "f32" and (products > 1 or name == "tf32"))


def _can_round(value: ir.Value, name: str, products: int, sums: int) -> bool:
    """Whether an operand stays as it is or can be rounded to a narrower type, and is no wider than the sums then."""
    given = element_of(value)
    if not isinstance(given, ir.FloatType):
        return False
    if _stays(value, name, products):
        return width_of(given) <= sums
    return products == 1 and name in _SUMS and _SUMS[name] < width_of(given) and _SUMS[name] <= sums
