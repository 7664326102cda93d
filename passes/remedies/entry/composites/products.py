"""Products of vectors and matrices, distances, and norms of matrices."""

from __future__ import annotations

from math import inf

from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import inserted, type_of
from ..torch_ops import TensorType, apply
from .composite import Composite, norm, rank_of

_FALLING = "aten.vander"
"""Its powers fall, unless they are to rise."""


def _numbers(op: ir.Operation, *at: int) -> list[float] | None:
    found = [torch.number_of(op.operands[one]) for one in at]
    return None if None in found else [one or 0.0 for one in found]


def _add_products(op: ir.Operation) -> list[Tensor]:
    """beta times the first, and alpha times the matrix times the vector."""
    start, matrix, vector = map(Tensor.wide, list(op.operands)[:3])
    product = matrix @ Tensor(inserted(vector.value, 1))
    return [_sum(op, start, product.dropped(1))]


def _add_outer(op: ir.Operation) -> list[Tensor]:
    start, left, right = map(Tensor.wide, list(op.operands)[:3])
    return [_sum(op, start, Tensor(inserted(left.value, 1)) * Tensor(inserted(right.value, 0)))]


def _sum(op: ir.Operation, start: Tensor, product: Tensor) -> Tensor:
    """With beta = 0 the start does not count, not even a NaN."""
    beta, alpha = _numbers(op, 3, 4) or (1.0, 1.0)
    product = product if alpha == 1 else product * alpha
    return product + start.zeros() if beta == 0 else product + (start if beta == 1 else start * beta)


def _is_scaled(op: ir.Operation) -> bool:
    return _numbers(op, 3, 4) is not None


def _inner(op: ir.Operation) -> list[Tensor]:
    left, right = map(Tensor.wide, op.operands)
    if left.rank == right.rank == 2:
        return [left @ right.turned()]
    product = left * right
    return [product if 0 in (left.rank, right.rank) else product.summed([product.rank - 1], False)]


def _is_inner(op: ir.Operation) -> bool:
    left, right = map(rank_of, op.operands)
    return 0 in (left, right) or (left, right) == (2, 2) or (min(left, right) == 1 and max(left, right) <= 2)


def _rows_product(op: ir.Operation) -> list[Tensor]:
    left, right = map(Tensor.wide, list(op.operands)[:2])
    product = left * right
    dim = torch.integer_of(op.operands[2]) if len(op.operands) == 3 else 0
    return [product.summed([(dim or 0) % product.rank], False)]


def _has_dim(op: ir.Operation) -> bool:
    dim, rank = torch.integer_of(op.operands[2]), max(map(rank_of, list(op.operands)[:2]))
    return dim is not None and rank > 0 and -rank <= dim < rank


def _kronecker(op: ir.Operation) -> list[Tensor]:
    left, right = map(Tensor.wide, op.operands)
    rank = max(left.rank, right.rank)
    shapes = [(*[1] * (rank - one.rank), *one.type_.shape) for one in (left, right)]
    first, second = (
        _viewed(one, [size or 0 for pair in zip(*sizes, strict=True) for size in pair])
        for one, sizes in (
            (left, (shapes[0], [1] * rank)),
            (right, ([1] * rank, shapes[1])),
        )
    )
    return [_viewed(first * second, [(a or 0) * (b or 0) for a, b in zip(*shapes, strict=True)])]


def _viewed(value: Tensor, sizes: list[int]) -> Tensor:
    made = TensorType(tuple(sizes), value.type_.element)
    return Tensor(apply("aten.view", [value.value, torch.integers(sizes)], made))


def _are_known(op: ir.Operation) -> bool:
    return all(None not in type_of(one).shape for one in op.operands)


def _power_of(op: ir.Operation, at: int) -> float | None:
    """The order of a norm; that of 0, which counts, is another function."""
    found = torch.number_of(op.operands[at])
    return found if found is not None and found > 0 else None


def _distance(op: ir.Operation) -> list[Tensor]:
    apart = Tensor.wide(op.operands[0]) - Tensor.wide(op.operands[1])
    return [norm(apart, _power_of(op, 2) or 2.0, list(range(apart.rank)), False)]


def _row_distance(op: ir.Operation) -> list[Tensor]:
    apart = Tensor.wide(op.operands[0]) - Tensor.wide(op.operands[1])
    [least] = _numbers(op, 3) or [0.0]
    keep = bool(torch.boolean_of(op.operands[4]))
    return [norm(apart + least, _power_of(op, 2) or 2.0, [apart.rank - 1], keep)]


def _distances(op: ir.Operation) -> list[Tensor]:
    left, right = map(Tensor.wide, list(op.operands)[:2])
    apart = Tensor(inserted(left.value, left.rank - 1)) - Tensor(inserted(right.value, right.rank - 2))
    return [norm(apart, _power_of(op, 2) or 2.0, [apart.rank - 1], False)]


def _matrix_dims(op: ir.Operation) -> list[int] | None:
    rank, dims = rank_of(op.operands[0]), torch.integers_of(op.operands[2])
    if dims is None or len(dims) != 2 or any(not -rank <= dim < rank for dim in dims):
        return None
    return [dim % rank for dim in dims]


def _frobenius(op: ir.Operation) -> list[Tensor]:
    keep = bool(torch.boolean_of(op.operands[3]))
    return [norm(Tensor.wide(op.operands[0]), 2.0, _matrix_dims(op) or [], keep)]


def _is_frobenius(op: ir.Operation) -> bool:
    return torch.string_of(op.operands[1]) == "fro" and _is_matrix_norm(op)


def _is_matrix_norm(op: ir.Operation) -> bool:
    return _matrix_dims(op) is not None and torch.boolean_of(op.operands[3]) is not None and torch.is_none(op.operands[4])  # fmt: skip


def _induced(op: ir.Operation) -> list[Tensor]:
    """The largest, or smallest, sum of a column (1) or a row (infinity)."""
    order, dims = torch.number_of(op.operands[1]) or 1.0, _matrix_dims(op) or [0, 1]
    over, left = dims if abs(order) == 1 else reversed(dims)
    sums = Tensor.wide(op.operands[0]).of("abs").summed([over], True)
    name = "aten.amax" if order > 0 else "aten.amin"
    made = sums.type_.with_size(left, 1)
    found = Tensor(apply(name, [sums.value, torch.integers([left]), torch.boolean(True)], made))
    if torch.boolean_of(op.operands[3]):
        return [found]
    return [found.dropped(max(dims)).dropped(min(dims))]


def _is_induced(op: ir.Operation) -> bool:
    return torch.number_of(op.operands[1]) in (1.0, -1.0, inf, -inf) and _is_matrix_norm(op)


def _listed(op: ir.Operation) -> list[ir.Value]:
    owner = op.operands[0].owner
    return [] if isinstance(owner, ir.Block) else list(owner.operands)


def _chain(op: ir.Operation) -> list[Tensor]:
    first, *others = map(Tensor.wide, _listed(op))
    for one in others:
        first = first @ one
    return [first]


def _is_chain(op: ir.Operation) -> bool:
    types = [TensorType.of(one) for one in _listed(op)]
    return bool(types) and all(one and len(one.shape) == 2 and one.element in torch.FLOATS for one in types)


def _matrix_power(op: ir.Operation) -> list[Tensor]:
    x, power = Tensor.wide(op.operands[0]), torch.integer_of(op.operands[1]) or 1
    found: Tensor | None = None
    while power:
        if power & 1:
            found = x if found is None else found @ x
        power >>= 1
        x = x @ x if power else x
    assert found is not None  # `_is_power`
    return [found]


def _is_power(op: ir.Operation) -> bool:
    return rank_of(op.operands[0]) >= 2 and torch.integer_of(op.operands[1]) in range(1, 1 << 16)


def _vandermonde(op: ir.Operation) -> list[Tensor]:
    x = Tensor.wide(op.operands[0])
    shape = x.type_.shape
    count = shape[-1] if torch.is_none(op.operands[1]) else torch.integer_of(op.operands[1])
    powers = [x.zeros() + 1.0]
    for _ in range((count or 1) - 1):
        powers.append(powers[-1] * x)
    if torch.front_end_name(op) == _FALLING and not torch.boolean_of(op.operands[2]):
        powers.reverse()
    columns = [inserted(one.value, len(shape)) for one in powers]
    return [Tensor(torch.concatenated(columns, len(shape)))]


def _is_falling(op: ir.Operation) -> bool:
    return _is_vandermonde(op) and torch.boolean_of(op.operands[2]) is not None


def _is_vandermonde(op: ir.Operation) -> bool:
    count = type_of(op.operands[0]).shape[-1:] if torch.is_none(op.operands[1]) else [torch.integer_of(op.operands[1])]  # fmt: skip
    return rank_of(op.operands[0]) > 0 and count[0] in range(1, 33)


def _difference(op: ir.Operation) -> list[Tensor]:
    """The second less alpha times the first."""
    operands = [op.operands[1], op.operands[0], op.operands[2]]
    return [Tensor(apply("aten.sub.Tensor", operands, type_of(op.results[0])))]


PRODUCTS = {
    "aten.rsub.Tensor": Composite(
        3, _difference, lambda op: all(map(TensorType.of, list(op.operands)[:2])), floats=False
    ),
    "aten.addmv": Composite(5, _add_products, _is_scaled),
    "aten.addr": Composite(5, _add_outer, _is_scaled),
    "aten.inner": Composite(2, _inner, _is_inner),
    "aten.vdot": Composite(2, _rows_product, lambda op: rank_of(op.operands[0]) == 1),
    "aten.linalg_vecdot": Composite(3, _rows_product, _has_dim),
    "aten.kron": Composite(2, _kronecker, _are_known),
    "aten.dist": Composite(3, _distance, lambda op: _power_of(op, 2) is not None),
    "aten.pairwise_distance": Composite(
        5,
        _row_distance,
        lambda op: bool(
            _power_of(op, 2) and _numbers(op, 3) and torch.boolean_of(op.operands[4]) is not None
        ),
    ),
    "aten.cdist": Composite(4, _distances, lambda op: _power_of(op, 2) is not None),
    "aten._cdist_forward": Composite(4, _distances, lambda op: _power_of(op, 2) is not None),
    "aten.linalg_matrix_norm.str_ord": Composite(5, _frobenius, _is_frobenius),
    "aten.linalg_matrix_norm": Composite(5, _induced, _is_induced),
    "aten.linalg_multi_dot": Composite(1, _chain, _is_chain),
    "aten.chain_matmul": Composite(1, _chain, _is_chain),
    "aten.linalg_matrix_power": Composite(2, _matrix_power, _is_power),
    "aten.linalg_vander": Composite(2, _vandermonde, _is_vandermonde),
    _FALLING: Composite(3, _vandermonde, _is_falling),
}
"""Op -> what takes its place."""
