"""Positions in sorted sequences as the number of elements in front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import FLOATS, TensorType, apply
from .values import INTEGERS, as_boolean, broadcast_shape, inserted, summed, type_of

_SEARCHES = ("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
_BUCKETS = ("aten.bucketize.Tensor", "aten.bucketize.Scalar")


@dataclass(frozen=True)
class _Search:
    sequence: ir.Value
    sought: ir.Value
    narrow: bool
    """Whether the positions are 32-bit integers."""
    right: bool
    """Whether elements that are equal to the sought one are in front of it."""


@register_pass
@dataclass(frozen=True)
class SearchSorted(FrontEndRemedy):
    """Writes `aten.searchsorted` and `aten.bucketize` as comparisons of each value with each element, and sums.

    An element is in front of NaN, whatever it is, as in PyTorch. Sizes may be dynamic; a sequence per row has the value's leading
    dimensions. A `sorter` is left alone. IREE 3.13 lowers `aten.bucketize.Tensor` alone. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-search-sorted"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "replaces `aten.searchsorted` and `aten.bucketize` with comparisons and sums (in the input)"
    )
    repairs: ClassVar[str] = "`aten.searchsorted` and `aten.bucketize.Scalar`, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "rewrote it as comparisons and a sum"
    advice: ClassVar[str] = "rewrite it as comparisons and a sum"

    def fits(self, op: ir.Operation) -> bool:
        search = _search_of(op)
        if search is None or TensorType.of(op.results[0]) is None:
            return False
        sequence, sought = TensorType.of(search.sequence), TensorType.of(search.sought)
        if sequence is None or sequence.element not in (*FLOATS, *INTEGERS) or not sequence.shape:
            return False
        if sought is None:
            number = torch.number_of(search.sought)
            exact = isinstance(number, int) or sequence.element in FLOATS
            return len(sequence.shape) == 1 and number is not None and exact
        if sought.element != sequence.element:
            return False
        if len(sequence.shape) == 1:
            return True
        leading = zip(sequence.shape[:-1], sought.shape[:-1], strict=False)
        return len(sequence.shape) == len(sought.shape) and all(a == b for a, b in leading)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        search = _search_of(op)
        assert search is not None
        sequence, of_sequence = search.sequence, type_of(search.sequence)
        # Counted is what is not behind, so that all is in front of NaN.
        comparison = "gt" if search.right else "ge"
        if TensorType.of(search.sought) is None:
            behind = apply(f"aten.{comparison}.Scalar", [sequence, search.sought], as_boolean(of_sequence))
        else:
            sought = inserted(search.sought, len(type_of(search.sought).shape))
            if len(of_sequence.shape) > 1:
                sequence = inserted(sequence, len(of_sequence.shape) - 1)
            shape = broadcast_shape([type_of(sequence).shape, type_of(sought).shape])
            behind = apply(f"aten.{comparison}.Tensor", [sequence, sought], TensorType(shape, "i1"))
        before = apply("aten.logical_not", [behind], type_of(behind))
        count = summed(before, len(type_of(before).shape) - 1)
        return [torch.cast(torch.converted(count, "si32" if search.narrow else "si64"), op.results[0].type)]


def _search_of(op: ir.Operation) -> _Search | None:
    """None for another op, for one with a `sorter`, and where an option is not known."""
    name, given = torch.front_end_name(op), list(op.operands)
    if name in _SEARCHES and len(given) == 6 and torch.is_none(given[5]):
        sequence, sought, narrow, right, side = given[:5]
    elif name in _BUCKETS and len(given) == 4:
        sought, sequence, narrow, right, side = *given, None
    else:
        return None
    options = torch.boolean_of(narrow), torch.boolean_of(right)
    if None in options or len(op.results) != 1:
        return None
    to_right = bool(options[1])
    if side is not None and not torch.is_none(side):
        named = torch.string_of(side)
        # PyTorch rejects a side that contradicts `right`.
        if named not in ("left", "right"):
            return None
        to_right = named == "right"
    return _Search(sequence, sought, bool(options[0]), to_right)
