"""An image from its patches: the sum of the elements that lie on each of its places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from .unfold_patches import Windows, windows_of


@register_pass
@dataclass(frozen=True)
class FoldPatches(FrontEndRemedy):
    """Writes `aten.col2im` (`F.fold`) as a gather and a sum along the width, and the same along the height.

    Which elements lie on a row or a column of the image follows from the kernel: a table holds their places among the patches, and
    that of a zero where fewer lie there than elsewhere. What lies on the padding is left out. The batch may be dynamic; the sizes of
    the image must be known. IREE 3.13 has no lowering for the op. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-fold-patches"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = "replaces `aten.col2im` with gathers and sums along width and height (in the input)"
    repairs: ClassVar[str] = "images from patches (`F.fold`), which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as gathers and sums"
    advice: ClassVar[str] = "rewrite it as gathers and sums"

    def fits(self, op: ir.Operation) -> bool:
        if torch.front_end_name(op) != "aten.col2im" or len(op.operands) != 6:
            return False
        type_, image = torch.TensorType.of(op.operands[0]), torch.integers_of(op.operands[1])
        windows = windows_of(list(op.operands)[2:])
        if type_ is None or windows is None or image is None or len(image) != 2 or min(image) < 1:
            return False
        if len(type_.shape) not in (2, 3) or type_.element not in torch.FLOATS:
            return False
        rows, columns = (one.count(size) or 0 for one, size in zip(windows, image, strict=True))
        elements, places = type_.shape[-2:]
        whole = elements is not None and elements % (windows[0].size * windows[1].size) == 0
        return whole and min(rows, columns) > 0 and places == rows * columns

    def written(self, op: ir.Operation) -> list[ir.Value]:
        value, windows = op.operands[0], windows_of(list(op.operands)[2:])
        image, given = torch.integers_of(op.operands[1]), torch.TensorType.of(op.operands[0])
        assert given is not None and windows is not None and image is not None
        tall, wide = windows
        channels = len(given.shape) - 2
        # [..., channel, kernel's row, kernel's column, row, column]
        counts = [one.count(size) or 0 for one, size in zip(windows, image, strict=True)]
        value = _apart(value, channels + 1, counts)
        value = _apart(
            value, channels, [(given.shape[-2] or 0) // (tall.size * wide.size), tall.size, wide.size]
        )
        value = _summed(value, channels + 2, channels + 4, wide, image[1])
        value = _summed(value, channels + 1, channels + 2, tall, image[0])
        return [torch.cast(value, op.results[0].type)]


def _summed(value: ir.Value, kernel: int, dim: int, windows: Windows, length: int) -> ir.Value:
    """``value`` without its dimension ``kernel``: along ``dim`` the sums on each of ``length`` places.

    ``dim`` becomes the last but those behind it; ``kernel`` lies before it.
    """
    value, type_ = _moved(value, kernel, dim - 1)
    kernel = dim - 1
    count = type_.shape[dim] or 0
    behind = len(type_.shape) - 1 - dim
    type_ = type_.with_size(dim, count + 1)
    around = torch.integers([0, 0] * behind + [0, 1])
    value = torch.apply("aten.constant_pad_nd", [value, around, torch.real(0.0)], type_)
    table = _places(windows, count, length)
    flat = torch.TensorType(
        (*type_.shape[:kernel], windows.size * (count + 1), *type_.shape[dim + 1 :]), type_.element
    )
    bounds = [torch.integer(kernel), torch.integer(dim)]
    value = torch.apply("aten.flatten.using_ints", [value, *bounds], flat)
    gathered = flat.with_size(kernel, table.size)
    index = torch.table(table.reshape(-1))
    value = torch.apply("aten.index_select", [value, torch.integer(kernel), index], gathered)
    if len(table) == 1:
        return value
    value = _apart(value, kernel, list(table.shape))
    made = gathered.with_size(kernel, length)
    over = [torch.integers([kernel]), torch.boolean(False), torch.none()]
    return torch.apply("aten.sum.dim_IntList", [value, *over], made)


def _places(windows: Windows, count: int, length: int) -> np.ndarray:
    """For each of ``length`` places, in columns: where the elements on it are among [kernel][count + 1], the last of which is a zero."""
    held: list[list[int]] = [[] for _ in range(length)]
    for element in range(windows.size):
        for number in range(count):
            place = number * windows.stride + element * windows.dilation - windows.padding
            if 0 <= place < length:
                held[place].append(element * (count + 1) + number)
    most = max(1, *(len(one) for one in held))
    return np.array([one + [count] * (most - len(one)) for one in held], np.int64).T


def _moved(value: ir.Value, dim: int, place: int) -> tuple[ir.Value, torch.TensorType]:
    """``value`` with its dimension ``dim`` at ``place``, behind it, and its type."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    order = [one for one in range(len(type_.shape)) if one != dim]
    order.insert(place, dim)
    made = torch.TensorType(tuple(type_.shape[one] for one in order), type_.element)
    if order == sorted(order):
        return value, type_
    return torch.apply("aten.permute", [value, torch.integers(order)], made), made


def _apart(value: ir.Value, dim: int, sizes: list[int]) -> ir.Value:
    """``value`` with its dimension ``dim`` as several."""
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    made = torch.TensorType((*type_.shape[:dim], *sizes, *type_.shape[dim + 1 :]), type_.element)
    return torch.apply("aten.unflatten.int", [value, torch.integer(dim), torch.integers(sizes)], made)
