"""Stable sorts, and quantiles and medians as elements of a sorted row."""

from __future__ import annotations

from math import inf, nan

from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import inserted, permuted, type_of
from ..torch_ops import TensorType, apply
from .composite import Composite, is_nan, rank_of

_LINEAR, _LOWER, _HIGHER, _NEAREST, _MIDPOINT = "linear", "lower", "higher", "nearest", "midpoint"
_WAYS = (_LINEAR, _LOWER, _HIGHER, _NEAREST, _MIDPOINT)
_UNSIGNED, _WIDE = "ui8", "si32"


def _sort(value: ir.Value, dim: ir.Value, descending: ir.Value) -> list[ir.Value]:
    """Values and indices. IREE 3.13's sort leaves equal elements in their order; it compares unsigned bytes as signed ones."""
    given = type_of(value)
    wide = torch.converted(value, _WIDE) if given.element == _UNSIGNED else value
    types = [type_of(wide).ir_type(), TensorType(given.shape, "si64").ir_type()]
    made = ir.Operation.create("torch.aten.sort", results=types, operands=[wide, dim, descending])
    return [torch.converted(made.results[0], given.element), made.results[1]]


def _sorted(op: ir.Operation) -> list[Tensor]:
    value, _stable, dim, descending = op.operands
    return [Tensor(one) for one in _sort(value, dim, descending)]


def _order(op: ir.Operation) -> list[Tensor]:
    return [_sorted(op)[1]]


def _last(value: ir.Value, dim: ir.Value) -> ir.Value:
    """With dimension ``dim`` behind the others; all elements in one where it is none."""
    rank = rank_of(value)
    if torch.is_none(dim):
        return torch.merged(value, 0, rank - 1) if rank > 1 else value
    at = (torch.integer_of(dim) or 0) % rank
    return permuted(value, [*(one for one in range(rank) if one != at), at])


def _ascending(rows: Tensor) -> list[ir.Value]:
    """Each row sorted, NaNs behind the others as infinities; and where the elements were."""
    last = torch.integer(rows.rank - 1)
    return _sort(is_nan(rows).chosen(inf, rows).value, last, torch.boolean(False))


def _numbers_in(rows: Tensor) -> Tensor:
    """How many elements of each row are no NaN, as f32."""
    return is_nan(rows).chosen(0.0, _ones(rows)).summed([rows.rank - 1])


def _ones(rows: Tensor) -> Tensor:
    return rows.zeros() + 1.0


def _taken(rows: ir.Value, places: Tensor) -> ir.Value:
    """The elements of each row at ``places``, which are whole numbers."""
    at = torch.converted(places.value, "si64")
    made = TensorType(type_of(at).shape, type_of(rows).element)
    last = torch.integer(len(made.shape) - 1)
    return apply("aten.gather", [rows, last, at, torch.boolean(False)], made)


def _quantile(op: ir.Operation) -> list[Tensor]:
    value, at, dim, keep, way = op.operands
    rows = Tensor(_last(value, dim))
    skips = "nanquantile" in torch.front_end_name(op)
    counted = _numbers_in(rows)
    count = counted if skips else _ones(rows).summed([rows.rank - 1])
    many = TensorType.of(at) is not None and rank_of(at) == 1
    share = Tensor(at) if TensorType.of(at) is not None else torch.number_of(at) or 0.0
    ranks = (count - 1.0).at_least(0.0) * share
    below, above, weight = _neighbours(ranks, torch.string_of(way) or _LINEAR)
    ordered, _where = _ascending(rows)
    low, high = Tensor(_taken(ordered, below)), Tensor(_taken(ordered, above))
    found = low + (high - low) * weight if weight is not None else low
    unknown = counted.is_("lt", 1.0) if skips else (count - counted).is_("gt", 0.0)
    found = unknown.chosen(nan, found)
    return [_placed(found, rank_of(value), dim, bool(torch.boolean_of(keep)), many)]


def _neighbours(ranks: Tensor, way: str) -> tuple[Tensor, Tensor, Tensor | float | None]:
    """The places below and above each rank, and how much of the way to the upper one it is."""
    if way in (_LOWER, _HIGHER, _NEAREST):
        at = ranks.of({_LOWER: "floor", _HIGHER: "ceil", _NEAREST: "round"}[way])
        return at, at, None
    below, above = ranks.of("floor"), ranks.of("ceil")
    return below, above, ranks - below if way == _LINEAR else 0.5


def _placed(found: Tensor, rank: int, dim: ir.Value, keep: bool, many: bool) -> Tensor:
    """``found``, whose last dimension is that of the quantiles, as PyTorch's result has it: in front, if they are many."""
    value = found.value
    if many:
        value = permuted(value, [found.rank - 1, *range(found.rank - 1)])
    else:
        value = Tensor(value).dropped(found.rank - 1).value
    if keep:
        for at in range(rank) if torch.is_none(dim) else [(torch.integer_of(dim) or 0) % rank]:
            value = inserted(value, at + many)
    return Tensor(value)


def _is_quantile(op: ir.Operation) -> bool:
    value, at, dim, keep, way = op.operands
    shares = TensorType.of(at)
    known = torch.number_of(at) is not None if shares is None else len(shares.shape) < 2
    given = TensorType.of(value)
    if given is None or given.element != "f32":
        return False  # PyTorch computes no others but f64
    return known and _has_rows(value, dim, keep) and torch.string_of(way) in _WAYS


def _has_rows(value: ir.Value, dim: ir.Value, keep: ir.Value | None) -> bool:
    given = TensorType.of(value)
    if given is None or not given.shape:
        return False
    at = torch.integer_of(dim)
    named = torch.is_none(dim) or at is not None and -len(given.shape) <= at < len(given.shape)
    return named and (keep is None or torch.boolean_of(keep) is not None)


def _median(rows: Tensor) -> tuple[Tensor, Tensor]:
    """The lower of the middle elements of each row without its NaNs, and its place; NaN where there are no others."""
    counted = _numbers_in(rows)
    middle = ((counted - 1.0) * 0.5).of("floor").at_least(0.0)
    ordered, where = _ascending(rows)
    found = counted.is_("lt", 1.0).chosen(nan, Tensor(_taken(ordered, middle)))
    return found, Tensor(_taken(where, middle))


def _median_of_all(op: ir.Operation) -> list[Tensor]:
    rows = Tensor.wide(_last(op.operands[0], torch.none()))
    return [_median(rows)[0].dropped(0)]


def _median_of_rows(op: ir.Operation) -> list[Tensor]:
    value, dim, keep = op.operands
    rows = Tensor.wide(_last(value, dim))
    rank, kept = rank_of(value), bool(torch.boolean_of(keep))
    return [_placed(one, rank, dim, kept, many=False) for one in _median(rows)]


def _has_medians(op: ir.Operation) -> bool:
    given = TensorType.of(op.operands[0])
    if given is None or given.element not in torch.FLOATS:
        return False
    return len(op.results) == 2 and _has_rows(*op.operands) and not torch.is_none(op.operands[1])


def _can_sort(op: ir.Operation) -> bool:
    value, stable, dim, descending = op.operands
    known = torch.boolean_of(stable) is not None or torch.is_none(stable)
    return known and _has_rows(value, dim, descending) and not torch.is_none(dim)


ORDERS = {
    "aten.sort.stable": Composite(4, _sorted, _can_sort, floats=False),
    "aten.argsort.stable": Composite(4, _order, _can_sort, floats=False),
    **{
        f"aten.{name}{form}": Composite(5, _quantile, _is_quantile)
        for name in ("quantile", "nanquantile")
        for form in ("", ".scalar")
    },
    "aten.nanmedian": Composite(1, _median_of_all, lambda op: _has_rows(op.operands[0], torch.none(), None)),
    "aten.nanmedian.dim": Composite(3, _median_of_rows, _has_medians, floats=False),
}
"""Op -> what takes its place."""
