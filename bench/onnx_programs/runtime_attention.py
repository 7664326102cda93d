"""Programs of the attentions and rotary embeddings that ONNX Runtime's optimiser for transformers adds to the standard.

Written as in `entries`; a letter is a size that the call decides. For `bench.onnx_programs` and the tests; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import numpy as np

from .entries import r
from .model_table import Table
from .runtime_ops import EMBED, U8, F

TABLE = Table(opset=17)
of = TABLE.of

# Attention.

_LENGTHS = {"m": np.array([5, 7, 3])}
_RAW = {"m": np.arange(21).reshape(3, 7) % 7 < [[5], [7], [3]]}
_QKV = dict(w=(16, 48), c=(48,))
of("attention", "float[b,7,16] x => y", "y = com.microsoft.Attention<num_heads=2>(x, w, c)", **_QKV)
of(
    "attention_lengths",
    "float[b,7,16] x, int32[b] m => y",
    "y = com.microsoft.Attention<num_heads=2>(x, w, c, m)",
    _LENGTHS,
    **_QKV,
)
of(
    "attention_mask",
    "float[b,t,16] x, int32[b,t] m => y",
    "y = com.microsoft.Attention<num_heads=2>(x, w, c, m)",
    _RAW,
    **_QKV,
)
of(
    "attention_causal",
    "float[b,t,16] x => y",
    "y = com.microsoft.Attention<num_heads=2, unidirectional=1>(x, w, c)",
    **_QKV,
)
of(
    "attention_past",
    "float[b,t,16] x, float[2,b,2,5,8] v => y, p",
    "y, p = com.microsoft.Attention<num_heads=2, unidirectional=1>(x, w, c, , v)",
    **_QKV,
)
of(
    "attention_bias",
    "float[b,7,16] x, float[b,2,7,7] m => y",
    "y = com.microsoft.Attention<num_heads=2, scale=0.2>(x, w, c, , , m)",
    **_QKV,
)
of(
    "attention_sizes",
    "float[b,7,16] x => y",
    "y = com.microsoft.Attention<num_heads=2, qkv_hidden_sizes=[16, 16, 8]>(x, w, c)",
    w=(16, 40),
    c=(40,),
)
of(
    "attention_quantised",
    "uint8[b,7,16] x, int32[b] m => y",
    "y = com.microsoft.QAttention<num_heads=2>(x, w, c, s, t, m, z, u)",
    _LENGTHS,
    w=r(16, 48, element="int8"),
    c=(48,),
    s=F(0.02),
    t=F(0.01),
    z=U8,
    u=np.int8(0),
)
of(
    "attention_dynamic",
    "float[b,t,16] x, int32[b] m => y",
    "a, s, z = DynamicQuantizeLinear(x) y = com.microsoft.QAttention<num_heads=2>(a, w, c, s, t, m, z, u)",
    _LENGTHS,
    w=r(16, 48, element="int8"),
    c=(48,),
    t=F(0.01),
    u=np.int8(0),
)
_THREE = "float[b,7,16] x, float[b,n,16] k, float[b,n,16] v"
of("multi_head", f"{_THREE} => y", "y = com.microsoft.MultiHeadAttention<num_heads=2>(x, k, v, c)", c=(48,))
of(
    "multi_head_mask",
    f"{_THREE}, int32[b,n] m => y",
    "y = com.microsoft.MultiHeadAttention<num_heads=2>(x, k, v, , m)",
    {"m": np.arange(27).reshape(3, 9) % 9 < [[5], [9], [3]]},
)
of(
    "multi_head_bias",
    f"{_THREE}, float[b,2,7,n] m => y",
    "y = com.microsoft.MultiHeadAttention<num_heads=2>(x, k, v, , , m)",
)
of(
    "multi_head_heads",
    "float[b,7,16] x, float[b,2,n,8] k, float[b,2,n,8] v => y",
    "y = com.microsoft.MultiHeadAttention<num_heads=2>(x, k, v)",
)
of(
    "multi_head_past",
    "float[b,7,16] x, float[b,7,16] k, float[b,7,16] v, float[b,2,n,8] i, float[b,2,n,8] j => y, p, q",
    "y, p, q = com.microsoft.MultiHeadAttention<num_heads=2, unidirectional=1>(x, k, v, , , , i, j)",
)

of(
    "encoder_layer",
    "int32[b,7] x, int32[b,7] g, int32[b,7] m => y",
    "p, n = com.microsoft.EmbedLayerNormalization(x, g, a, e, f, w, c, m) q = com.microsoft.Attention<num_heads=2>(p, i, j, n) t = com.microsoft.SkipLayerNormalization(q, p, w, c) u = MatMul(t, k) v = com.microsoft.BiasGelu(u, l) o = MatMul(v, z) y = com.microsoft.SkipLayerNormalization(o, t, w, c)",
    {"g": np.arange(21).reshape(3, 7) % 2, "m": np.arange(21).reshape(3, 7) % 7 < [[5], [7], [3]]},
    i=(16, 48),
    j=(48,),
    k=(16, 32),
    l=(32,),
    z=(32, 16),
    **EMBED,
)

# Rotary embeddings and grouped heads.

_TABLES = dict(i=(16, 4), j=(16, 4))
_PLACES = {"q": np.arange(21).reshape(3, 7) % 16}
of(
    "rotary",
    "float[b,7,16] x, int64[b,7] q => y",
    "y = com.microsoft.RotaryEmbedding(x, q, i, j)",
    _PLACES,
    **_TABLES,
)
of(
    "rotary_interleaved",
    "float[b,7,16] x, int64[b,7] q => y",
    "y = com.microsoft.RotaryEmbedding<interleaved=1>(x, q, i, j)",
    _PLACES,
    **_TABLES,
)
of(
    "rotary_heads",
    "float[b,2,7,8] x, int64[b,7] q => y",
    "y = com.microsoft.RotaryEmbedding(x, q, i, j)",
    _PLACES,
    **_TABLES,
)
of(
    "rotary_offset",
    "float[b,t,16] x, int64[1] q => y",
    "y = com.microsoft.RotaryEmbedding(x, q, i, j)",
    {"q": [3]},
    **_TABLES,
)
of(
    "rotary_part",
    "float[b,7,16] x, int64[b,7] q => y",
    "y = com.microsoft.RotaryEmbedding<num_heads=2, rotary_embedding_dim=4>(x, q, i, j)",
    _PLACES,
    i=(16, 2),
    j=(16, 2),
)
of(
    "rotary_heads_part",
    "float[b,2,7,8] x, int64[b,7] q => y",
    "y = com.microsoft.RotaryEmbedding<num_heads=2, rotary_embedding_dim=4>(x, q, i, j)",
    _PLACES,
    i=(16, 2),
    j=(16, 2),
)
_GROUPED = "float[b,s1,64] x, float[b,s1,32] k, float[b,s1,32] v, float[b,2,s2,16] i, float[b,2,s2,16] j, int32[b] l, int32[1] t"
_NODE = "com.microsoft.GroupQueryAttention<num_heads=4, kv_num_heads=2"


def _grouped(new: int, past: int) -> str:
    return _GROUPED.replace("s1", str(new)).replace("s2", str(past))


of(
    "grouped_first",
    f"{_grouped(5, 0)} => y, p, q",
    f"y, p, q = {_NODE}>(x, k, v, i, j, l, t)",
    {"l": [4, 4, 4], "t": [5]},
)
of(
    "grouped_next",
    f"{_grouped(1, 4)} => y, p, q",
    f"y, p, q = {_NODE}>(x, k, v, i, j, l, t)",
    {"l": [4, 4, 4], "t": [5]},
)
of(
    "grouped_window",
    f"{_grouped(1, 6)} => y, p, q",
    f"y, p, q = {_NODE}, local_window_size=3>(x, k, v, i, j, l, t)",
    {"l": [6, 6, 6], "t": [7]},
)
of(
    "grouped_cap",
    f"{_grouped(5, 0)} => y, p, q",
    f"y, p, q = {_NODE}, softcap=2.0>(x, k, v, i, j, l, t)",
    {"l": [4, 4, 4], "t": [5]},
)
of(
    "grouped_rotary",
    f"{_grouped(1, 4)} => y, p, q",
    f"y, p, q = {_NODE}, do_rotary=1>(x, k, v, i, j, l, t, e, f)",
    {"l": [4, 4, 4], "t": [5]},
    e=(16, 8),
    f=(16, 8),
)
of(
    "grouped_rotary_first",
    f"{_grouped(5, 0)} => y, p, q",
    f"y, p, q = {_NODE}, do_rotary=1, rotary_interleaved=1>(x, k, v, i, j, l, t, e, f)",
    {"l": [4, 4, 4], "t": [5]},
    e=(16, 8),
    f=(16, 8),
)
of(
    "grouped_open",
    "float[1,m,64] x, float[1,m,32] k, float[1,m,32] v, float[1,2,n,16] i, float[1,2,n,16] j, int32[1] l, int32[1] t => y, p, q",
    f"y, p, q = {_NODE}, do_rotary=1>(x, k, v, i, j, l, t, e, f)",
    {"l": [13], "t": [14]},
    e=(16, 8),
    f=(16, 8),
)
of(
    "grouped_alone",
    "float[1,1,128] x, float[1,2,n,16] i, float[1,2,n,16] j, int32[1] l, int32[1] t => y, p, q",
    f"y, p, q = {_NODE}, softcap=3.0>(x, , , i, j, l, t)",
    {"l": [9], "t": [10]},
)
of(
    "grouped_packed",
    "float[b,1,128] x, float[b,2,4,16] i, float[b,2,4,16] j, int32[b] l, int32[1] t => y, p, q",
    f"y, p, q = {_NODE}>(x, , , i, j, l, t)",
    {"l": [4, 4, 4], "t": [5]},
)
