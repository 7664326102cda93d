"""Layers over one image, as layers over a batch of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy
from ..tensors.values import INTEGERS, inserted
from ..torch_ops import TensorType, apply

_POOLS = {
    f"aten.{name}": dims
    for dims in (1, 2, 3)
    for name in (f"avg_pool{dims}d", f"max_pool{dims}d", f"max_pool{dims}d_with_indices")
}
_CONVOLUTIONS = {
    "aten.conv1d": 1, "aten.conv2d": 2, "aten.conv3d": 3,
    "aten.conv1d.padding": 1, "aten.conv2d.padding": 2, "aten.conv3d.padding": 3,
    "aten.conv_transpose1d": 1, "aten.conv_transpose2d.input": 2, "aten.conv_transpose3d.input": 3,
}  # fmt: skip
"""Op -> the dimensions that a window moves over. A batch and the channels are before them."""
_CONVOLUTION = "aten.convolution"
"""Its weights have as many dimensions as a batch."""
_OF_INTEGERS = ("aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d", "aten.max_pool1d", "aten.max_pool2d")
"""Those whose batches of integers IREE lowers."""


@register_pass
@dataclass(frozen=True)
class BatchImages(FrontEndRemedy):
    """Inserts a batch dimension of size 1 into the operand of a pooling or a convolution without one, and drops it from the results.

    PyTorch takes an image of channels, height and width alone. IREE 3.13 rejects it, or crashes on it: `aten.avg_pool1d`, `max_pool2d`,
    `conv2d`, `conv_transpose2d` and their like of one to three dimensions. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-batch-images"
    exactness: ClassVar[Exactness] = Exactness.BITS
    does: ClassVar[str] = (
        "inserts a batch dimension of size 1 before a pooling or a convolution over one image, and drops it after (in the input)"
    )
    repairs: ClassVar[str] = (
        "poolings and convolutions over an image without a batch dimension, which IREE rejects or crashes on (FIS421)"
    )
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "inserted a batch dimension of size 1"
    advice: ClassVar[str] = "insert a batch dimension of size 1 (`unsqueeze(0)`)"

    def fits(self, op: ir.Operation) -> bool:
        if len(op.operands) < 2:
            return False
        types = [TensorType.of(value) for value in (op.operands[0], *op.results)]
        dims = _dims_of(op)
        if dims is None or any(one is None or len(one.shape) != dims + 1 for one in types):
            return False
        given = types[0]
        assert given is not None
        known = (*torch.FLOATS, *INTEGERS) if torch.front_end_name(op) in _OF_INTEGERS else torch.FLOATS
        return given.element in known

    def written(self, op: ir.Operation) -> list[ir.Value]:
        types = [TensorType.of(result) for result in op.results]
        batched = [TensorType((1, *one.shape), one.element) for one in types if one is not None]
        made = ir.Operation.create(
            op.name,
            results=[one.ir_type() for one in batched],
            operands=[inserted(op.operands[0], 0), *list(op.operands)[1:]],
            attributes={one.name: one.attr for one in op.attributes},
        )
        return [
            apply("aten.squeeze.dim", [one, torch.integer(0)], result.type)
            for one, result in zip(made.results, op.results, strict=True)
        ]


def _dims_of(op: ir.Operation) -> int | None:
    name = torch.front_end_name(op)
    if name == _CONVOLUTION:
        weights = TensorType.of(op.operands[1])
        return None if weights is None else len(weights.shape) - 2
    return _POOLS.get(name) or _CONVOLUTIONS.get(name)
