"""What a `stablehlo.dot_general` multiplies and sums, and which of its forms IREE lowers. IREE 3.13."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iree.compiler import ir

from ..stablehlo_ops import has_static_shape, shape_of


@dataclass(frozen=True)
class DotForm:
    """The dimensions of both operands that a `stablehlo.dot_general` has in common (``batch``), and those that it sums over."""

    ranks: tuple[int, int]
    batch: tuple[tuple[int, ...], tuple[int, ...]]
    summed: tuple[tuple[int, ...], tuple[int, ...]]

    @staticmethod
    def of(op: ir.Operation) -> DotForm:
        text = str(op.attributes["dot_dimension_numbers"])

        def numbers(name: str) -> tuple[int, ...]:
            found = re.search(rf"\b{name} = \[([^\]]*)\]", text)
            return tuple(int(one) for one in found[1].split(",") if one.strip()) if found else ()

        left, right = (len(shape_of(one)) for one in op.operands)
        return DotForm(
            (left, right),
            (numbers("lhs_batching_dimensions"), numbers("rhs_batching_dimensions")),
            (numbers("lhs_contracting_dimensions"), numbers("rhs_contracting_dimensions")),
        )

    def free(self, side: int) -> tuple[int, ...]:
        """The dimensions that the operand 0 or 1 has alone, in order."""
        taken = (*self.batch[side], *self.summed[side])
        return tuple(dim for dim in range(self.ranks[side]) if dim not in taken)


def needs_known_sizes(op: ir.Operation) -> bool:
    """Whether IREE lowers the product ``op`` only if all sizes are known, and one is not.

    Its import makes one dimension each of the free and of the summed ones, by a reshape that it does not lower for such a size,
    unless there are batch dimensions or both operands are matrices.
    """
    if all(has_static_shape(one.type) for one in op.operands):
        return False
    form = DotForm.of(op)
    if form.batch[0]:
        return not form.summed[0]
    return form.ranks != (2, 2) or len(form.summed[0]) != 1


@dataclass(frozen=True)
class DotAlgorithm:
    """How a product is to be computed: the types that the operands are rounded to and that sums are kept in, and how many products of
    parts of the operands are added: of an f32 as three bf16, for example."""

    operands: tuple[str, str]
    sums: str
    products: int

    @staticmethod
    def of(op: ir.Operation) -> DotAlgorithm | None:
        """None where ``op`` names no algorithm."""
        if "algorithm" not in op.attributes:
            return None
        text = str(op.attributes["algorithm"])
        found = dict(re.findall(r"(\w+) = ([\w.]+)", text))
        return DotAlgorithm(
            (found["lhs_precision_type"], found["rhs_precision_type"]),
            found["accumulation_type"],
            int(found["num_primitive_operations"]),
        )
