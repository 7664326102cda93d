"""Convolutions of the standard that IREE takes in another form."""

from __future__ import annotations

from .writer import NotDefined, Writer, defines

_MOST_GROUPS = 256
_TAKEN = ("dilations", "kernel_shape", "strides", "output_padding")


@defines("ConvTranspose", domain="")
def _transposed(w: Writer) -> None:
    """Group by group, and what the pads take away cut off behind: IREE has neither groups of several channels nor pads that differ."""
    value, weights, bias = (w.operand(index) for index in range(3))
    groups, dims = w.attribute("group", 1), w.rank(value) - 2
    given = {name: found for name in _TAKEN if (found := w.attribute(name, None)) is not None}
    if groups > _MOST_GROUPS:
        raise NotDefined("many groups")
    pads = _pads(w, w.attribute("auto_pad", "NOTSET"), dims)
    each = w.size(weights, 0) // groups
    parts = []
    for number in range(groups):
        first = number * each
        one = value if groups == 1 else w.slice(value, first, first + each, 1)
        of = weights if groups == 1 else w.slice(weights, first, first + each, 0)
        parts.append(w.op("ConvTranspose", one, of, **given))
    made = parts[0] if groups == 1 else w.op("Concat", *parts, axis=1)
    for dim in range(dims):
        before, after = pads[dim], pads[dims + dim]
        if before or after:
            made = w.slice(made, before, -after if after else 2**62, 2 + dim)
    if bias:
        made = w.op("Add", made, w.reshape(bias, 1, -1, *[1] * dims))
    w.end(0, made)


def _pads(w: Writer, auto: str, dims: int) -> list[int]:
    """What is taken away before and after in each dimension: as the node says, or so that the result has the size that it states, or that
    is the input's times the stride."""
    stated = w.attribute("output_shape", None)
    if not stated and auto in ("NOTSET", "VALID"):
        return list(w.attribute("pads", None) or [0] * (2 * dims))
    value, weights = w.operand(0), w.operand(1)
    strides = list(w.attribute("strides", None) or [1] * dims)
    dilations = list(w.attribute("dilations", None) or [1] * dims)
    added = list(w.attribute("output_padding", None) or [0] * dims)
    before, after = [], []
    for dim in range(dims):
        size, kernel = w.size(value, dim + 2), w.size(weights, dim + 2)
        whole = strides[dim] * (size - 1) + added[dim] + (kernel - 1) * dilations[dim] + 1
        total = whole - (list(stated)[dim - dims] if stated else size * strides[dim])
        if total < 0:
            raise NotDefined("a result that is larger than what is computed")
        small, large = total // 2, total - total // 2
        before.append(small if auto == "SAME_UPPER" else large)
        after.append(large if auto == "SAME_UPPER" else small)
    return before + after
