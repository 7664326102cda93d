"""Determinants, inverses, factorisations and systems of linear equations of PyTorch and ONNX, as loops of linalg ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy
from ..torch_ops import TensorType
from . import elimination, reflections, rotations
from .batches import computed, element_at, element_of, sizes_of
from .forms import Form, flag, known, known_square, square, unless_false
from .singular_forms import SINGULAR_FORMS

_DETERMINANTS = ("aten.linalg_det", "onnx.Det")
"""What IREE lowers, without an exchange of rows."""


@register_pass
@dataclass(frozen=True)
class SolveSystems(FrontEndRemedy):
    """Writes determinants (`aten.linalg_det`, `slogdet`, `onnx.Det`), inverses, factorisations (LU, Cholesky, QR), systems of linear equations,
    eigenvalues of symmetric matrices, and singular values and what PyTorch makes of them (`pinv`, `matrix_rank`, `cond`, norms), of f32, as loops
    on the host: these eliminate one column a step, with exchange of rows as in LAPACK, or turn pairs of columns.

    IREE 3.13 lowers the determinant alone, and divides by pivots that are 0 (FIS185). Sizes may be dynamic, but for QR, eigenvalues and singular values. Where PyTorch raises an error
    (a singular matrix, one that is not positive definite) the result has infinities or NaN. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-solve-systems"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS185")
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces determinants, inverses, factorisations (LU, Cholesky, QR), symmetric eigenvalues, singular values and systems of linear equations of PyTorch and ONNX with loops "
        "that eliminate one column a step (in the input)"
    )
    repairs: ClassVar[str] = (
        "`aten.linalg_inv`, `linalg_solve`, `linalg_cholesky` and others, which IREE rejects (FIS421), and determinants, in which it divides "
        "by 0 (FIS185)"
    )
    numbers: ClassVar[str] = "different summation order than LAPACK's"
    done: ClassVar[str] = "rewrote it as a loop that eliminates one column a step"
    advice: ClassVar[str] = "rewrite it as a loop that eliminates one column a step"
    dialects: ClassVar[tuple[str, ...]] = ("torch", "torch_c", "linalg", "tensor", "arith", "math", "scf")

    def fits(self, op: ir.Operation) -> bool:
        form = _FORMS.get(torch.front_end_name(op))
        if form is None or not form.matrices <= len(op.operands) <= form.matrices + len(form.flags):
            return False
        matrices = [one for value in op.operands[: form.matrices] if (one := TensorType.of(value))]
        flags = {
            name: given
            for name, value in zip(form.flags, op.operands[form.matrices :], strict=False)
            if (given := flag(value)) is not None
        }
        if len(matrices) + len(flags) != len(op.operands):
            return False
        rank = len(matrices[0].shape)
        results = [TensorType.of(value) for value in op.results]
        return form.returns(results, rank) and form.takes(flags, rank) and form.allows(matrices)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        form = _FORMS[torch.front_end_name(op)]
        matrices = [torch.to_builtin(value) for value in op.operands[: form.matrices]]
        given = [flag(value) for value in op.operands[form.matrices :]]
        flags = dict(zip(form.flags, given, strict=False))
        made = form.write(*matrices, **flags)
        types = [TensorType.of(result) for result in op.results]
        return [
            torch.from_builtin(value, type_)
            for value, type_ in zip(made, types, strict=False)  # trailing results may be left out
            if type_ is not None
        ]


def may_divide_by_zero(op: ir.Operation) -> bool:
    """Whether IREE lowers ``op`` by an elimination without exchange of rows; the pivot of a matrix of one element divides nothing."""
    if torch.front_end_name(op) not in _DETERMINANTS:
        return False
    type_ = TensorType.of(op.operands[0])
    return type_ is None or not type_.shape or type_.shape[-1] != 1


def _with_right(types: list[TensorType]) -> bool:
    return _paired(types[0], types[1], vectors=_is_vector(types))


def _with_matrix(types: list[TensorType]) -> bool:
    return _paired(types[0], types[1], vectors=False)


def _paired(matrix: TensorType, right: TensorType, vectors: bool) -> bool:
    """Whether the two have what a system of equations needs, and batches that broadcast."""
    own = 1 if vectors else 2
    if not square([matrix]) or right.element != "f32" or len(right.shape) < own:
        return False
    if matrix.shape[-1] not in right.shape[-own:]:
        return False
    batches = zip(matrix.shape[:-2][::-1], right.shape[:-own][::-1], strict=False)
    return all(one == other or 1 in (one, other) for one, other in batches)


def _factors_with_right(types: list[TensorType]) -> bool:
    packed, pivots, right = types
    same = pivots.element == "si32" and pivots.shape == packed.shape[:-1]
    return same and packed.shape[:-2] == right.shape[:-2] and _with_matrix([packed, right])


def _is_vector(types: list[TensorType]) -> bool:
    """As `torch.linalg.solve` tells a batch of vectors from a matrix."""
    matrix, right = types
    return len(right.shape) == 1 or right.shape == matrix.shape[:-1]


def _determinant(matrix: ir.Value) -> list[ir.Value]:
    factors = elimination.factored(matrix)
    pivots = elimination.counted_from(factors.pivots, 1)
    return [elimination.determinant(factors), factors.packed, pivots]


def _logarithm(matrix: ir.Value) -> list[ir.Value]:
    factors = elimination.factored(matrix)
    pivots = elimination.counted_from(factors.pivots, 1)
    return [*elimination.sign_and_logarithm(factors), factors.packed, pivots]


def _inverse(matrix: ir.Value, check_errors: bool = False) -> list[ir.Value]:
    factors = elimination.factored(matrix)
    one = elimination.identity(sizes_of(matrix), element_of(matrix))
    info = elimination.first_failing(factors.packed, factors.pivots, definite=False)
    return [elimination.solved(factors, one), info]


def _solution(
    matrix: ir.Value, right: ir.Value, left: bool = True, check_errors: bool = False
) -> list[ir.Value]:
    found, factors = _solved(matrix, right, left)
    return [found, elimination.first_failing(factors.packed, factors.pivots, definite=False)]


def _solution_and_factors(
    matrix: ir.Value, right: ir.Value, left: bool = True, check_errors: bool = False
) -> list[ir.Value]:
    found, factors = _solved(matrix, right, left)
    info = elimination.first_failing(factors.packed, factors.pivots, definite=False)
    return [found, factors.packed, elimination.counted_from(factors.pivots, 1), info]


def _solved(matrix: ir.Value, right: ir.Value, left: bool) -> tuple[ir.Value, elimination.Factors]:
    factors = elimination.factored(matrix)
    shapes = [ir.RankedTensorType(value.type).shape for value in (matrix, right)]
    if len(shapes[1]) == 1 or shapes[1] == shapes[0][:-1]:  # a batch of vectors
        column = elimination.as_columns(right)
        found = elimination.solved(factors, column, turned=not left)
        sizes = sizes_of(found)[:-1]
        zero = elimination.index(0)
        return computed(
            sizes, element_of(found), lambda at: element_at(found, at[:-1], at[-1], zero)
        ), factors
    if left:
        return elimination.solved(factors, right), factors
    found = elimination.solved(factors, elimination.transposed(right), turned=True)
    return elimination.transposed(found), factors


def _cholesky(matrix: ir.Value, upper: bool = False, check_errors: bool = False) -> list[ir.Value]:
    lower = elimination.cholesky(elimination.transposed(matrix) if upper else matrix)
    steps = elimination.diagonal(matrix)
    info = elimination.first_failing(lower, steps, definite=True)
    return [elimination.transposed(lower) if upper else lower, info]


def _triangular(
    matrix: ir.Value, right: ir.Value, upper: bool, left: bool = True, unitriangular: bool = False
) -> list[ir.Value]:
    if left:
        return [elimination.substituted(matrix, right, not upper, unitriangular)]
    turned = elimination.transposed(right)
    found = elimination.substituted(matrix, turned, not upper, unitriangular, turned=True)
    return [elimination.transposed(found)]


def _triangular_of_old(
    right: ir.Value,
    matrix: ir.Value,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> list[ir.Value]:
    return [elimination.substituted(matrix, right, not upper, unitriangular, transpose), matrix]


def _by_cholesky(right: ir.Value, factor: ir.Value, upper: bool = False) -> list[ir.Value]:
    found = elimination.substituted(factor, right, not upper, turned=upper)
    return [elimination.substituted(factor, found, not upper, turned=not upper)]


def _inverse_by_cholesky(factor: ir.Value, upper: bool = False) -> list[ir.Value]:
    return _by_cholesky(elimination.identity(sizes_of(factor), element_of(factor)), factor, upper)


def _factors(matrix: ir.Value, pivot: bool = True, check_errors: bool = False) -> list[ir.Value]:
    factors = elimination.factored(matrix)
    info = elimination.first_failing(factors.packed, factors.pivots, definite=False)
    return [factors.packed, elimination.counted_from(factors.pivots, 1), info]


def _three_factors(matrix: ir.Value, pivot: bool = True) -> list[ir.Value]:
    factors = elimination.factored(matrix)
    lower = elimination.triangle(factors.packed, lower=True, unit=True)
    upper = elimination.triangle(factors.packed, lower=False)
    return [elimination.permutation(factors.order, element_of(matrix)), lower, upper]


def _by_factors(
    packed: ir.Value, pivots: ir.Value, right: ir.Value, left: bool = True, adjoint: bool = False
) -> list[ir.Value]:
    zero_based = elimination.counted_from(pivots, -1)
    factors = elimination.Factors(packed, zero_based, elimination.order_of(zero_based, sizes_of(packed)[-1]))
    if left:
        return [elimination.solved(factors, right, turned=adjoint)]
    found = elimination.solved(factors, elimination.transposed(right), turned=not adjoint)
    return [elimination.transposed(found)]


def _orthogonal_and_upper(matrix: ir.Value, mode: str = "reduced") -> list[ir.Value]:
    rows, columns = ir.RankedTensorType(matrix.type).shape[-2:]
    steps = min(rows, columns)
    packed, factors = reflections.reflected(matrix, steps)
    wide = rows if mode == "complete" else steps
    found = reflections.orthogonal(packed, factors, wide)
    upper = elimination.triangle(packed, lower=False)
    *batch, _rows, _columns = sizes_of(matrix)
    upper = computed(
        [*batch, wide, columns], element_of(matrix), lambda at: element_at(upper, at[:-2], *at[-2:])
    )
    return [found, upper]


def _reflections(matrix: ir.Value) -> list[ir.Value]:
    return list(reflections.reflected(matrix, min(ir.RankedTensorType(matrix.type).shape[-2:])))


def _reflected(packed: ir.Value, factors: ir.Value) -> list[ir.Value]:
    return [reflections.orthogonal(packed, factors, sizes_of(packed)[-1])]


def _eigenvalues(matrix: ir.Value, uplo: str = "L", compute_v: bool = True) -> list[ir.Value]:
    return list(rotations.eigenvalues(rotations.symmetric(matrix, uplo.upper() == "L")))


_CHECK = ("check_errors",)
_LEFT = ("left", "check_errors")
_FORMS = {
    **SINGULAR_FORMS,
    "onnx.Det": Form(1, (), "n", _determinant, square),
    "aten.det": Form(1, (), "n", _determinant, square),
    "aten.linalg_det": Form(1, (), "n", _determinant, square),
    "aten._linalg_det": Form(1, (), "nmp", _determinant, square),
    "aten.linalg_slogdet": Form(1, (), "nn", _logarithm, square),
    "aten.slogdet": Form(1, (), "nn", _logarithm, square),
    "aten._linalg_slogdet": Form(1, (), "nnmp", _logarithm, square),
    "aten.inverse": Form(1, (), "m", _inverse, square),
    "aten.linalg_inv": Form(1, (), "m", _inverse, square),
    "aten.linalg_inv_ex": Form(1, _CHECK, "mi", _inverse, square),
    "aten.linalg_solve": Form(2, _LEFT[:1], "r", _solution, _with_right),
    "aten.linalg_solve_ex": Form(2, _LEFT, "ri", _solution, _with_right),
    "aten._linalg_solve_ex": Form(2, _LEFT, "rmpi", _solution_and_factors, _with_right),
    "aten.cholesky": Form(1, ("upper",), "m", _cholesky, square),
    "aten.linalg_cholesky": Form(1, ("upper",), "m", _cholesky, square),
    "aten.linalg_cholesky_ex": Form(1, ("upper", *_CHECK), "mi", _cholesky, square),
    "aten.linalg_solve_triangular": Form(
        2, ("upper", "left", "unitriangular"), "r", _triangular, _with_matrix
    ),
    "aten.triangular_solve": Form(
        2,
        ("upper", "transpose", "unitriangular"),
        "rr",
        _triangular_of_old,
        lambda types: _with_matrix(types[::-1]),
    ),
    "aten.cholesky_solve": Form(2, ("upper",), "r", _by_cholesky, lambda types: _with_matrix(types[::-1])),
    "aten.cholesky_inverse": Form(1, ("upper",), "m", _inverse_by_cholesky, square),
    "aten.linalg_lu_factor": Form(1, ("pivot",), "mp", _factors, square, unless_false("pivot")),
    "aten.linalg_lu_factor_ex": Form(1, ("pivot", *_CHECK), "mpi", _factors, square, unless_false("pivot")),
    "aten.linalg_lu": Form(1, ("pivot",), "mmm", _three_factors, square, unless_false("pivot")),
    "aten.linalg_qr": Form(
        1, ("mode",), "mm", _orthogonal_and_upper, known, lambda flags, _rank: flags.get("mode") != "r"
    ),
    "aten.geqrf": Form(1, (), "mv", _reflections, known),
    "aten.linalg_householder_product": Form(2, (), "m", _reflected, known),
    "aten.linalg_eigh": Form(1, ("uplo",), "vm", _eigenvalues, known_square),
    "aten._linalg_eigh": Form(
        1, ("uplo", "compute_v"), "vm", _eigenvalues, known_square, unless_false("compute_v")
    ),
    "aten.linalg_eigvalsh": Form(1, ("uplo",), "v", _eigenvalues, known_square),
    "aten.linalg_lu_solve": Form(3, ("left", "adjoint"), "r", _by_factors, _factors_with_right),
}
