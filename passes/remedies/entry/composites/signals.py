"""Inverse short-time Fourier transforms and their windows, and resizing with a filter that is as wide as the steps."""

from __future__ import annotations

from math import ceil

import numpy as np
from iree.compiler import ir

from .. import torch_ops as torch
from ..core.formulas import Tensor
from ..tensors.values import type_of
from ..torch_ops import TensorType, apply
from .composite import Composite

_FILTERED = ("aten._upsample_bilinear2d_aa", "aten._upsample_bicubic2d_aa")
_CUBIC = -0.5
"""The parameter of the cubic filter, which is another than that of PyTorch's bicubic interpolation without a filter."""


def _padded(value: ir.Value, dim: int, before: int, behind: int) -> ir.Value:
    """With zeros along ``dim``, whose size is known."""
    type_ = type_of(value)
    if not before and not behind:
        return value
    size = type_.shape[dim]
    widths = [0, 0] * (len(type_.shape) - 1 - dim) + [before, behind]
    made = type_.with_size(dim, None if size is None else size + before + behind)
    return apply("aten.constant_pad_nd", [value, torch.integers(widths), torch.real(0.0)], made)


def _overlapped(frames: ir.Value, step: int) -> Tensor:
    """[…, frames, elements] -> […, samples]: each frame begins ``step`` samples behind the one before it."""
    shape = type_of(frames).shape
    count, length, last = shape[-2] or 0, shape[-1] or 0, len(shape) - 1
    parts = ceil(length / step)
    frames = _padded(frames, last, 0, parts * step - length)
    total: Tensor | None = None
    for number in range(parts):
        piece = torch.sliced(frames, last, number * step, (number + 1 - parts) * step or None)
        placed = Tensor(_padded(piece, last - 1, number, parts - 1 - number))
        total = placed if total is None else total + placed
    assert total is not None
    samples = step * (count - 1) + length
    flat = torch.merged(total.value, last - 1, last)
    return Tensor(torch.sliced(flat, last - 1, 0, samples - step * (count + parts - 1) or None))


class _Signal:
    """What an `aten.istft` says; ``known`` where all that is needed is constant."""

    def __init__(self, op: ir.Operation):
        value, points, step, window_length, window, center, normalised, onesided, length, as_complex = op.operands  # fmt: skip
        self.type = TensorType.of(value)
        self.points = torch.integer_of(points) or 0
        self.step = self.points // 4 if torch.is_none(step) else torch.integer_of(step) or 0
        self.window = None if torch.is_none(window) else TensorType.of(window)
        self.width = self.points if torch.is_none(window_length) else torch.integer_of(window_length) or 0
        self.center, self.normalised = torch.boolean_of(center), torch.boolean_of(normalised)
        self.length = None if torch.is_none(length) else torch.integer_of(length)
        given = self.type
        self.known = (
            given is not None
            and given.element == "complex<f32>"
            and len(given.shape) in (2, 3)
            and given.shape[-1] is not None
            and given.shape[-2] == self.points // 2 + 1
            and 0 < self.step <= self.width <= self.points
            and (torch.is_none(window) or self.window == TensorType((self.width,), "f32"))
            and None not in (self.center, self.normalised)
            and (torch.is_none(length) or self.length is not None)
            and (torch.is_none(onesided) or torch.boolean_of(onesided) is True)
            and torch.boolean_of(as_complex) is False
        )


def _signal(op: ir.Operation) -> list[Tensor]:
    """Each frame transformed back, times the window; their sum over that of the squares of the windows."""
    plan, value, window = _Signal(op), op.operands[0], op.operands[4]
    assert plan.type is not None  # `fits`
    *batch, bins, count = plan.type.shape
    rank, points = len(plan.type.shape), plan.points
    dims = [torch.integer(rank - 2), torch.integer(rank - 1)]
    turned = apply("aten.transpose.int", [value, *dims], TensorType((*batch, count, bins), "complex<f32>"))
    way = torch.string("ortho") if plan.normalised else torch.none()
    operands = [turned, torch.integer(points), torch.integer(-1), way]
    frames = Tensor(torch.apply_named("aten.fft_irfft", operands, TensorType((*batch, count, points), "f32")))
    if plan.window is None:
        window = torch.table(np.ones(plan.width, np.float32))
    before = (points - plan.width) // 2
    wide = Tensor(_padded(window, 0, before, points - plan.width - before))
    signal = _overlapped((frames * wide).value, plan.step)
    repeated = wide * wide * Tensor(torch.table(np.ones((count or 1, 1), np.float32)))
    weight = _overlapped(repeated.value, plan.step)
    whole = points + plan.step * ((count or 1) - 1)
    begin = points // 2 if plan.center else 0
    end = begin + plan.length if plan.length is not None else whole - begin
    kept = -max(whole - end, 0) or None
    signal, weight = (Tensor(torch.sliced(one.value, one.rank - 1, begin, kept)) for one in (signal, weight))
    found = signal / weight
    return [Tensor(_padded(found.value, rank - 2, 0, max(end - whole, 0)))]


_WINDOWS = {"hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman, "bartlett": np.bartlett}
"""Name -> the symmetric window of a length. A periodic one is that of one element more, without the last."""


def _window(op: ir.Operation) -> list[Tensor]:
    size, periodic = torch.integer_of(op.operands[0]) or 0, True
    if len(op.operands) == 6:
        periodic = bool(torch.boolean_of(op.operands[1]))
    named = _WINDOWS[torch.front_end_name(op).split(".")[1].removesuffix("_window")]
    numbers = named(size + 1)[:-1] if periodic else named(size)
    return [Tensor(torch.table(numbers.astype(np.float32)))]


def _is_constant(op: ir.Operation) -> bool:
    made, size = TensorType.of(op.results[0]), torch.integer_of(op.operands[0])
    known = len(op.operands) == 5 or torch.boolean_of(op.operands[1]) is not None
    return made is not None and known and made.shape == (size,) and size in range(2, 1 << 20)


def _linear(at: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(at), 0)


def _cubic(at: np.ndarray) -> np.ndarray:
    x = np.abs(at)
    near = ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * _CUBIC
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def filter_table(old: int, new: int, scale: float | None, corners: bool, cubic: bool) -> np.ndarray:
    """``old`` x ``new``: how much of each element is in each result.

    Source: area_pixel_compute_scale and the filters of PyTorch's UpSampleKernel.
    """
    step = (old - 1) / max(new - 1, 1) if corners else (1 / scale if scale else old / new)
    wide = max(step, 1.0)
    support = (2 if cubic else 1) * wide
    center = step * (np.arange(new) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    behind = np.minimum((center + support + 0.5).astype(np.int64), old)
    places = np.arange(old)[:, None]
    weights = (_cubic if cubic else _linear)((places - center + 0.5) / wide)
    weights = np.where((places >= first) & (places < behind), weights, 0)
    return (weights / weights.sum(0)).astype(np.float32)


def _filters(op: ir.Operation) -> list[np.ndarray] | None:
    """A table for each of the two last dimensions."""
    given, made = TensorType.of(op.operands[0]), TensorType.of(op.results[0])
    corners, cubic = torch.boolean_of(op.operands[2]), "bicubic" in torch.front_end_name(op)
    if given is None or made is None or corners is None or len(given.shape) != 4 or len(made.shape) != 4:
        return None
    scales: list[float | None] = [None, None]
    if len(op.operands) == 5:
        scales = [None if torch.is_none(one) else torch.number_of(one) or 0.0 for one in op.operands[3:]]
    elif not torch.is_none(op.operands[3]):
        scales = [*(torch.numbers_of(op.operands[3]) or [0.0, 0.0])]
    sizes = list(zip(given.shape[2:], made.shape[2:], scales, strict=True))
    if any(not old or not new or scale == 0.0 for old, new, scale in sizes):
        return None
    return [filter_table(old or 1, new or 1, scale, corners, cubic) for old, new, scale in sizes]


def _resized(op: ir.Operation) -> list[Tensor]:
    return [Tensor.wide(op.operands[0]).along_last(_filters(op) or [])]


SIGNALS = {
    **{f"aten.{name}_window": Composite(5, _window, _is_constant) for name in _WINDOWS},
    **{f"aten.{name}_window.periodic": Composite(6, _window, _is_constant) for name in _WINDOWS},
    "aten.istft": Composite(10, _signal, lambda op: _Signal(op).known, floats=False),
    **{f"{name}.vec": Composite(4, _resized, lambda op: _filters(op) is not None) for name in _FILTERED},
    **{name: Composite(5, _resized, lambda op: _filters(op) is not None) for name in _FILTERED},
}
"""Op -> what takes its place."""
