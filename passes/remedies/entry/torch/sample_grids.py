"""Sampling of an image at the points of a grid, as one op that reads no element outside of the image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir
from iree.compiler.dialects import arith, math, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.attributes import attribute, text_of
from fissile.passes.definition import register_pass
from fissile.passes.remedies.generic_ops import build_generic
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FRONT_END_OP, FrontEndRemedy

_EQUAL, _ABOVE, _AT_LEAST, _AT_MOST = 1, 2, 3, 5
"""arith.cmpf predicates: oeq, ogt, oge, ole. All are false of NaN."""
_LINEAR, _NEAREST, _CUBIC = "linear", "nearest", "cubic"
_ZEROS, _BORDER, _REFLECTION = "zeros", "border", "reflection"
_MODES = {
    "": _LINEAR,
    _LINEAR: _LINEAR,
    "bilinear": _LINEAR,
    _NEAREST: _NEAREST,
    _CUBIC: _CUBIC,
    "bicubic": _CUBIC,
}
_PADDINGS = {"": _ZEROS, _ZEROS: _ZEROS, _BORDER: _BORDER, _REFLECTION: _REFLECTION}
_TORCH_MODES, _TORCH_PADDINGS = (_LINEAR, _NEAREST, _CUBIC), (_ZEROS, _BORDER, _REFLECTION)
_CUBIC_A = -0.75
"""The parameter of the cubic convolution, of ONNX as of PyTorch."""


@dataclass(frozen=True)
class _Sampling:
    """How ``op`` samples; ``corners``: -1 and 1 are the middles of the image's first and last elements, and not their outer edges."""

    mode: str
    padding: str
    corners: bool
    clips: bool = False
    """A point outside of the image is moved to the middle of its outermost element before the elements around it are, as ONNX does it for a
    cubic sampling; PyTorch does not."""

    @staticmethod
    def of(op: ir.Operation) -> _Sampling | None:
        name = torch.front_end_name(op)
        if name == "onnx.GridSample" and len(op.operands) == 2:
            mode, padding = (text_of(op, f"{torch.ONNX_ATTRIBUTE}{key}") for key in ("mode", "padding_mode"))
            corners = attribute(op, f"{torch.ONNX_ATTRIBUTE}align_corners")
            method, around = _MODES.get(mode), _PADDINGS.get(padding)
            if method is None or around is None:
                return None
            aligned = corners is not None and ir.IntegerAttr(corners).value != 0
            return _Sampling(method, around, aligned, (method, around) == (_CUBIC, _BORDER))
        if name == "aten.grid_sampler" and len(op.operands) == 5:
            number, other = (torch.integer_of(value) for value in list(op.operands)[2:4])
            aligned = torch.boolean_of(op.operands[4])
            if aligned is not None and number in (0, 1, 2) and other in (0, 1, 2):
                return _Sampling(_TORCH_MODES[number], _TORCH_PADDINGS[other], aligned)
        return None


def samples_outside(op: ir.Operation) -> bool:
    """Whether IREE builds ``op``, and takes what lies outside for something else; in ONNX models it rejects what is not around zeros, or cubic."""
    sampling = _Sampling.of(op)
    if sampling is None or torch.front_end_name(op).startswith("aten."):
        return sampling is not None
    return sampling.padding == _ZEROS and sampling.mode != _CUBIC


@register_pass
@dataclass(frozen=True)
class SampleGrids(FrontEndRemedy):
    """Writes `onnx.GridSample` and `aten.grid_sampler` of images as one op that masks what lies outside.

    IREE 3.13 reads the image at points that lie more than one element outside, and uses what it finds; it rounds a half up and not to even, and
    knows no border, reflection or cubic sampling (FIS163). Coordinates are computed in f32.
    Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-sample-grids"
    cures: ClassVar[tuple[str, ...]] = (FRONT_END_OP, "FIS163")
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `onnx.GridSample` and `aten.grid_sampler` with an op that reads no element outside of the image (in the input)"
    )
    repairs: ClassVar[str] = (
        "grid sampling: IREE reads past the image for points outside of it, and rounds to another neighbour (FIS163)"
    )
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it with the points outside of the image masked"
    advice: ClassVar[str] = "rewrite it with the points outside of the image masked"

    def fits(self, op: ir.Operation) -> bool:
        if _Sampling.of(op) is None:
            return False
        types = [torch.TensorType.of(value) for value in (op.operands[0], op.operands[1], op.results[0])]
        return all(one is not None and len(one.shape) == 4 and one.element in torch.FLOATS for one in types)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        sampling = _Sampling.of(op)
        assert sampling is not None  # `fits`
        image, grid = (torch.to_builtin(value) for value in list(op.operands)[:2])
        result = torch.TensorType.of(op.results[0])
        assert result is not None
        return [torch.from_builtin(_sampled(sampling, image, grid), result)]


def _sampled(sampling: _Sampling, image: ir.Value, grid: ir.Value) -> ir.Value:
    sizes = [tensor.dim(image, _index(0)), tensor.dim(image, _index(1))]
    sizes += [tensor.dim(grid, _index(1)), tensor.dim(grid, _index(2))]
    extents = [tensor.dim(image, _index(dim)) for dim in (2, 3)]
    element = ir.RankedTensorType(image.type).element_type
    init = tensor.EmptyOp(sizes, element).result
    dims = [ir.AffineExpr.get_dim(number) for number in range(4)]
    points = [
        ir.AffineMap.get(4, 0, [dims[0], dims[2], dims[3], ir.AffineExpr.get_constant(of)]) for of in (1, 0)
    ]
    op, block = build_generic([grid, grid], [init], [*points, ir.AffineMap.get_identity(4)], [True] * 4)
    with ir.InsertionPoint(block):
        last = [_last(extent) for extent in extents]
        at = [
            _position(sampling, _f32(point), end)
            for point, end in zip(list(block.arguments)[:2], last, strict=True)
        ]
        here = [linalg.IndexOp(number).result for number in range(2)]
        read = _Reader(sampling, image, extents, here, last)
        value = {_NEAREST: _nearest, _LINEAR: _linear, _CUBIC: _cubic}[sampling.mode](at, read)
        narrow = element != ir.F32Type.get()
        linalg.YieldOp([arith.truncf(element, value) if narrow else value])
    return op.results[0]


@dataclass(frozen=True)
class _Reader:
    """The elements of ``image``, of ``extents`` rows and columns, in the sample and channel ``here``; ``last`` are the largest row and column, in
    f32."""

    sampling: _Sampling
    image: ir.Value
    extents: list[ir.Value]
    here: list[ir.Value]
    last: list[ir.Value]

    def at(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """The element at whole numbers in f32; 0 outside of the image."""
        inside, places = None, list(self.here)
        for place, end, extent in zip((row, column), self.last, self.extents, strict=True):
            within = arith.andi(arith.cmpf(_AT_LEAST, place, _real(0.0)), arith.cmpf(_AT_MOST, place, end))
            inside = within if inside is None else arith.andi(inside, within)
            # Outside, any place of the image is read; the bounds in integers are those that the storage guard can prove.
            number = arith.index_cast(
                ir.IndexType.get(), arith.fptosi(_i32(), arith.select(within, place, _real(0.0)))
            )
            bound = arith.subi(extent, _index(1))
            places.append(arith.minsi(arith.maxsi(number, _index(0)), bound))
        return arith.select(inside, _f32(tensor.extract(self.image, places)), _real(0.0))


def _nearest(at: list[ir.Value], read: _Reader) -> ir.Value:
    padded = [_padded(read.sampling, place, end) for place, end in zip(at, read.last, strict=True)]
    return read.at(*(math.roundeven(place) for place in padded))


def _linear(at: list[ir.Value], read: _Reader) -> ir.Value:
    """The four elements around the point, each by its share."""
    taps = []
    for place, end in zip(at, read.last, strict=True):
        inside = _padded(read.sampling, place, end)
        before = math.floor(inside)
        share = arith.subf(inside, before)
        taps.append([(before, arith.subf(_real(1.0), share)), (arith.addf(before, _real(1.0)), share)])
    return _total(taps, read)


def _cubic(at: list[ir.Value], read: _Reader) -> ir.Value:
    """The sixteen elements around the point, each by its share; those outside of the image are padded one by one."""
    taps = []
    for point, end in zip(at, read.last, strict=True):
        place = _clipped(read.sampling, point, end) if read.sampling.clips else point
        before = math.floor(place)
        share = arith.subf(place, before)
        other = arith.subf(_real(1.0), share)
        weights = [
            _far(arith.addf(share, _real(1.0))),
            _close(share),
            _close(other),
            _far(arith.addf(other, _real(1.0))),
        ]
        places = [arith.addf(before, _real(step)) for step in (-1.0, 0.0, 1.0, 2.0)]
        taps.append(
            [(_padded(read.sampling, one, end), weight) for one, weight in zip(places, weights, strict=True)]
        )
    return _total(taps, read)


def _close(x: ir.Value) -> ir.Value:
    """The cubic convolution at a distance of at most 1: ((a + 2) x - (a + 3)) x^2 + 1."""
    inner = arith.subf(arith.mulf(_real(_CUBIC_A + 2), x), _real(_CUBIC_A + 3))
    return arith.addf(arith.mulf(arith.mulf(inner, x), x), _real(1.0))


def _far(x: ir.Value) -> ir.Value:
    """The same at a distance from 1 to 2: ((a x - 5 a) x + 8 a) x - 4 a."""
    inner = arith.subf(arith.mulf(_real(_CUBIC_A), x), _real(5 * _CUBIC_A))
    inner = arith.addf(arith.mulf(inner, x), _real(8 * _CUBIC_A))
    return arith.subf(arith.mulf(inner, x), _real(4 * _CUBIC_A))


def _total(taps: list[list[tuple[ir.Value, ir.Value]]], read: _Reader) -> ir.Value:
    """The elements at each row and column of ``taps``, weighted and added."""
    rows, columns = taps
    total = None
    for row, in_row in rows:
        for column, in_column in columns:
            part = arith.mulf(read.at(row, column), arith.mulf(in_row, in_column))
            total = part if total is None else arith.addf(total, part)
    assert total is not None
    return total


def _position(sampling: _Sampling, point: ir.Value, last: ir.Value) -> ir.Value:
    """Where a coordinate from -1 to 1 lies, counted in elements."""
    moved = arith.addf(point, _real(1.0))
    if sampling.corners:
        return arith.mulf(arith.mulf(moved, _real(0.5)), last)
    size = arith.addf(last, _real(1.0))
    return arith.mulf(arith.subf(arith.mulf(moved, size), _real(1.0)), _real(0.5))


def _clipped(sampling: _Sampling, place: ir.Value, last: ir.Value) -> ir.Value:
    """``place``, or if it lies outside of the image the middle of the outermost element; a half of that element is still inside."""
    low = 0.0 if sampling.corners else -0.5
    within = arith.andi(
        arith.cmpf(_AT_LEAST, place, _real(low)),
        arith.cmpf(_AT_MOST, place, arith.subf(last, _real(low))),
    )
    return arith.select(within, place, _padded(sampling, place, last))


def _padded(sampling: _Sampling, place: ir.Value, last: ir.Value) -> ir.Value:
    """``place`` itself around zeros, else where it lies in the image."""
    if sampling.padding == _ZEROS:
        return place
    if sampling.padding == _REFLECTION:
        place = _reflected(place, last, 0.0 if sampling.corners else -0.5)
    return arith.minimumf(arith.maximumf(place, _real(0.0)), last)


def _reflected(place: ir.Value, last: ir.Value, low: float) -> ir.Value:
    """``place`` reflected at ``low`` and at the other end, as often as it takes."""
    span = arith.subf(last, _real(2 * low))
    distance = math.absf(arith.subf(place, _real(low)))
    flips = math.floor(arith.divf(distance, span))
    rest = arith.subf(distance, arith.mulf(flips, span))
    half = arith.mulf(flips, _real(0.5))
    is_even = arith.cmpf(_EQUAL, half, math.floor(half))
    found = arith.addf(arith.select(is_even, rest, arith.subf(span, rest)), _real(low))
    # One element, with its middle as both ends: there is nothing between them.
    return arith.select(arith.cmpf(_ABOVE, span, _real(0.0)), found, _real(0.0))


def _last(extent: ir.Value) -> ir.Value:
    return arith.sitofp(ir.F32Type.get(), arith.index_cast(_i32(), arith.subi(extent, _index(1))))


def _f32(value: ir.Value) -> ir.Value:
    wide = ir.F32Type.get()
    return value if value.type == wide else arith.extf(wide, value)


def _real(value: float) -> ir.Value:
    return arith.constant(ir.F32Type.get(), value)


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)
