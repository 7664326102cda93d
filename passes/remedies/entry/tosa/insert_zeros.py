"""A transposed convolution of 16-bit integers with strides, as a convolution over an input with zeros between its elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from iree.compiler import ir

from fissile.dialect.attributes import attribute
from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from ..front_end import FrontEndRemedy

_TRANSPOSED = "tosa.transpose_conv2d"


@register_pass
@dataclass(frozen=True)
class InsertZeros(FrontEndRemedy):
    """Writes a transposed convolution with strides and sums of 48 bits as zeros between the rows and columns of its input, and a convolution with the
    kernel reversed.

    IREE 3.13's import of TOSA takes such an op apart before it validates the program, and then rejects the moves of 48-bit elements that it has
    written itself. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-insert-zeros"
    exactness: ClassVar[Exactness] = Exactness.BITS
    candidates: ClassVar[tuple[str, ...]] = (_TRANSPOSED,)
    dialects: ClassVar[tuple[str, ...]] = ("tosa",)
    does: ClassVar[str] = (
        "writes a `tosa.transpose_conv2d` of 16-bit integers with strides as a convolution over its input with zeros between the elements (in the input)"
    )
    repairs: ClassVar[str] = "such an op, which IREE rejects on every target (FIS421)"
    numbers: ClassVar[str] = "bit-identical"
    done: ClassVar[str] = "wrote it as zeros between the elements of its input, and a convolution"
    advice: ClassVar[str] = (
        "put zeros between the elements of its input, and write it as a convolution with the kernel reversed"
    )

    def named(self, op: ir.Operation) -> str:
        return op.name

    def fits(self, op: ir.Operation) -> bool:
        types = [value.type for value in (*op.operands, *op.results)]
        if not all(isinstance(type_, ir.RankedTensorType) for type_ in types):
            return False
        image, weights, *_others, made = map(ir.RankedTensorType, types)
        return (
            str(made.element_type) == "i48"
            and str(image.element_type) == "i16"
            and any(stride != 1 for stride in _integers(op, "stride"))
            and not any(image.is_dynamic_dim(dim) for dim in (1, 2, 3))
            and weights.has_static_shape
        )

    def written(self, op: ir.Operation) -> list[ir.Value]:
        image, weights, bias, image_zero, weights_zero = op.operands
        strides, borders = _integers(op, "stride"), _integers(op, "out_pad")
        height, width = ir.RankedTensorType(weights.type).shape[1:3]
        steps = {"pad": [height - 1 + borders[0], height - 1 + borders[1], width - 1 + borders[2], width - 1 + borders[3]],
                 "stride": [1, 1], "dilation": [1, 1]}  # fmt: skip
        given = [_spread(image, image_zero, strides), _reversed(weights), bias, image_zero, weights_zero]
        held = {name: ir.DenseI64ArrayAttr.get(values) for name, values in steps.items()}
        held["acc_type"] = op.attributes["acc_type"]
        return [ir.Operation.create("tosa.conv2d", [op.results[0].type], given, held).results[0]]


def _integers(op: ir.Operation, name: str) -> list[int]:
    held = attribute(op, name)
    assert isinstance(held, ir.DenseI64ArrayAttr), held
    return list(held)


def _like(value: ir.Value, shape: Sequence[int]) -> ir.Type:
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)


def _shape(*sizes: int) -> ir.Value:
    index = ir.IndexType.get()
    held = ir.DenseElementsAttr.get([ir.IntegerAttr.get(index, size) for size in sizes], ir.RankedTensorType.get([len(sizes)], index))  # fmt: skip
    kind = ir.Type.parse(f"!tosa.shape<{len(sizes)}>")
    return ir.Operation.create("tosa.const_shape", [kind], [], {"values": held}).results[0]


def _spread(image: ir.Value, zero: ir.Value, strides: Sequence[int]) -> ir.Value:
    """``image`` (N, H, W, C) with ``strides`` less one rows and columns of ``zero`` between its own."""
    batch, height, width, channels = ir.RankedTensorType(image.type).shape
    any_batch = -1 if ir.RankedTensorType(image.type).is_dynamic_dim(0) else batch
    apart = [batch, height, 1, width, 1, channels]
    filled = [batch, height, strides[0], width, strides[1], channels]
    whole = [batch, height * strides[0], width * strides[1], channels]
    kept = [batch, whole[1] - strides[0] + 1, whole[2] - strides[1] + 1, channels]
    value = ir.Operation.create(
        "tosa.reshape", [_like(image, apart)], [image, _shape(any_batch, *apart[1:])]
    ).results[0]
    margins = _shape(0, 0, 0, 0, 0, strides[0] - 1, 0, 0, 0, strides[1] - 1, 0, 0)
    value = ir.Operation.create("tosa.pad", [_like(image, filled)], [value, margins, zero]).results[0]
    value = ir.Operation.create(
        "tosa.reshape", [_like(image, whole)], [value, _shape(any_batch, *whole[1:])]
    ).results[0]
    ends = [value, _shape(0, 0, 0, 0), _shape(any_batch, *kept[1:])]
    return ir.Operation.create("tosa.slice", [_like(image, kept)], ends).results[0]


def _reversed(weights: ir.Value) -> ir.Value:
    axis = ir.IntegerType.get_signless(32)
    for dim in (1, 2):
        held = {"axis": ir.IntegerAttr.get(axis, dim)}
        weights = ir.Operation.create("tosa.reverse", [weights.type], [weights], held).results[0]
    return weights
