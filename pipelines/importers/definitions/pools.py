"""Pools of the standard whose windows have gaps or reach behind the image, and images from patches."""

from __future__ import annotations

import math

import numpy as np

from .writer import NotDefined, Writer, defines

_SAME = ("SAME_UPPER", "SAME_LOWER")
_NEW_OPSETS = 13
"""The opset from which on the ops of these definitions have their last form."""


@defines("LpPool", domain="")
def _norms(w: Writer) -> None:
    """The root of the sums of powers, which a convolution with ones adds up channel by channel. What lies outside of the image adds nothing."""
    value, power = w.operand(0), w.attribute("p", 2)
    dims, kernel = w.rank(value) - 2, list(w.attribute("kernel_shape", []))
    if len(kernel) != dims or dims < 1 or power < 1:
        raise NotDefined("a kernel of another rank, or no norm")
    steps, dilations = (list(w.attribute(name, None) or [1] * dims) for name in ("strides", "dilations"))
    pads = _borders(w, kernel, steps, dilations)
    size = w.op("Abs", value)
    powers = size if power == 1 else w.op("Mul", size, size) if power == 2 else _power(w, size, power)
    channels = w.size(value, 1)
    # One channel for each of the batch: the convolution needs no groups.
    one = w.reshape(powers, -1, 1, *[w.sizes(value)[2 + dim] or 0 for dim in range(dims)])
    ones = w.cast(w.array(np.ones((1, 1, *kernel), np.float32)), value)
    sums = w.op("Conv", one, ones, kernel_shape=kernel, strides=steps, dilations=dilations, pads=pads)
    root = sums if power == 1 else w.op("Sqrt", sums) if power == 2 else _power(w, sums, 1 / power)
    w.end(0, w.reshape(root, -1, channels, *[0] * dims))


def _power(w: Writer, value: str, exponent: float) -> str:
    return w.op("Pow", value, w.number(exponent, value))


def _borders(w: Writer, kernel: list[int], steps: list[int], dilations: list[int]) -> list[int]:
    """What the image is padded by, before and after, so that there are as many whole windows as the result has elements."""
    value, made, dims = w.operand(0), w.result(0), len(kernel)
    auto, stated = w.attribute("auto_pad", "NOTSET"), list(w.attribute("pads", None) or [0] * 2 * dims)
    up = w.attribute("ceil_mode", 0)
    before, after = [], []
    for dim in range(dims):
        extent = dilations[dim] * (kernel[dim] - 1) + 1
        low, high = (0, 0) if auto == "VALID" else (stated[dim], stated[dim + dims])
        if auto in _SAME:
            whole = w.size(value, dim + 2)
            total = max(0, (-(-whole // steps[dim]) - 1) * steps[dim] + extent - whole)
            low = total // 2 if auto == "SAME_UPPER" else total - total // 2
            high = total - low
        elif up:
            size, count = w.sizes(value)[dim + 2], w.sizes(made)[dim + 2]
            if size is not None and count is not None:
                if (count - 1) * steps[dim] >= low + size:
                    raise NotDefined("a window that begins behind the image, which ONNX Runtime leaves out")
                high = max(high, (count - 1) * steps[dim] + extent - low - size)
            elif extent <= high + steps[dim] - 1:
                raise NotDefined("windows that may begin behind the image")
            else:
                high += steps[dim] - 1
        before.append(low)
        after.append(high)
    return before + after


@defines("Col2Im", domain="")
def _image(w: Writer) -> None:
    """Dimension by dimension the sums of the elements that lie on each place: a table holds where they are, and a zero where there are
    fewer than elsewhere. A convolution with ones and zeros would make NaN of an infinite neighbour."""
    value = w.operand(0)
    sizes, block = (w.value(w.operand(index)) for index in (1, 2))
    if sizes is None or block is None or w.known.opset < _NEW_OPSETS:
        raise NotDefined("an image or a block of a size that the call decides")
    image, kernel = sizes.tolist(), block.tolist()
    dims = len(image)
    steps, dilations = (list(w.attribute(name, None) or [1] * dims) for name in ("strides", "dilations"))
    pads = list(w.attribute("pads", None) or [0] * 2 * dims)
    counts = [
        (image[d] + pads[d] + pads[d + dims] - dilations[d] * (kernel[d] - 1) - 1) // steps[d] + 1
        for d in range(dims)
    ]
    channels = w.size(value, 1) // math.prod(kernel)
    if min(counts) < 1 or w.sizes(value)[2] not in (None, math.prod(counts)):
        raise NotDefined("no patches, or another number of them")
    value = w.reshape(value, 0, channels, *kernel, *counts)
    for dim in reversed(range(dims)):
        # [batch, channel, kernel .. dim, patches .. dim, image behind dim]
        rest = 2 + 2 * (dim + 1)
        order = [*range(2 + dim), *range(3 + dim, rest - 1), 2 + dim, rest - 1]
        value = w.transpose(value, *order, *range(rest, rest + dims - 1 - dim))
        first = 2 + 2 * dim
        value = w.reshape(value, *[0] * first, kernel[dim] * counts[dim], *image[dim + 1 :])
        rank = first + 1 + dims - 1 - dim
        around = [0] * (2 * rank)
        around[rank + first] = 1
        value = w.op("Pad", value, w.ints(*around), w.number(0.0, value))
        table = _places(
            kernel[dim], counts[dim], steps[dim], dilations[dim], pads[dim], image[dim]
        )  # [most, place]
        value = w.op("Gather", value, w.array(table), axis=first)
        value = w.along("ReduceSum", value, [first], keepdims=0)
    w.end(0, value)


def _places(kernel: int, count: int, step: int, dilation: int, before: int, length: int) -> np.ndarray:
    """Where the elements on each of ``length`` places are among [kernel][count]; kernel * count is a zero."""
    held: list[list[int]] = [[] for _ in range(length)]
    for element in range(kernel):
        for number in range(count):
            place = number * step + element * dilation - before
            if 0 <= place < length:
                held[place].append(element * count + number)
    most = max(1, *(len(one) for one in held))
    return np.array([one + [kernel * count] * (most - len(one)) for one in held], np.int64).T
