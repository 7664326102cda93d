"""PyTorch's ops that need the singular values of a matrix: svd, pinv, matrix_rank, the norms of order 2 and the nuclear one, cond."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from iree.compiler import ir
from iree.compiler.dialects import arith

from ..torch_ops import TensorType
from . import rotations, singular_values
from .batches import Indices, computed, element_at, element_of, folded, index, number, sizes_of
from .elimination import transposed
from .forms import NONE, Flag, Form, known, unless_false

_EPSILON = float(np.finfo(np.float32).eps)


def _decomposed(matrix: ir.Value, full_matrices: bool = True, **_rest: Flag) -> list[ir.Value]:
    return list(singular_values.decomposed(matrix, full_matrices))


def _decomposed_of_old(matrix: ir.Value, some: bool = True, **_rest: Flag) -> list[ir.Value]:
    left, values, right = singular_values.decomposed(matrix, not some)
    return [left, values, transposed(right)]


def _values(matrix: ir.Value, **_rest: Flag) -> list[ir.Value]:
    return [singular_values.singular_values(matrix)]


def _limits(matrix: ir.Value, atol: Flag, rtol: Flag) -> tuple[float, float]:
    """The smallest value, and the smallest share of the largest one, that PyTorch takes for more than 0."""
    smallest = 0.0 if atol == NONE else float(cast("float", atol))
    if rtol != NONE:
        return smallest, float(cast("float", rtol))
    return smallest, 0.0 if smallest > 0 else _EPSILON * max(ir.RankedTensorType(matrix.type).shape[-2:])


def _mirrored(matrix: ir.Value, hermitian: bool) -> ir.Value:
    """PyTorch reads the lower half of a hermitian matrix, which is square."""
    rows, columns = ir.RankedTensorType(matrix.type).shape[-2:]
    return rotations.symmetric(matrix, lower=True) if hermitian and rows == columns else matrix


def _pseudo_inverse(
    matrix: ir.Value, atol: Flag = NONE, rtol: Flag = NONE, hermitian: bool = False
) -> list[ir.Value]:
    limits = _limits(matrix, atol, rtol)
    return [singular_values.pseudo_inverse(_mirrored(matrix, hermitian), *limits)]


def _pseudo_inverse_of_old(matrix: ir.Value, rcond: float = 1e-15, hermitian: bool = False) -> list[ir.Value]:
    return _pseudo_inverse(matrix, 0.0, rcond, hermitian)


def _rank(matrix: ir.Value, atol: Flag = NONE, rtol: Flag = NONE, hermitian: bool = False) -> list[ir.Value]:
    limits = _limits(matrix, atol, rtol)
    values = singular_values.singular_values(_mirrored(matrix, hermitian))
    return [singular_values.rank(values, *limits, ir.IntegerType.get_signless(64))]


def _rank_of_old(matrix: ir.Value, tol: float, hermitian: bool = False) -> list[ir.Value]:
    return _rank(matrix, tol, 0.0, hermitian)


def _norm(matrix: ir.Value, ord: Flag, **_rest: Flag) -> list[ir.Value]:
    values = singular_values.singular_values(matrix)
    if ord == "nuc":
        *batch, steps = sizes_of(values)
        zero = number(element_of(values), 0)
        return [
            folded(batch, steps, zero, lambda at, old: arith.addf(old, element_at(values, at[:-1], at[-1])))
        ]
    return [_one_of(values, largest=ord == 2)]


def _one_of(values: ir.Value, largest: bool) -> ir.Value:
    *batch, steps = sizes_of(values)
    assert isinstance(steps, int)
    place = 0 if largest else steps - 1
    return computed(batch, element_of(values), lambda at: element_at(values, at, index(place)))


def _condition(matrix: ir.Value, p: Flag = NONE) -> list[ir.Value]:
    values = singular_values.singular_values(matrix)
    first, last = _one_of(values, largest=True), _one_of(values, largest=False)
    over, under = (last, first) if p == -2 else (first, last)

    def quotient(at: Indices) -> ir.Value:
        return arith.divf(element_at(over, at), element_at(under, at))

    *batch, _steps = sizes_of(values)
    return [computed(batch, element_of(values), quotient)]


def _is_spectral(flags: Mapping[str, Flag], rank: int) -> bool:
    """Whether a norm is that of the matrices themselves, of an order that singular values give; what it does with a size of its own or another type is
    not written."""
    if rank < 2 or flags.get("ord") not in (2, -2, "nuc"):
        return False
    dims = flags.get("dim", NONE)
    if dims == NONE and rank == 2:
        dims = [0, 1]
    if not isinstance(dims, list) or len(dims) != 2 or {dim % rank for dim in dims} != {rank - 2, rank - 1}:
        return False
    return not flags.get("keepdim") and flags.get("dtype", NONE) == NONE


def _is_of_numbers(flags: Mapping[str, Flag], _rank: int) -> bool:
    return all(
        flags.get(name, NONE) == NONE or isinstance(flags[name], float | int) for name in ("atol", "rtol")
    )


def _filled(types: list[TensorType]) -> bool:
    """An empty matrix has no largest value."""
    return known(types) and 0 not in types[0].shape[-2:]


_NORM = ("ord", "dim", "keepdim", "dtype")
_LIMITS = ("atol", "rtol", "hermitian")
SINGULAR_FORMS = {
    "aten.linalg_svd": Form(1, ("full_matrices", "driver"), "mvm", _decomposed, _filled),
    "aten._linalg_svd": Form(
        1, ("full_matrices", "compute_uv", "driver"), "mvm", _decomposed, _filled, unless_false("compute_uv")
    ),
    "aten.svd": Form(
        1, ("some", "compute_uv"), "mvm", _decomposed_of_old, _filled, unless_false("compute_uv")
    ),
    "aten.linalg_svdvals": Form(1, ("driver",), "v", _values, _filled),
    "aten.linalg_pinv": Form(1, ("rcond", "hermitian"), "m", _pseudo_inverse_of_old, _filled),
    "aten.linalg_pinv.atol_rtol_tensor": Form(1, _LIMITS, "m", _pseudo_inverse, _filled, _is_of_numbers),
    "aten.linalg_pinv.atol_rtol_float": Form(1, _LIMITS, "m", _pseudo_inverse, _filled, _is_of_numbers),
    "aten.pinverse": Form(1, ("rcond",), "m", _pseudo_inverse_of_old, _filled),
    "aten.linalg_matrix_rank": Form(1, ("tol", "hermitian"), "c", _rank_of_old, _filled),
    "aten.linalg_matrix_rank.atol_rtol_tensor": Form(1, _LIMITS, "c", _rank, _filled, _is_of_numbers),
    "aten.linalg_matrix_rank.atol_rtol_float": Form(1, _LIMITS, "c", _rank, _filled, _is_of_numbers),
    "aten.linalg_matrix_norm": Form(1, _NORM, "n", _norm, _filled, _is_spectral),
    "aten.linalg_matrix_norm.str_ord": Form(1, _NORM, "n", _norm, _filled, _is_spectral),
    "aten.linalg_norm": Form(1, _NORM, "n", _norm, _filled, _is_spectral),
    "aten.linalg_norm.ord_str": Form(1, _NORM, "n", _norm, _filled, _is_spectral),
    "aten.linalg_cond": Form(
        1, ("p",), "n", _condition, _filled, lambda flags, _rank: flags.get("p", NONE) in (NONE, 2, -2)
    ),
}
