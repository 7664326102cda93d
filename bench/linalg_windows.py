"""Convolutions and poolings in NumPy: one strided view of the image per position of the window."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Window:
    """``image`` and ``kernel`` are the axes that the window moves along; ``labels`` contracts what is left.

    Without ``labels`` it is a pooling: ``combine`` folds the positions, the window's values do not matter.
    """

    image: tuple[int, ...]
    kernel: tuple[int, ...]
    labels: str = ""
    combine: Callable = np.add

    def steps_of(self, kernel: Sequence[int]) -> int:
        """Additions (or maxima) per result, for a window of this shape."""
        steps = math.prod(kernel[axis] for axis in self.kernel)
        left, _, result = self.labels.partition("->")
        summed = [
            axis
            for axis, label in zip(self._rest(len(kernel)), left.partition(",")[2])
            if label not in result
        ]
        return steps * math.prod(kernel[axis] for axis in summed)

    def _rest(self, rank: int) -> list[int]:
        return [axis for axis in range(rank) if axis not in self.kernel]


WINDOWS = {
    "linalg.conv_2d_nchw_fchw": Window((2, 3), (2, 3), "nchw,fc->nfhw"),
    "linalg.conv_2d_nhwc_hwcf": Window((1, 2), (0, 1), "nhwc,cf->nhwf"),
    "linalg.conv_2d_nhwc_fhwc": Window((1, 2), (1, 2), "nhwc,fc->nhwf"),
    "linalg.depthwise_conv_2d_nhwc_hwc": Window((1, 2), (0, 1), "nhwc,c->nhwc"),
    "linalg.depthwise_conv_2d_nchw_chw": Window((2, 3), (1, 2), "nchw,c->nchw"),
    "linalg.pooling_nhwc_max": Window((1, 2), (0, 1), combine=np.maximum),
    "linalg.pooling_nhwc_min": Window((1, 2), (0, 1), combine=np.minimum),
    "linalg.pooling_nhwc_sum": Window((1, 2), (0, 1)),
    "linalg.pooling_nchw_max": Window((2, 3), (0, 1), combine=np.maximum),
    "linalg.pooling_nchw_sum": Window((2, 3), (0, 1)),
}


def contracted(labels: str, left: np.ndarray, right: np.ndarray, kind: np.dtype) -> np.ndarray:
    """A contraction with both sides widened to the result's type first, as linalg's named ops do."""
    return np.einsum(labels, left.astype(kind, copy=False), right.astype(kind, copy=False), optimize=True)


def strided(
    name: str, operands: Sequence[np.ndarray], strides: Sequence[int], dilations: Sequence[int]
) -> np.ndarray:
    """``operands``: image, window, initial result."""
    window, (image, kernel, result) = WINDOWS[name], operands
    result = result.copy()
    for position in itertools.product(*(range(kernel.shape[axis]) for axis in window.kernel)):
        seen: list[slice | int] = [slice(None)] * image.ndim
        for axis, at, stride, dilation in zip(window.image, position, strides, dilations, strict=True):
            start = at * dilation
            seen[axis] = slice(start, start + stride * (result.shape[axis] - 1) + 1, stride)
        part = image[tuple(seen)]
        if window.labels:
            at_position: list[slice | int] = [slice(None)] * kernel.ndim
            for axis, at in zip(window.kernel, position, strict=True):
                at_position[axis] = at
            part = contracted(window.labels, part, kernel[tuple(at_position)], result.dtype)
        window.combine(result, part, out=result)
    return result
