"""What sorts, scans and searches along one dimension must keep to: operands whose shapes agree, but for that dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from iree.compiler import ir

from fissile.dialect.operands import knows_operands, operands_named
from fissile.passes.iree import ops as iree_ops

from ..bounds.conditions import equal
from ..bounds.extents import Extents
from ..bounds.shaped_values import rank_of
from ..bounds.value_names import name_of
from .obligations import Requirement
from .sentences import same_size

_SAME, _OTHER, _WITHOUT = "same", "other", "without"


def along(model: str, **others: str) -> Callable[[Extents, ir.Operation], Iterator[Requirement]]:
    """``others`` are operands by name: of the ``same`` shape as ``model``, of any size in the op's dimension (``other``), or
    ``without`` that dimension."""

    def rule(extents: Extents, op: ir.Operation) -> Iterator[Requirement]:
        if not knows_operands(op):
            return
        dimension = ir.IntegerAttr(op.attributes["dimension"]).value
        rows = [(value, _SAME) for value in operands_named(op, model)]
        rows += [(value, how) for name, how in others.items() for value in operands_named(op, name)]
        if not rows:
            return
        first = rows[0][0]  # a sort in place has outputs alone
        for value, how in rows[1:]:
            for i in range(rank_of(value)):
                at = i + (how == _WITHOUT and i >= dimension)
                if at >= rank_of(first) or (how == _OTHER and i == dimension):
                    continue
                have, wanted = extents.dimension(value, i), extents.dimension(first, at)
                yield Requirement(
                    equal(have, wanted),
                    same_size(value, i, have, wanted, f"{op.name} goes over it along with {name_of(first)}"),
                    itself=True,
                )

    return rule


RULES: dict[str, Callable[[Extents, ir.Operation], Iterator[Requirement]]] = {
    iree_ops.LINALG_EXT_SORT: along("inputs", outputs=_SAME),
    iree_ops.LINALG_EXT_SCAN: along("input", output=_SAME, accumulator=_WITHOUT),
    iree_ops.LINALG_EXT_TOPK: along("values", indices=_SAME, output_values=_OTHER, output_indices=_OTHER),
    iree_ops.LINALG_EXT_TOPK_V2: along(
        "values", input_indices=_SAME, output_values=_OTHER, output_indices=_OTHER
    ),
    iree_ops.LINALG_EXT_ARG_COMPARE: along(
        "input_value", input_index=_SAME, output_value=_WITHOUT, output_index=_WITHOUT
    ),
}
