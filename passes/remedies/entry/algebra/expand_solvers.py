"""Factorisations and triangular systems of StableHLO, and JAX's calls of LAPACK and cuSOLVER, as loops of linalg ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute, text_of
from fissile.passes.analysis.imports.stablehlo_ops import (
    CHOLESKY,
    CUSTOM_CALL,
    TRIANGULAR_SOLVE,
    has_static_shape,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from . import elimination, reflections, rotations, singular_values
from .batches import computed, element_of, number, sizes_of

_CALLED = re.compile(
    r"(?:lapack_[sd]|cusolver_|hipsolver_)(getrf|potrf|trsm|geqrf|orgqr|syevd|gesdd|gesvdj|gesvd)_ffi$"
)
_OTHERS = {
    "LuDecomposition": "lu",
    "Qr": "geqrf",
    "Eigh": "eigh",
    "ProductOfElementaryHouseholderReflectors": "orgqr",
    "cu_lu_pivots_to_permutation": "order",
    "hip_lu_pivots_to_permutation": "order",
}
_SINGULAR = ("gesdd", "gesvdj", "gesvd")
_SHAPES = {
    "getrf": (1, 3),
    "potrf": (1, 2),
    "trsm": (2, 1),
    "geqrf": (1, 2),
    "orgqr": (2, 1),
    "syevd": (1, 3),
    "eigh": (1, 2),
    **dict.fromkeys(_SINGULAR, (1, 5)),
    "lu": (1, 3),
    "order": (1, 1),
    CHOLESKY: (1, 1),
    TRIANGULAR_SOLVE: (2, 1),
}
"""How many operands and results each has."""
_HALF = (("uplo",), ("lower",))
_VECTORS = ("compute_uv", "full_matrices")
_OPTIONS = {
    "potrf": _HALF,
    "syevd": _HALF,
    "trsm": (("side", "uplo", "diag", "trans_x"),),
    "gesdd": (("mode",),),
    "gesvdj": (_VECTORS,),
    "gesvd": ((*_VECTORS, "transposed"),),
}
"""What a call has to say, in one of these ways."""
_UNTURNED = "NO_TRANSPOSE"
_EIGH_OPTIONS = re.compile(r"[01],")
"""Whether the lower half is given, and others that change nothing in the result but its order."""


@register_pass
@dataclass(frozen=True)
class ExpandSolvers(FrontEndRemedy):
    """Writes `stablehlo.cholesky` and `triangular_solve`, and the custom calls of LU, Cholesky and QR factorisations, triangular systems,
    symmetric eigenvalues and singular values that JAX writes for CPU, CUDA, ROCm and TPU, as loops on the host that make one step for each column.

    `jnp.linalg.solve`, `inv`, `det`, `cholesky`, `qr`, `eigh`, `svd`, `pinv`, `lstsq`, `jax.scipy.linalg.cho_solve` and others consist of them; IREE 3.13 rejects each. Of f32 and
    f64, and of static shapes. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-expand-solvers"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    candidates: ClassVar[tuple[str, ...]] = (CHOLESKY, TRIANGULAR_SOLVE, CUSTOM_CALL)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "linalg", "tensor", "arith", "math", "scf")
    does: ClassVar[str] = (
        "replaces `stablehlo.cholesky`, `stablehlo.triangular_solve` and JAX's calls of LAPACK's getrf, potrf, trsm, geqrf, orgqr, syevd and gesdd with loops that make "
        "one step for each column (in the input)"
    )
    repairs: ClassVar[str] = "these, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different summation order than LAPACK's"
    done: ClassVar[str] = "rewrote it as a loop that makes one step for each column"
    advice: ClassVar[str] = "rewrite it as a loop that makes one step for each column"

    def fits(self, op: ir.Operation) -> bool:
        kind = _kind_of(op)
        if not kind or (len(op.operands), len(op.results)) != _SHAPES[kind]:
            return False
        if not any(
            all(_backend(op, name) is not None for name in names) for names in _OPTIONS.get(kind, ((),))
        ):
            return False
        if kind == "gesvd" and _backend(op, "transposed"):
            return False  # an operand in another layout
        if kind == "eigh" and not _EIGH_OPTIONS.match(text_of(op, "backend_config")):
            return False
        values = [*op.operands, *op.results]
        if not all(
            isinstance(one.type, ir.RankedTensorType) and has_static_shape(one.type) for one in values
        ):
            return False
        if kind != "order" and (
            str(element_of(op.operands[0])) not in ("f32", "f64")
            or ir.RankedTensorType(op.operands[0].type).rank < 2
        ):
            return False
        return _results_of(op, kind) == [one.type for one in op.results]

    def named(self, op: ir.Operation) -> str:
        return text_of(op, "call_target_name") or op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        return _WRITTEN[_kind_of(op)](op)


def _kind_of(op: ir.Operation) -> str:
    if op.name != CUSTOM_CALL:
        return op.name
    target = text_of(op, "call_target_name")
    called = _CALLED.match(target)
    return called[1] if called else _OTHERS.get(target, "")


def _results_of(op: ir.Operation, kind: str) -> list[ir.Type] | None:
    """The types of what is written for ``op``; None where its operands do not belong together."""
    first = ir.RankedTensorType(op.operands[0].type)
    integer, element = ir.IntegerType.get_signless(32), first.element_type
    if kind == "order":
        made = ir.RankedTensorType(op.results[0].type)
        if first.element_type != integer or first.rank == 0 or made.rank != first.rank:
            return None
        fits = first.shape[:-1] == made.shape[:-1] and first.shape[-1] <= made.shape[-1]
        return [ir.RankedTensorType.get(made.shape, integer)] if fits else None
    *batch, rows, columns = first.shape
    steps = min(rows, columns)

    def typed(sizes: Sequence[int], of: ir.Type) -> ir.Type:
        return ir.RankedTensorType.get([*batch, *sizes], of)

    if kind in ("getrf", "lu"):
        return [first, typed([steps], integer), typed([] if kind == "getrf" else [rows], integer)]
    if kind == "geqrf":
        return [first, typed([steps], element)]
    if kind == "orgqr":
        factors, made = (ir.RankedTensorType(one.type) for one in (op.operands[1], op.results[0]))
        known = factors.rank == first.rank - 1 and factors == typed(factors.shape[-1:], element)
        fits = known and factors.shape[-1] <= steps and made.rank == first.rank and made.shape[-1] <= rows
        return [typed([rows, made.shape[-1]], element)] if fits else None
    if kind in _SINGULAR:
        if steps == 0:
            return None
        wide_left, wide_right = (rows, columns) if _is_full(op, kind) else (steps, steps)
        right = [columns, wide_right] if kind == "gesvdj" else [wide_right, columns]
        vectors = [typed([rows, wide_left], element), typed(right, element)]
        if not _has_vectors(op, kind):
            vectors = [one.type for one in list(op.results)[2:4]]  # of no meaning
        return [first, typed([steps], element), *vectors, typed([], integer)]
    if rows != columns:
        return None
    if kind in ("trsm", TRIANGULAR_SOLVE):
        right = ir.RankedTensorType(op.operands[1].type)
        left = _letter(op, "side") == "L" if kind == "trsm" else _flag(op, "left_side")
        same = right.rank == first.rank and right == typed(right.shape[-2:], element)
        return [right] if same and right.shape[-2 if left else -1] == rows else None
    if kind == "eigh":
        return [first, typed([rows], element)]
    if kind == "syevd":
        return [first, typed([rows], element), typed([], integer)]
    return [first, typed([], integer)][: len(op.results)]


def _getrf(op: ir.Operation) -> list[ir.Value]:
    factors = elimination.factored(op.operands[0])
    info = elimination.first_failing(factors.packed, factors.pivots, definite=False)
    return [factors.packed, elimination.counted_from(factors.pivots, 1), info]


def _lu(op: ir.Operation) -> list[ir.Value]:
    factors = elimination.factored(op.operands[0])
    return [factors.packed, factors.pivots, factors.order]


def _order(op: ir.Operation) -> list[ir.Value]:
    return [elimination.order_of(op.operands[0], sizes_of(op.results[0])[-1])]


def _potrf(op: ir.Operation) -> list[ir.Value]:
    factor = _cholesky_of(op.operands[0], _reads_lower(op))
    info = elimination.first_failing(factor, elimination.diagonal(factor), definite=True)
    return [factor, info]


def _trsm(op: ir.Operation) -> list[ir.Value]:
    lower, unit = _letter(op, "uplo") == "L", _letter(op, "diag") == "U"
    return _substituted(op, _letter(op, "side") == "L", lower, unit, _letter(op, "trans_x") != "N")


def _geqrf(op: ir.Operation) -> list[ir.Value]:
    steps = ir.RankedTensorType(op.results[1].type).shape[-1]
    return list(reflections.reflected(op.operands[0], steps))


def _orgqr(op: ir.Operation) -> list[ir.Value]:
    packed, factors = op.operands
    return [reflections.orthogonal(packed, factors, sizes_of(op.results[0])[-1])]


def _syevd(op: ir.Operation) -> list[ir.Value]:
    """Vectors, values, and an info that is always 0: NaN becomes NaN."""
    values, vectors = rotations.eigenvalues(rotations.symmetric(op.operands[0], _reads_lower(op)))
    integer = ir.IntegerType.get_signless(32)
    batch = sizes_of(op.operands[0])[:-2]
    return [vectors, values, computed(batch, integer, lambda _at: number(integer, 0))]


def _eigh(op: ir.Operation) -> list[ir.Value]:
    lower = text_of(op, "backend_config").startswith("1")
    values, vectors = rotations.eigenvalues(rotations.symmetric(op.operands[0], lower))
    return [vectors, values]


def _has_vectors(op: ir.Operation, kind: str) -> bool:
    return _letter(op, "mode") != "N" if kind == "gesdd" else bool(_backend(op, "compute_uv"))


def _is_full(op: ir.Operation, kind: str) -> bool:
    return _letter(op, "mode") == "A" if kind == "gesdd" else bool(_backend(op, "full_matrices"))


def _singular(op: ir.Operation) -> list[ir.Value]:
    """The operand, values, vectors, and an info that is always 0."""
    kind, (given,) = _kind_of(op), op.operands
    if _has_vectors(op, kind):
        left, values, right = singular_values.decomposed(given, _is_full(op, kind))
        vectors = [left, elimination.transposed(right) if kind == "gesvdj" else right]
    else:
        values = singular_values.singular_values(given)
        element = element_of(given)
        vectors = [
            computed(sizes_of(one), element, lambda _at: number(element, 0)) for one in list(op.results)[2:4]
        ]
    integer = ir.IntegerType.get_signless(32)
    info = computed(sizes_of(given)[:-2], integer, lambda _at: number(integer, 0))
    return [given, values, *vectors, info]


def _reads_lower(op: ir.Operation) -> bool:
    lower = _backend(op, "lower")
    return _letter(op, "uplo") == "L" if lower is None else bool(lower)


def _cholesky(op: ir.Operation) -> list[ir.Value]:
    return [_cholesky_of(op.operands[0], _flag(op, "lower"))]


def _triangular_solve(op: ir.Operation) -> list[ir.Value]:
    turned = _UNTURNED not in str(attribute(op, "transpose_a"))
    return _substituted(op, _flag(op, "left_side"), _flag(op, "lower"), _flag(op, "unit_diagonal"), turned)


def _cholesky_of(matrix: ir.Value, lower: bool) -> ir.Value:
    if lower:
        return elimination.cholesky(matrix)
    return elimination.transposed(elimination.cholesky(elimination.transposed(matrix)))


def _substituted(op: ir.Operation, left: bool, lower: bool, unit: bool, turned: bool) -> list[ir.Value]:
    matrix, right = op.operands
    if left:
        return [elimination.substituted(matrix, right, lower, unit, turned)]
    found = elimination.substituted(matrix, elimination.transposed(right), lower, unit, not turned)
    return [elimination.transposed(found)]


def _flag(op: ir.Operation, name: str) -> bool:
    found = attribute(op, name)
    return found is not None and ir.BoolAttr(found).value


def _backend(op: ir.Operation, name: str) -> int | None:
    """A number of a custom call's own attributes."""
    found = attribute(op, "mhlo.backend_config")
    if found is None or not isinstance(found, ir.DictAttr) or name not in found:
        return None
    value = found[name]
    return int(ir.BoolAttr(value).value) if isinstance(value, ir.BoolAttr) else ir.IntegerAttr(value).value


def _letter(op: ir.Operation, name: str) -> str:
    """LAPACK's letter for an option, which JAX passes as its code."""
    return chr(_backend(op, name) or 0)


_WRITTEN: dict[str, Callable[[ir.Operation], list[ir.Value]]] = {
    "getrf": _getrf,
    "potrf": _potrf,
    "trsm": _trsm,
    "geqrf": _geqrf,
    "orgqr": _orgqr,
    "syevd": _syevd,
    "lu": _lu,
    "order": _order,
    "eigh": _eigh,
    **dict.fromkeys(_SINGULAR, _singular),
    CHOLESKY: _cholesky,
    TRIANGULAR_SOLVE: _triangular_solve,
}
