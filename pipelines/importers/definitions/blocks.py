"""Weights that are quantised in blocks, of ONNX Runtime's 4-bit and 8-bit models."""

from __future__ import annotations

import numpy as np

from .writer import NotDefined, Writer, defines


@defines("MatMulNBits")
def _matmul(w: Writer) -> None:
    """Weights are [N, blocks, bytes of a block], the lowest bits first; the scales are one for each block."""
    if w.operand(4):
        raise NotDefined("blocks in another order (g_idx)")
    k, n, bits, block = (w.attribute(name, default) for name, default in (("K", 0), ("N", 0), ("bits", 4), ("block_size", 32)))  # fmt: skip
    count = -(-k // block)
    scales = w.reshape(w.operand(2), n, count, 1)
    values = _unpacked(w, w.operand(1), bits, (n, count, block))
    zero = _zero_points(w, w.operand(3), bits, (n, count), scales)
    weights = w.op("Mul", w.op("Sub", w.cast(values, scales), zero), scales)
    weights = w.slice(w.reshape(weights, n, count * block), 0, k, 1)
    product = w.op("MatMul", w.operand(0), w.cast(w.transpose(weights, 1, 0), w.operand(0)))
    w.end(0, w.sum(product, w.operand(5)))


def _unpacked(w: Writer, packed: str, bits: int, shape: tuple[int, int, int]) -> str:
    """The numbers of ``bits`` bits in bytes, as bytes."""
    if bits not in (2, 4, 8):
        raise NotDefined(f"{bits} bits")
    n, count, block = shape
    if bits == 8:
        return w.reshape(packed, n, count, block)
    each = 8 // bits
    data = w.reshape(packed, n, count, block // each, 1)
    parts = [_bits(w, data, bits * index, bits) for index in range(each)]
    return w.reshape(w.op("Concat", *parts, axis=3), n, count, block)


def _bits(w: Writer, data: str, first: int, bits: int) -> str:
    """``bits`` bits of unsigned bytes, from bit ``first`` on."""
    shifted = w.op("BitShift", data, w.array(np.uint8(first)), direction="RIGHT") if first else data
    if first + bits == 8:
        return shifted
    high = w.op("BitShift", shifted, w.array(np.uint8(bits)), direction="RIGHT")
    return w.op("Sub", shifted, w.op("BitShift", high, w.array(np.uint8(bits)), direction="LEFT"))


def _zero_points(w: Writer, zero: str, bits: int, shape: tuple[int, int], scales: str) -> str:
    """[N, blocks, 1] in the element type of ``scales``: packed bytes, floats, or, without any, the middle."""
    from onnx import TensorProto

    n, count = shape
    if not zero:
        return w.number(float(2 ** (bits - 1)), scales)
    if w.dtype(zero) != TensorProto.UINT8:
        return w.cast(w.reshape(zero, n, count, 1), scales)
    padded = -(-count * bits // 8) * (8 // bits)
    return w.cast(w.slice(_unpacked(w, zero, bits, (n, padded, 1)) if bits == 8 else _packed_rows(w, zero, bits, (n, padded)), 0, count, 1), scales)  # fmt: skip


def _packed_rows(w: Writer, zero: str, bits: int, shape: tuple[int, int]) -> str:
    """Rows of packed numbers, as [rows, numbers, 1]."""
    n, count = shape
    return w.reshape(_unpacked(w, zero, bits, (n, 1, count)), n, count, 1)


@defines("GatherBlockQuantized")
def _gather(w: Writer) -> None:
    """Rows of a quantised table, made floats behind the gather."""
    bits, block = w.attribute("bits", 4), w.attribute("block_size", 128)
    data, scales, zero = w.operand(0), w.operand(2), w.operand(3)
    if (
        w.attribute("gather_axis", 0) != 0
        or w.rank(data) != 2
        or w.attribute("quantize_axis", 1) not in (1, -1)
    ):
        raise NotDefined("other than rows of a matrix")
    from onnx import TensorProto

    if w.dtype(data) != TensorProto.UINT8:
        raise NotDefined("elements of 4 bits")
    n, count = w.size(scales, 0), w.size(scales, 1)
    width = w.size(data, 1) * 8 // bits
    if width != count * block:
        raise NotDefined("a last block that is not full")
    values = w.cast(_unpacked(w, data, bits, (n, count, block)), scales)
    middle = _zero_points(w, zero, bits, (n, count), scales)
    table = w.reshape(w.op("Mul", w.op("Sub", values, middle), w.reshape(scales, n, count, 1)), n, width)
    w.end(0, w.op("Gather", table, w.operand(1), axis=0))


@defines("DequantizeLinear", domain="")
def _dequantise(w: Writer) -> None:
    """A scale for each block along an axis, constants of 4 bits, and 16 bits."""
    value, scale, zero = (w.operand(index) for index in range(3))
    if w.attribute("output_dtype", 0):
        raise NotDefined("another element type")
    shape, back = _blocks(w, value, scale)
    numbers = w.cast(_whole_bytes(w, value), scale)
    numbers = w.reshape(numbers, *shape) if back else numbers
    zero = _whole_bytes(w, zero) if zero else ""
    scale, zero = (_beside(w, one, value) if one else "" for one in (scale, zero))
    if zero:
        numbers = w.op("Sub", numbers, w.cast(zero, scale))
    made = w.op("Mul", numbers, scale)
    w.end(0, w.reshape(made, *back) if back else made)


def _blocks(w: Writer, value: str, scale: str) -> tuple[list[int], list[int]]:
    """The sizes of ``value`` with its axis split into blocks, and without; none where its scales are no blocks."""
    block = w.attribute("block_size", 0)
    if not block:
        return [], []
    sizes, axis = [w.size(value, dim) for dim in range(w.rank(value))], w.attribute("axis", 1) % w.rank(value)
    if sizes[axis] % block:
        raise NotDefined("a last block that is not full")
    return [*sizes[:axis], sizes[axis] // block, block, *sizes[axis + 1 :]], sizes


def _beside(w: Writer, scale: str, value: str) -> str:
    """``scale``, or the zero points, so that it is broadcast to ``value`` or its blocks."""
    rank = w.rank(value)
    axis = w.attribute("axis", 1) % max(1, rank)
    if w.attribute("block_size", 0):
        return w.along("Unsqueeze", scale, [axis + 1])
    if w.rank(scale) == 0 or w.sizes(scale) == [1]:
        return scale
    return w.reshape(scale, *[-1 if dim == axis else 1 for dim in range(rank)])


def _whole_bytes(w: Writer, value: str) -> str:
    """Constants of 4 bits as 8 bits; other values as they are."""
    from onnx import TensorProto

    if w.dtype(value) not in (TensorProto.INT4, TensorProto.UINT4):
        return value
    wider = np.int8 if w.dtype(value) == TensorProto.INT4 else np.uint8
    known = w.value(value)
    if known is None:
        raise NotDefined("elements of 4 bits that are not constant")
    return w.array(known.astype(wider))


@defines("QuantizeLinear", domain="")
def _quantise(w: Writer) -> None:
    """A scale for each block along an axis."""
    from onnx import TensorProto

    value, scale, zero = (w.operand(index) for index in range(3))
    limits: dict[int, tuple[int, int]] = {  # IREE has no cast to 16 bits
        TensorProto.UINT8: (0, 255),
        TensorProto.INT8: (-128, 127),
    }
    kind = w.dtype(zero) if zero else w.attribute("output_dtype", 0) or TensorProto.UINT8
    if kind not in limits:
        raise NotDefined("this element type")
    shape, back = _blocks(w, value, scale)
    numbers = w.reshape(value, *shape) if back else value
    scale, zero = (_beside(w, one, value) if one else "" for one in (scale, zero))
    made = w.op("Round", w.op("Div", numbers, scale))
    if zero:
        made = w.op("Add", made, w.cast(zero, scale))
    low, high = (w.number(float(one), scale) for one in limits[kind])
    made = w.op("Cast", w.op("Clip", made, low, high), to=kind)
    w.end(0, w.reshape(made, *back) if back else made)
