"""How does a tensor of narrow elements become a tensor of words, and the words a tensor of 32-bit values?

The words are the same bytes (`iree_tensor_ext.bitcast`, no copy), of 32 bits and little-endian: element i of a
word stands in its bits i*b to i*b + b - 1. A word of as many bits as an element is that element. The bytes of a tensor
that do not fill its last word are copied into ones that do; no dispatch does such a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from iree.compiler import ir
from iree.compiler.dialects import arith, iree_tensor_ext, tensor

from fissile.dialect import linalg_ops as linalg
from fissile.dialect.attributes import attribute
from fissile.passes.analysis.dispatch.narrow_types import WORD_BITS, NarrowType
from fissile.passes.analysis.layout.partial_bytes import is_partial

from ..fusion.lower_boundaries import dynamic_sizes
from ..generic_ops import build_generic
from .constant_bits import constant_bits
from .float_bits import bits_of_float, f32, float_of_bits, i32, word
from .widened_scalars import wrapped, zero_extended

Size: TypeAlias = "int | ir.Value"


def unpack(value: ir.Value, narrow: NarrowType) -> ir.Value:
    """The elements of the narrow tensor ``value`` as i32 or f32, in the same shape; built at the insertion
    point."""
    sizes = sizes_of(value)
    if narrow.per_word == 1:
        return _mapped(
            bitcast(value, sizes, _word_type(narrow)),
            _wide(narrow),
            lambda bits: _value(arith.extui(i32(), bits), narrow),
        )
    if _fills_rows(sizes, narrow):
        rows = [*sizes[:-1], sizes[-1] // narrow.per_word]
        return merged(_lanes(bitcast(value, rows, i32()), rows, narrow), len(rows) - 1)
    count = _count(sizes)
    words = ceildiv(count, narrow.per_word)
    if fills(count, narrow):
        return unflat(merged(_lanes(bitcast(value, [words], i32()), [words], narrow), 0), sizes)
    line = _words_of_constant(value, narrow)
    if line is None:
        whole = _lengthened(bitcast(value, [_bytes(count, narrow)], _byte()), times(words, _WORD_BYTES))
        line = bitcast(whole, [words], i32())
    elements = merged(_lanes(line, [words], narrow), 0)
    return unflat(_shortened(elements, count), sizes)


def _words_of_constant(value: ir.Value, narrow: NarrowType) -> ir.Value | None:
    """The words of a constant whose bytes are not whole, the last one filled up with zeros; None of any other value.

    IREE 3.13 has no bytes of such a constant that could be read as words.
    """
    owner = value.owner
    if not is_partial(value.type) or isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    bits = constant_bits(attribute(owner.operation, "value"), narrow)
    if bits is None:
        return None
    words = [
        sum(one << (lane * narrow.storage_bits) for lane, one in enumerate(bits[at : at + narrow.per_word]))
        for at in range(0, len(bits), narrow.per_word)
    ]
    signed = [one - (1 << WORD_BITS) if one >> (WORD_BITS - 1) else one for one in words]
    type_ = ir.RankedTensorType.get([len(words)], i32())
    return arith.constant(
        type_, ir.DenseElementsAttr.get([ir.IntegerAttr.get(i32(), one) for one in signed], type_)
    )


def pack(value: ir.Value, narrow: NarrowType, result: ir.RankedTensorType) -> ir.Value:
    """The 32-bit values of ``value``, each in the range of ``narrow``, as the narrow tensor of type
    ``result``."""
    sizes = sizes_of(value)
    if narrow.per_word == 1:
        narrowed = _word_type(narrow)
        return _as(
            _mapped(value, narrowed, lambda one: arith.trunci(narrowed, _bits(one, narrow))), result, sizes
        )
    if _fills_rows(sizes, narrow):
        rows = [*sizes[:-1], sizes[-1] // narrow.per_word]
        return _as(_joined(expanded(value, len(rows) - 1, narrow.per_word), rows, narrow), result, sizes)
    count = _count(sizes)
    words = ceildiv(count, narrow.per_word)
    line = flat(value, count)
    if not fills(count, narrow):
        line = _lengthened(line, times(words, narrow.per_word))
    packed = _joined(expanded(line, 0, narrow.per_word), [words], narrow)
    if not fills(count, narrow):
        packed = _shortened(bitcast(packed, [times(words, _WORD_BYTES)], _byte()), _bytes(count, narrow))
    return _as(packed, result, sizes)


def _mapped(value: ir.Value, element: ir.Type, body: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """``body`` of every element of ``value``."""
    sizes = sizes_of(value)
    identity = ir.AffineMap.get_identity(len(sizes))
    init = tensor.EmptyOp(sizes, element).result
    return _generic([value], [identity], init, identity, [True] * len(sizes), lambda one, _: body(one))


def _wide(narrow: NarrowType) -> ir.Type:
    return f32() if narrow.is_float else i32()


def _word_type(narrow: NarrowType) -> ir.Type:
    return ir.IntegerType.get_signless(narrow.word_bits)


def sizes_of(value: ir.Value) -> list[Size]:
    """The sizes of a tensor's dimensions; dynamic ones as values."""
    tensor_type = ir.RankedTensorType(value.type)
    dynamic = iter(dynamic_sizes(value))
    return [
        next(dynamic) if tensor_type.is_dynamic_dim(i) else tensor_type.get_dim_size(i)
        for i in range(tensor_type.rank)
    ]


def _fills_rows(sizes: Sequence[Size], narrow: NarrowType) -> bool:
    """Whether whole words make up each row of the innermost dimension."""
    return bool(sizes) and fills(sizes[-1], narrow)


def fills(count: Size, narrow: NarrowType) -> bool:
    return isinstance(count, int) and count > 0 and count % narrow.per_word == 0


def _lanes(words: ir.Value, rows: Sequence[Size], narrow: NarrowType) -> ir.Value:
    """The elements of each word along a new innermost dimension."""
    rank = len(rows)
    element = _wide(narrow)
    init = tensor.EmptyOp([*rows, narrow.per_word], element).result

    def body(source: ir.Value, _: ir.Value) -> ir.Value:
        return element_of_word(source, rank, narrow)

    leading = ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(i) for i in range(rank)])
    return _generic([words], [leading], init, ir.AffineMap.get_identity(rank + 1), [True] * (rank + 1), body)


def _joined(lanes: ir.Value, rows: Sequence[Size], narrow: NarrowType) -> ir.Value:
    """One word of each innermost row of ``lanes``."""
    rank = len(rows)
    init = linalg.fill(word(0), outs=[tensor.EmptyOp(list(rows), i32()).result])

    def body(source: ir.Value, before: ir.Value) -> ir.Value:
        return arith.ori(arith.shli(_bits(source, narrow), _shift(rank, narrow)), before)

    leading = ir.AffineMap.get(rank + 1, 0, [ir.AffineDimExpr.get(i) for i in range(rank)])
    identity = ir.AffineMap.get_identity(rank + 1)
    return _generic([lanes], [identity], init, leading, [True] * rank + [False], body)


def element_of_word(source: ir.Value, loop: int, narrow: NarrowType) -> ir.Value:
    """The element of the word ``source`` that ``loop`` (of the structured op around) counts, as i32 or
    f32."""
    return _value(arith.shrui(source, _shift(loop, narrow)), narrow)


def _bits(value: ir.Value, narrow: NarrowType) -> ir.Value:
    """The bits of an element whose value is ``value``, the others 0."""
    return bits_of_float(narrow.name, value) if narrow.is_float else zero_extended(value, narrow.value_bits)


def _value(bits: ir.Value, narrow: NarrowType) -> ir.Value:
    """The value of the element in the lowest of ``bits``."""
    if narrow.is_float:
        return float_of_bits(narrow.name, bits)
    return zero_extended(bits, 1) if narrow.value_bits == 1 else wrapped(bits, narrow.value_bits)


def _shift(dimension: int, narrow: NarrowType) -> ir.Value:
    lane = arith.index_cast(i32(), linalg.IndexOp(dimension).result)
    return arith.muli(lane, word(narrow.storage_bits))


def _generic(inputs, input_maps, init, output_map, parallel, body) -> ir.Value:
    op, block = build_generic(inputs, [init], [*input_maps, output_map], parallel)
    with ir.InsertionPoint(block):
        linalg.YieldOp([body(*block.arguments)])
    return op.results[0]


# --- reshapes, slices and sizes


_WORD_BYTES = 4


def times(size: Size, factor: int) -> Size:
    return size * factor if isinstance(size, int) else arith.muli(size, _index(factor))


def ceildiv(size: Size, divisor: int) -> Size:
    return -(-size // divisor) if isinstance(size, int) else arith.ceildivui(size, _index(divisor))


def _count(sizes: Sequence[Size]) -> Size:
    """The product of ``sizes``."""
    static = prod(size for size in sizes if isinstance(size, int))
    dynamic = [size for size in sizes if not isinstance(size, int)]
    if not dynamic:
        return static
    count = dynamic[0]
    for size in dynamic[1:]:
        count = arith.muli(count, size)
    return count if static == 1 else times(count, static)


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def _tensor(sizes: Sequence[Size], element: ir.Type) -> ir.RankedTensorType:
    dynamic = ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get([size if isinstance(size, int) else dynamic for size in sizes], element)


def _dynamic(sizes: Sequence[Size]) -> list[ir.Value]:
    return [size for size in sizes if not isinstance(size, int)]


def _static(sizes: Sequence[Size]) -> list[int]:
    dynamic = ir.ShapedType.get_dynamic_size()
    return [size if isinstance(size, int) else dynamic for size in sizes]


def bitcast(value: ir.Value, sizes: Sequence[Size], element: ir.Type) -> ir.Value:
    return _as(value, _tensor(sizes, element), sizes)


def _as(value: ir.Value, result: ir.RankedTensorType, sizes: Sequence[Size]) -> ir.Value:
    """The bytes of ``value`` as a tensor of the type ``result``, whose sizes are ``sizes``.

    Both sides of the bitcast have a dimension: BubbleUpExpandShapes (IREE 3.13) crashes where one has none and a
    reshape stands beside it.
    """
    if value.type == result:
        return value
    value = flat(value, 1) if not ir.RankedTensorType(value.type).rank else value
    if not result.rank:
        return unflat(_as(value, _tensor([1], result.element_type), [1]), [])
    return iree_tensor_ext.BitCastOp(result, value, dynamic_sizes(value), _dynamic(sizes)).result


def _byte() -> ir.Type:
    return ir.IntegerType.get_signless(8)


def _bytes(count: Size, narrow: NarrowType) -> Size:
    """Bytes of ``count`` elements."""
    if narrow.storage_bits < 8:
        return ceildiv(count, 8 // narrow.storage_bits)
    return times(count, narrow.storage_bits // 8)


def expanded(value: ir.Value, position: int, factor: int) -> ir.Value:
    """``value`` with the dimension at ``position`` split in two, the inner one of ``factor`` elements."""
    sizes = sizes_of(value)
    outer = (
        sizes[position] // factor
        if isinstance(sizes[position], int)
        else arith.divui(sizes[position], _index(factor))
    )
    sizes[position : position + 1] = [outer, factor]
    result = _tensor(sizes, ir.RankedTensorType(value.type).element_type)
    groups = _reassociation(_pairing(len(sizes), position))
    return tensor.ExpandShapeOp(result, value, groups, _dynamic(sizes), _static(sizes)).result


def merged(value: ir.Value, position: int) -> ir.Value:
    """``value`` with the dimensions at ``position`` and behind it merged into one."""
    tensor_type = ir.RankedTensorType(value.type)
    shape = list(tensor_type.shape)
    dynamic = ir.ShapedType.get_dynamic_size()
    pair = shape[position : position + 2]
    shape[position : position + 2] = [dynamic if dynamic in pair else pair[0] * pair[1]]
    result = ir.RankedTensorType.get(shape, tensor_type.element_type)
    return tensor.CollapseShapeOp(result, value, _reassociation(_pairing(tensor_type.rank, position))).result


def _pairing(rank: int, position: int) -> list[list[int]]:
    """Reassociation groups in which only ``position`` and the next dimension belong together."""
    return [[i, i + 1] if i == position else [i] for i in range(rank) if i != position + 1]


def flat(value: ir.Value, count: Size) -> ir.Value:
    """``value`` in one dimension of ``count`` elements."""
    tensor_type = ir.RankedTensorType(value.type)
    result = _tensor([count], tensor_type.element_type)
    if tensor_type.rank == 1:
        return value
    if tensor_type.rank == 0:
        return tensor.ExpandShapeOp(result, value, _reassociation([]), [], [1]).result
    return tensor.CollapseShapeOp(result, value, _reassociation([range(tensor_type.rank)])).result


def unflat(value: ir.Value, sizes: Sequence[Size]) -> ir.Value:
    """The 1-D ``value`` in the shape ``sizes``."""
    result = _tensor(sizes, ir.RankedTensorType(value.type).element_type)
    if len(sizes) == 1:
        return value
    if not sizes:
        return tensor.CollapseShapeOp(result, value, _reassociation([])).result
    groups = _reassociation([range(len(sizes))])
    return tensor.ExpandShapeOp(result, value, groups, _dynamic(sizes), _static(sizes)).result


def _reassociation(groups: Sequence[Sequence[int]]) -> ir.Attribute:
    return ir.Attribute.parse(
        "[" + ", ".join("[" + ", ".join(map(str, group)) + "]" for group in groups) + "]"
    )


def _lengthened(value: ir.Value, length: Size) -> ir.Value:
    """The 1-D ``value`` at the beginning of a tensor of ``length`` elements; what follows is not written."""
    tensor_type = ir.RankedTensorType(value.type)
    [count] = sizes_of(value)
    init = tensor.EmptyOp([length], tensor_type.element_type).result
    return tensor.insert_slice(value, init, [], _dynamic([count]), [], [0], _static([count]), [1])


def _shortened(value: ir.Value, count: Size) -> ir.Value:
    """The first ``count`` elements of a 1-D tensor."""
    result = _tensor([count], ir.RankedTensorType(value.type).element_type)
    return tensor.extract_slice(result, value, [], _dynamic([count]), [], [0], _static([count]), [1])


def booleans_of_bytes(value: ir.Value) -> ir.Value:
    """The booleans of a tensor of packed i1 as i32, 0 or 1, in the same shape; read through its bytes."""
    sizes = sizes_of(value)
    count = _count(sizes)
    length = ceildiv(count, 8)
    byte = ir.IntegerType.get_signless(8)
    init = tensor.EmptyOp([length, 8], i32()).result

    def body(source: ir.Value, _: ir.Value) -> ir.Value:
        lane = arith.index_cast(i32(), linalg.IndexOp(1).result)
        return arith.andi(arith.shrui(arith.extui(i32(), source), lane), word(1))

    leading = ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(0)])
    lanes = _generic(
        [bitcast(value, [length], byte)], [leading], init, ir.AffineMap.get_identity(2), [True, True], body
    )
    line = merged(lanes, 0)
    return unflat(line if isinstance(count, int) and count % 8 == 0 else _shortened(line, count), sizes)
