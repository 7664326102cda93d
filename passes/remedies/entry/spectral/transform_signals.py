"""Fourier transforms of ONNX as products with constant tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.analysis.imports.legacy_axes import opset_of
from fissile.passes.analysis.imports.onnx_values import integers_of
from fissile.passes.analysis.imports.unknown_sizes import number
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..torch_ops import TensorType, apply
from .complex_parts import REAL, Parts, multiplied, scaled
from .fourier import along, first, is_writable, resized, transformed

_DFT, _STFT = "onnx.DFT", "onnx.STFT"
_AXIS_IS_OPERAND = 20
"""The opset from which on the axis is an operand of DFT."""
_MOST_FRAMES = 1 << 20
"""Elements of all frames of one signal: their places are a constant."""


@dataclass(frozen=True)
class _Dft:
    """A transform of the first ``length`` elements along ``axis``, of which ``kept`` results are kept."""

    axis: int
    length: int
    kept: int
    inverse: bool


@dataclass(frozen=True)
class _Frames:
    """``count`` frames of ``length`` elements, one each ``step`` elements, of which ``kept`` results are kept."""

    count: int
    length: int
    step: int
    kept: int
    window: ir.Value | None


@register_pass
@dataclass(frozen=True)
class TransformSignals(FrontEndRemedy):
    """Writes `onnx.DFT` and `onnx.STFT` of f32 as products with tables of cosines and sines.

    IREE 3.13 lowers neither in most forms. The sizes that are transformed are known. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-transform-signals"
    exactness: ClassVar[Exactness] = Exactness.ROUNDING
    does: ClassVar[str] = (
        "replaces `onnx.DFT` and `onnx.STFT` with products with constant tables (in the input)"
    )
    repairs: ClassVar[str] = "these transforms of ONNX, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "different rounding"
    done: ClassVar[str] = "rewrote it as products with tables of cosines and sines"
    advice: ClassVar[str] = "rewrite it as products with tables of cosines and sines"

    def fits(self, op: ir.Operation) -> bool:
        plan = _dft(op) or _stft(op)
        return plan is not None and is_writable(plan.length)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        if (dft := _dft(op)) is not None:
            sign = 1 if dft.inverse else -1
            x = along(
                _parts(op.operands[0]),
                dft.axis,
                lambda one: first(transformed(resized(one, dft.length), sign), dft.kept),
            )
            x = x.each(lambda side: scaled(side, 1 / dft.length if dft.inverse else 1.0))
        else:
            frames = _stft(op)
            assert frames is not None  # `fits`
            x = _parts(op.operands[0]).each(lambda side: _framed(side, frames))
            x = first(transformed(x, -1), frames.kept)
        return [torch.cast(_pairs(x), op.results[0].type)]


def _signal(op: ir.Operation) -> TensorType | None:
    """The type of the operand that is transformed: f32, and its last dimension holds a real part, and perhaps an imaginary one."""
    if not op.operands or len(op.results) != 1:
        return None
    given, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
    if given is None or made is None or {given.element, made.element} != {REAL} or len(given.shape) < 2:
        return None
    return given if given.shape[-1] in (1, 2) else None


def _dft(op: ir.Operation) -> _Dft | None:
    given = _signal(op) if torch.front_end_name(op) == _DFT and 1 <= len(op.operands) <= 3 else None
    opset = opset_of(op)
    if given is None or opset is None:
        return None
    rank, axis = len(given.shape), number(op, "axis", 1)
    if opset >= _AXIS_IS_OPERAND:
        axis = -2
        if len(op.operands) == 3 and not torch.is_none(op.operands[2]):
            axis = _single(op.operands[2], rank)
    axis += rank if axis < 0 else 0
    if not 0 <= axis < rank - 1:
        return None
    length = given.shape[axis]
    if len(op.operands) > 1 and not torch.is_none(op.operands[1]):
        length = _single(op.operands[1], 0)
    inverse, half = bool(number(op, "inverse", 0)), bool(number(op, "onesided", 0))
    if not length or given.shape[axis] is None or half and (inverse or given.shape[-1] != 1):
        return None
    return _Dft(axis, length, length // 2 + 1 if half else length, inverse)


def _stft(op: ir.Operation) -> _Frames | None:
    given = _signal(op) if torch.front_end_name(op) == _STFT and 2 <= len(op.operands) <= 4 else None
    if given is None or len(given.shape) != 3 or given.shape[1] is None:
        return None
    window = op.operands[2] if len(op.operands) > 2 and not torch.is_none(op.operands[2]) else None
    shape = None if window is None else TensorType.of(window)
    length = shape.shape[0] if shape is not None and len(shape.shape) == 1 else None
    if len(op.operands) > 3 and not torch.is_none(op.operands[3]):
        length = _single(op.operands[3], 0)
    step, half = _single(op.operands[1], 0), bool(number(op, "onesided", 1))
    if not length or step <= 0 or length > given.shape[1] or half and given.shape[-1] != 1:
        return None
    if shape is not None and (shape.shape != (length,) or shape.element != REAL):
        return None
    count = (given.shape[1] - length) // step + 1
    if count * length > _MOST_FRAMES:
        return None
    return _Frames(count, length, step, length // 2 + 1 if half else length, window)


def _single(value: ir.Value, default: int) -> int:
    """The constant integer that ``value`` is."""
    numbers = integers_of(value)
    return numbers[0] if numbers is not None and len(numbers) == 1 else default


def _parts(value: ir.Value) -> Parts:
    """The real part, and the imaginary one if the last dimension holds it."""
    type_ = TensorType.of(value)
    assert type_ is not None
    made, last = TensorType(type_.shape[:-1], type_.element), torch.integer(-1)
    sides = range(type_.shape[-1] or 1)
    return Parts(*(apply("aten.select.int", [value, last, torch.integer(side)], made) for side in sides))


def _pairs(x: Parts) -> ir.Value:
    """The reverse, with both parts."""
    imaginary = x.imaginary
    assert imaginary is not None  # `transformed`
    made, last = TensorType((*x.type.shape, 1), x.type.element), torch.integer(-1)
    sides = [apply("aten.unsqueeze", [side, last], made) for side in (x.real, imaginary)]
    return torch.concatenated(sides, len(x.type.shape))


def _framed(signal: ir.Value, frames: _Frames) -> ir.Value:
    """Signals x frames x elements, times the window."""
    type_ = TensorType.of(signal)
    assert type_ is not None
    places = np.arange(frames.count)[:, None] * frames.step + np.arange(frames.length)
    index = [torch.integer(1), torch.table(places.reshape(-1).astype(np.int64))]
    flat = apply("aten.index_select", [signal, *index], type_.with_size(1, places.size))
    made = TensorType((type_.shape[0], frames.count, frames.length), type_.element)
    sizes = torch.integers([frames.count, frames.length])
    split = apply("aten.unflatten.int", [flat, torch.integer(1), sizes], made)
    return split if frames.window is None else multiplied(split, frames.window)
