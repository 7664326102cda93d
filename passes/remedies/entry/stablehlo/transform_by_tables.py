"""Fourier transforms of StableHLO that IREE does not lower, written as products with tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.imports.products.dot_forms import DotForm
from fissile.passes.analysis.imports.stablehlo_ops import (
    ADD,
    COMPLEX,
    CONSTANT,
    DOT_GENERAL,
    FFT,
    IMAG,
    REAL,
    SUBTRACT,
    element_of,
    has_static_shape,
    shape_of,
)
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy
from ..products.multiply_unsized import multiplied
from .values import transposed

LONGEST = 1024
"""Elements of a table's row: a table of 4 MiB of f32, and twice as many products as results for each element."""
_FLOATS = {"f32": np.float32, "f64": np.float64}


@register_pass
@dataclass(frozen=True)
class TransformByTables(FrontEndRemedy):
    """Writes a `stablehlo.fft` over several dimensions, of a length that is no power of two, or over a batch of unknown size, as products
    with tables of cosines and sines.

    IREE 3.13 lowers a transform of one dimension whose length is a power of two, where all sizes are known. All four types (FFT, IFFT, RFFT, IRFFT), one dimension
    after the other, of up to 1024 elements each: N products for each element, in the place of log N.
    """

    name: ClassVar[str] = "fissile-transform-by-tables"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    candidates: ClassVar[tuple[str, ...]] = (FFT,)
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "tensor", "arith", "linalg")
    does: ClassVar[str] = (
        "replaces a `stablehlo.fft` over several dimensions, of a length that is no power of two, or over a batch of unknown size, by "
        "products with tables (in the input)"
    )
    repairs: ClassVar[str] = "these transforms, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "rounded at other places"
    done: ClassVar[str] = "rewrote it as products with tables"
    advice: ClassVar[str] = "rewrite it as products with tables"

    def fits(self, op: ir.Operation) -> bool:
        lengths = _lengths(op)
        known = all(has_static_shape(value.type) for value in (op.operands[0], op.results[0]))
        lowered = known and len(lengths) == 1 and lengths[0] & (lengths[0] - 1) == 0
        transformed = shape_of(op.operands[0])[-len(lengths) :]
        return (
            not lowered
            and all(0 < n <= LONGEST for n in lengths)
            and ir.ShapedType.get_dynamic_size() not in transformed
            and str(_part_of(element_of(op.operands[0]))) in _FLOATS
        )

    def named(self, op: ir.Operation) -> str:
        return op.name

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, lengths, kind = op.operands[0], _lengths(op), _type_of(op)
        first = len(shape_of(value)) - len(lengths)
        dims = list(range(first, first + len(lengths)))
        if kind == "RFFT":
            parts = _Parts(value, None).transformed(dims[-1], _forward(lengths[-1], lengths[-1] // 2 + 1))
            dims, lengths = dims[:-1], lengths[:-1]
        else:
            parts = _Parts(_part(REAL, value), _part(IMAG, value))
        inverse = kind in ("IFFT", "IRFFT")
        complex_ones = dims[:-1] if kind == "IRFFT" else dims
        for dim, length in zip(complex_ones, lengths, strict=False):
            parts = parts.transformed(dim, _backward(length) if inverse else _forward(length, length))
        if kind == "IRFFT":
            return [parts.real_only(dims[-1], _half_backward(lengths[-1]))]
        return [parts.joined(op.results[0].type)]


@dataclass(frozen=True)
class _Parts:
    """Real and imaginary parts; no imaginary part is one of zeros."""

    real: ir.Value
    imag: ir.Value | None

    def transformed(self, dim: int, table: np.ndarray) -> _Parts:
        """Along ``dim``: the products with a complex ``table`` of as many rows."""
        cosines, sines = (_constant(part, self.real) for part in (table.real, table.imag))
        real, imag = _product(self.real, dim, cosines), _product(self.real, dim, sines)
        if self.imag is None:
            return _Parts(real, imag)
        real = _made(SUBTRACT, real, _product(self.imag, dim, sines))
        return _Parts(real, _made(ADD, imag, _product(self.imag, dim, cosines)))

    def real_only(self, dim: int, table: np.ndarray) -> ir.Value:
        """As `transformed`, of which the imaginary part is 0."""
        assert self.imag is not None
        cosines, sines = (_constant(part, self.real) for part in (table.real, table.imag))
        return _made(SUBTRACT, _product(self.real, dim, cosines), _product(self.imag, dim, sines))

    def joined(self, type_: ir.Type) -> ir.Value:
        return ir.Operation.create(COMPLEX, results=[type_], operands=[self.real, self.imag]).result


def _forward(length: int, count: int) -> np.ndarray:
    """The factors of the first ``count`` results, by columns."""
    return np.exp(-2j * pi * (np.outer(np.arange(length), np.arange(count)) % length) / length)


def _backward(length: int) -> np.ndarray:
    return _forward(length, length).conj() / length


def _half_backward(length: int) -> np.ndarray:
    """The rows of `_backward` up to the middle, for a spectrum of which the rest is the conjugate of these."""
    rows = _backward(length)[: length // 2 + 1]
    mirrored = np.arange(1, (length + 1) // 2)
    rows[mirrored] *= 2
    return rows


def _product(value: ir.Value, dim: int, table: ir.Value) -> ir.Value:
    """The sums over ``dim`` of ``value`` and the rows of ``table``, in the place of that dimension."""
    rest = [n for i, n in enumerate(shape_of(value)) if i != dim]
    type_ = ir.RankedTensorType.get([*rest, shape_of(table)[1]], element_of(value))
    if not has_static_shape(value.type):
        form = DotForm((len(rest) + 1, 2), ((), ()), ((dim,), (0,)))
        return _last_moved_to(multiplied(value, table, form, type_), dim)
    numbers = ir.Attribute.parse(
        f"#stablehlo.dot<lhs_contracting_dimensions = [{dim}], rhs_contracting_dimensions = [0]>"
    )
    product = ir.Operation.create(
        DOT_GENERAL, results=[type_], operands=[value, table], attributes={"dot_dimension_numbers": numbers}
    ).result
    return _last_moved_to(product, dim)


def _last_moved_to(value: ir.Value, dim: int) -> ir.Value:
    last = len(shape_of(value)) - 1
    order = [*range(dim), last, *range(dim, last)]
    return value if dim == last else transposed(value, order)


def _constant(table: np.ndarray, like: ir.Value) -> ir.Value:
    element = element_of(like)
    value = ir.DenseElementsAttr.get(np.ascontiguousarray(table, _FLOATS[str(element)]))
    return ir.Operation.create(CONSTANT, results=[value.type], attributes={"value": value}).result


def _made(name: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return ir.Operation.create(name, results=[left.type], operands=[left, right]).result


def _part(name: str, value: ir.Value) -> ir.Value:
    type_ = ir.RankedTensorType.get(shape_of(value), _part_of(element_of(value)))
    return ir.Operation.create(name, results=[type_], operands=[value]).result


def _part_of(element: ir.Type) -> ir.Type:
    return ir.ComplexType(element).element_type if isinstance(element, ir.ComplexType) else element


def _lengths(op: ir.Operation) -> Sequence[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))


def _type_of(op: ir.Operation) -> str:
    """FFT, IFFT, RFFT or IRFFT."""
    return str(op.attributes["fft_type"]).rpartition(" ")[2].rstrip(">")
