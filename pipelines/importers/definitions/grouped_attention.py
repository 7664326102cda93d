"""Attention of ONNX Runtime with fewer key heads than query heads, its cache, and rotary embeddings."""

from __future__ import annotations

from .attention import LEAST, allowed, heads
from .writer import NotDefined, Writer, defines


@defines("RotaryEmbedding")
def _rotary(w: Writer) -> None:
    w.only(is_packed_batching=0, scale=1.0)
    value, places, cos, sin = (w.operand(index) for index in range(4))
    count, turned = w.attribute("num_heads", 0), w.attribute("rotary_embedding_dim", 0)
    if w.rank(places) == 1:  # where the sequence begins
        sequence = w.size_of(value, w.rank(value) - 2 if w.rank(value) == 4 else 1)
        places = w.along("Unsqueeze", w.op("Add", w.op("Cast", places, to=7), w.places(sequence)), [0])
    cos, sin = (w.op("Gather", table, places, axis=0) for table in (cos, sin))
    if w.rank(value) == 4:
        w.end(0, turn(w, value, w.along("Unsqueeze", cos, [1]), w.along("Unsqueeze", sin, [1])))
        return
    width = w.size(value, 2)
    size = width // count if turned and count else 2 * w.size(cos, -1)
    split = w.reshape(value, 0, 0, width // size, size)
    cos, sin = (w.along("Unsqueeze", one, [2]) for one in (cos, sin))
    w.end(0, w.reshape(turn(w, split, cos, sin), 0, 0, width))


def turn(w: Writer, value: str, cos: str, sin: str, interleaved: int | None = None) -> str:
    """The first elements of each row of ``value``, twice as many as in ``cos``, turned in pairs; the others as they are."""
    half, size = w.size(cos, -1), w.size(value, -1)
    first = value if 2 * half == size else w.slice(value, 0, 2 * half, 3)
    if w.attribute("interleaved", 0) if interleaved is None else interleaved:
        pairs = w.reshape(first, 0, 0, 0, half, 2)
        left, right = (w.along("Squeeze", w.slice(pairs, at, at + 1, 4), [4]) for at in (0, 1))
    else:
        left, right = w.slice(first, 0, half, 3), w.slice(first, half, 2 * half, 3)
    parts = [
        w.op("Sub", w.op("Mul", left, cos), w.op("Mul", right, sin)),
        w.op("Add", w.op("Mul", right, cos), w.op("Mul", left, sin)),
    ]
    if w.attribute("interleaved", 0) if interleaved is None else interleaved:
        joined = w.op("Concat", *(w.along("Unsqueeze", one, [4]) for one in parts), axis=4)
        made = w.reshape(joined, 0, 0, 0, 2 * half)
    else:
        made = w.op("Concat", *parts, axis=3)
    return made if 2 * half == size else w.op("Concat", made, w.slice(value, 2 * half, size, 3), axis=3)


@defines("GroupQueryAttention")
def _grouped(w: Writer) -> None:
    """The new keys follow those of the cache that count, ``seqlens_k`` + 1 with the new ones, in each row of the batch."""
    w.only(smooth_softmax=0, qk_output=0, k_quant_type="NONE", v_quant_type="NONE", kv_cache_bit_width=0)
    past_key, past_value, lengths = w.operand(3), w.operand(4), w.operand(5)
    if w.operand(11) or w.result(3) or not past_key:
        raise NotDefined("a sink, scores as a result, or no cache")
    count, groups = w.attribute("num_heads", 0), w.attribute("kv_num_heads", 0)
    query, key, value = _projections(w, count, groups)
    sequence, cached = w.size_of(query, 2), w.size_of(past_key, 2)
    total = w.op("Add", w.op("Cast", w.reshape(lengths, -1), to=7), w.ints(1))
    past = w.along("Unsqueeze", w.op("Max", w.op("Sub", total, sequence), w.ints(0)), [1])  # [batch, 1]
    at = w.op("Add", past, w.places(sequence))  # [batch, sequence]: the place of each new token
    if w.attribute("do_rotary", 0):
        places = w.operand(9) or at
        cos, sin = (
            w.along("Unsqueeze", w.op("Gather", w.operand(index), places, axis=0), [1]) for index in (7, 8)
        )
        interleaved = w.attribute("rotary_interleaved", 0)
        query, key = (turn(w, one, cos, sin, interleaved) for one in (query, key))
    keeps_length = w.same_size(past_key, 2, w.result(1), 2) if w.result(1) else False
    length = cached if keeps_length else w.op("Add", cached, sequence)
    columns = w.places(length)
    key, value = (w.op("Concat", old, new, axis=2) for old, new in ((past_key, key), (past_value, value)))
    if keeps_length or w.sizes(query)[0] != 1:  # rows may have caches of different lengths
        index = _sources(w, columns, past, sequence, cached)
        key, value = (_gathered(w, both, index) for both in (key, value))
    w.end(1, key)
    w.end(2, value)
    rows = w.along("Unsqueeze", at, [2])  # [batch, sequence, 1]
    counts = w.op("Not", w.op("Greater", columns, rows))
    if (window := w.attribute("local_window_size", -1)) > 0:
        counts = w.op("And", counts, w.op("Greater", columns, w.op("Sub", rows, w.ints(window))))
    added = w.along("Unsqueeze", allowed(w, counts, query, LEAST), [1])
    w.end(0, _attend(w, (query, key, value), added, count // groups))


def _projections(w: Writer, count: int, groups: int) -> list[str]:
    query, key, value = (w.operand(index) for index in range(3))
    if not key:
        size = w.size(query, 2) // (count + 2 * groups)
        query, key, value = w.split(query, [count * size, groups * size, groups * size], 2)
    return [heads(w, one, many) for one, many in ((query, count), (key, groups), (value, groups))]


def _sources(w: Writer, columns: str, past: str, sequence: str, cached: str) -> str:
    """Where each place of the cache comes from, in the old cache with the new keys behind it: [batch, places]."""
    new = w.op("Sub", columns, past)
    is_new = w.op("And", w.op("Less", new, sequence), w.op("Not", w.op("Less", new, w.ints(0))))
    last = w.op("Sub", w.op("Add", cached, sequence), w.ints(1))
    return w.op("Where", is_new, w.op("Add", new, cached), w.op("Min", columns, last))


def _gathered(w: Writer, both: str, index: str) -> str:
    """Of ``both``, [batch, heads, places, size], the places ``index``, [batch, places]."""
    wide = w.along("Unsqueeze", index, [1, 3])
    shape = w.ints(1, w.size(both, 1), 1, w.size(both, 3))
    return w.op("GatherElements", both, w.op("Expand", wide, shape), axis=2)


def _attend(w: Writer, operands: tuple[str, str, str], added: str, each: int) -> str:
    """``each`` query heads share a key head; ``added`` is [batch, 1, sequence, keys]."""
    query, key, value = operands
    groups, size = w.size(key, 1), w.size(query, 3)
    rows = w.op(
        "Reshape", query, w.op("Concat", w.ints(0, groups, each), w.size_of(query, 2), w.ints(size), axis=0)
    )
    key, value, added = (w.along("Unsqueeze", one, [2]) for one in (key, value, added))
    scale = w.attribute("scale", 0.0) or size**-0.5
    scores = w.op("MatMul", w.op("Mul", rows, w.number(scale, rows)), w.swapped(key))
    if cap := w.attribute("softcap", 0.0):
        scores = w.op("Mul", w.op("Tanh", w.op("Div", scores, w.number(cap, rows))), w.number(cap, rows))
    scores = w.op("Add", scores, added)
    if bias := w.operand(10):  # [batch, heads, sequence, keys]
        split = (
            w.along("Unsqueeze", bias, [2]) if w.size(bias, 1) == 1 else _grouped_bias(w, bias, groups, each)
        )
        scores = w.op("Add", scores, split)
    mixed = w.op("MatMul", w.op("Softmax", scores, axis=4), value)
    return w.reshape(w.transpose(mixed, 0, 3, 1, 2, 4), 0, 0, groups * each * size)


def _grouped_bias(w: Writer, bias: str, groups: int, each: int) -> str:
    sizes = w.op("Concat", w.ints(0, groups, each), w.size_of(bias, 2), w.size_of(bias, 3), axis=0)
    return w.op("Reshape", bias, sizes)
