"""Transformer encoder layers and the attention in them, as products, norms and an attention that IREE lowers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from iree.compiler import ir

from fissile.passes.definition import register_pass
from fissile.passes.remedies.remedy import Exactness

from .. import torch_ops as torch
from ..front_end import FrontEndRemedy

_LAYER, _ATTENTION = "aten._transformer_encoder_layer_fwd", "aten._native_multi_head_attention"
_BETWEEN, _PADDING, _WHOLE = 0, 1, 2
"""The mask types of PyTorch: [from, to], [batch, to] and [batch, head, from, to]."""


@dataclass(frozen=True)
class _Attention:
    """The operands of self-attention with several heads."""

    value: ir.Value
    width: int
    heads: int
    of_inputs: tuple[ir.Value, ir.Value]
    """The weights of query, key and value, one below the other, and their biases."""
    of_output: tuple[ir.Value, ir.Value]
    mask: ir.Value
    mask_type: ir.Value


@register_pass
@dataclass(frozen=True)
class DecomposeEncoderLayers(FrontEndRemedy):
    """Writes `aten._transformer_encoder_layer_fwd` and `aten._native_multi_head_attention` as torch.nn documents them.

    PyTorch exports `nn.TransformerEncoderLayer` in evaluation so. Query, key and value are one product; its heads meet in
    `aten.scaled_dot_product_attention`, or in two products and a softmax where there is a mask or the program asks for the
    weights. A mask hides what is not 0, as in PyTorch, whatever its element type. Batch and sequence may be dynamic. The torch
    dialect of IREE 3.13 has neither op. Run it on the program as it was imported.
    """

    name: ClassVar[str] = "fissile-decompose-encoder-layers"
    exactness: ClassVar[Exactness] = Exactness.ORDER
    does: ClassVar[str] = (
        "replaces `aten._transformer_encoder_layer_fwd` and `aten._native_multi_head_attention` with products, norms and an attention (in the input)"
    )
    repairs: ClassVar[str] = "transformer encoder layers in evaluation, which IREE rejects (FIS421)"
    numbers: ClassVar[str] = "sums may be reordered"
    done: ClassVar[str] = "rewrote it as products, norms and an attention"
    advice: ClassVar[str] = "rewrite it as products, norms and an attention"

    def fits(self, op: ir.Operation) -> bool:
        name = torch.front_end_name(op)
        attention = _attention_of(op)
        if attention is None or not _is_attention(attention):
            return False
        if name == _ATTENTION:
            constants = [torch.boolean_of(one) for one in list(op.operands)[10:12]]
            return (
                len(op.results) == 2
                and None not in constants
                and (bool(constants[0]) or not list(op.results[1].uses))
            )
        return _is_layer(op, attention.width)

    def written(self, op: ir.Operation) -> list[ir.Value]:
        attention = _attention_of(op)
        assert attention is not None
        if torch.front_end_name(op) == _LAYER:
            return [torch.cast(_layer(op, attention), op.results[0].type)]
        needed, averaged = (torch.boolean_of(one) for one in list(op.operands)[10:12])
        value, weights = _attended(attention, weighed=bool(needed))
        if weights is None or not needed:
            return [torch.cast(value, op.results[0].type), torch.none()]
        if averaged:
            type_ = _type(weights)
            made = torch.TensorType((type_.shape[0], *type_.shape[2:]), type_.element)
            over = [torch.integers([1]), torch.boolean(False), torch.none()]
            weights = torch.apply("aten.mean.dim", [weights, *over], made)
        return [
            torch.cast(one, result.type) for one, result in zip((value, weights), op.results, strict=True)
        ]


def _attention_of(op: ir.Operation) -> _Attention | None:
    """None for another op, for attention to another tensor, and where the number of heads is not known."""
    name, given = torch.front_end_name(op), list(op.operands)
    if name == _LAYER and len(given) == 20:
        value, width, heads, *weights = given[:7]
        mask, mask_type = given[18:]
    elif name == _ATTENTION and len(given) == 13 and given[0] == given[1] == given[2]:
        value, width, heads, *weights = given[2:9]
        mask, mask_type = given[9], given[12]
    else:
        return None
    size, count = torch.integer_of(width), torch.integer_of(heads)
    if size is None or count is None or count < 1 or size % count:
        return None
    return _Attention(value, size, count, (weights[0], weights[1]), (weights[2], weights[3]), mask, mask_type)


def _is_attention(attention: _Attention) -> bool:
    value, width = torch.TensorType.of(attention.value), attention.width
    if value is None or len(value.shape) != 3 or value.shape[2] != width or value.element not in torch.FLOATS:
        return False
    shapes = ((3 * width, width), (3 * width,), (width, width), (width,))
    if not _have((*attention.of_inputs, *attention.of_output), shapes, value.element):
        return False
    if torch.is_none(attention.mask):
        return True
    mask, (batch, length, _width) = torch.TensorType.of(attention.mask), value.shape
    masks = {
        _BETWEEN: (length, length),
        _PADDING: (batch, length),
        _WHOLE: (batch, attention.heads, length, length),
    }
    expected = masks.get(-1 if (found := torch.integer_of(attention.mask_type)) is None else found)
    return mask is not None and mask.shape == expected and mask.element in ("i1", *torch.FLOATS)


def _is_layer(op: ir.Operation, width: int) -> bool:
    given, element = list(op.operands), _type(op.operands[0]).element
    known = [torch.boolean_of(given[7]), torch.boolean_of(given[8]), torch.number_of(given[9])]
    inner = torch.TensorType.of(given[14])
    if None in known or inner is None or len(inner.shape) != 2 or inner.shape[0] is None:
        return False
    shapes = ((width,),) * 4, ((inner.shape[0], width), (inner.shape[0],), (width, inner.shape[0]), (width,))
    return _have(given[10:18], (*shapes[0], *shapes[1]), element)


def _have(values: Sequence[ir.Value], shapes: Sequence[tuple[int, ...]], element: str) -> bool:
    types = [torch.TensorType.of(one) for one in values]
    return types == [torch.TensorType(shape, element) for shape in shapes]


def _layer(op: ir.Operation, attention: _Attention) -> ir.Value:
    given = list(op.operands)
    gelu, first = torch.boolean_of(given[7]), torch.boolean_of(given[8])
    eps, norms, (w_in, b_in, w_out, b_out) = given[9], (given[10:12], given[12:14]), given[14:18]

    def normed(value: ir.Value, which: int) -> ir.Value:
        type_ = _type(value)
        sizes = torch.integers([type_.shape[-1] or 0])
        return torch.apply("aten.layer_norm", [value, sizes, *norms[which], eps, torch.boolean(False)], type_)

    def fed(value: ir.Value) -> ir.Value:
        inner = _linear(value, w_in, b_in)
        name, more = ("aten.gelu", [torch.string("none")]) if gelu else ("aten.relu", [])
        return _linear(torch.apply(name, [inner, *more], _type(inner)), w_out, b_out)

    source = normed(attention.value, 0) if first else attention.value
    attended, _weights = _attended(attention, weighed=False, source=source)
    value = _add(attention.value, attended)
    if first:
        return _add(value, fed(normed(value, 1)))
    value = normed(value, 0)
    return normed(_add(value, fed(value)), 1)


def _attended(
    attention: _Attention, *, weighed: bool, source: ir.Value | None = None
) -> tuple[ir.Value, ir.Value | None]:
    """What attention makes of ``source`` (by default its own value), and its weights where they are asked for."""
    value = attention.value if source is None else source
    product = _linear(value, *attention.of_inputs)
    width, heads = attention.width, attention.heads
    query, key, values = (
        _heads(torch.sliced(product, 2, k * width, (k - 2) * width or None), heads) for k in range(3)
    )
    type_, weights = _type(query), None
    if weighed or not torch.is_none(attention.mask):
        weights = _weights(attention, query, key)
        mixed = torch.apply("aten.matmul", [weights, values], type_)
    else:
        no = torch.boolean(False)
        rest = [torch.none(), torch.real(0.0), no, torch.none(), no]
        mixed = torch.apply("aten.scaled_dot_product_attention", [query, key, values, *rest], type_)
    mixed = _swapped(mixed, 1, 2)
    merged = torch.TensorType((*_type(mixed).shape[:2], width), type_.element)
    joined = torch.apply("aten.flatten.using_ints", [mixed, torch.integer(2), torch.integer(3)], merged)
    return _linear(joined, *attention.of_output), weights


def _weights(attention: _Attention, query: ir.Value, key: ir.Value) -> ir.Value:
    """The softmax over what each position attends to: [batch, head, from, to]."""
    type_ = _type(query)
    batch, heads, length, size = type_.shape
    made = torch.TensorType((batch, heads, length, length), type_.element)
    scale = torch.real(1.0 / sqrt(size or 1))
    query = torch.apply("aten.mul.Scalar", [query, scale], type_)
    scores = torch.apply("aten.matmul", [query, _swapped(key, 2, 3)], made)
    if not torch.is_none(attention.mask):
        hidden = torch.apply(
            "aten.where.ScalarSelf", [_hidden(attention), torch.real(float("-inf")), scores], made
        )
        scores = hidden
    return torch.apply("aten.softmax.int", [scores, torch.integer(3), torch.none()], made)


def _hidden(attention: _Attention) -> ir.Value:
    """The mask as truth values of four dimensions, which hide where they are true."""
    mask, which = attention.mask, torch.integer_of(attention.mask_type)
    type_ = _type(mask)
    if type_.element != "i1":
        type_ = torch.TensorType(type_.shape, "i1")
        mask = torch.apply("aten.ne.Scalar", [mask, torch.real(0.0)], type_)
    for dim in {_BETWEEN: (0, 0), _PADDING: (1, 1)}.get(which or _BETWEEN, ()):
        type_ = torch.TensorType((*type_.shape[:dim], 1, *type_.shape[dim:]), "i1")
        mask = torch.apply("aten.unsqueeze", [mask, torch.integer(dim)], type_)
    return mask


def _heads(value: ir.Value, heads: int) -> ir.Value:
    """[batch, position, width] as [batch, head, position, width of a head]."""
    type_ = _type(value)
    sizes = (heads, (type_.shape[2] or 0) // heads)
    made = torch.TensorType((*type_.shape[:2], *sizes), type_.element)
    apart = torch.apply("aten.unflatten.int", [value, torch.integer(2), torch.integers(sizes)], made)
    return _swapped(apart, 1, 2)


def _swapped(value: ir.Value, one: int, other: int) -> ir.Value:
    type_ = _type(value)
    sizes = list(type_.shape)
    sizes[one], sizes[other] = sizes[other], sizes[one]
    made = torch.TensorType(tuple(sizes), type_.element)
    return torch.apply("aten.transpose.int", [value, torch.integer(one), torch.integer(other)], made)


def _linear(value: ir.Value, weight: ir.Value, bias: ir.Value) -> ir.Value:
    type_ = _type(value)
    made = type_.with_size(len(type_.shape) - 1, _type(weight).shape[0])
    return torch.apply("aten.linear", [value, weight, bias], made)


def _add(one: ir.Value, other: ir.Value) -> ir.Value:
    return torch.apply("aten.add.Tensor", [one, other, torch.integer(1)], _type(one))


def _type(value: ir.Value) -> torch.TensorType:
    type_ = torch.TensorType.of(value)
    assert type_ is not None
    return type_
