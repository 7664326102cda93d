"""Layers, blocks and small models of ONNX whose batch, sequence or image size the call decides.

For `bench.onnx_programs`; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import numpy as np

from .entries import INT, ints, of

HEADS = """
    q = MatMul(x, wq) k = MatMul(x, wk) v = MatMul(x, wv)
    q4 = Reshape(q, heads) k4 = Reshape(k, heads) v4 = Reshape(v, heads)
    qt = Transpose<perm=[0,2,1,3]>(q4) kt = Transpose<perm=[0,2,3,1]>(k4) vt = Transpose<perm=[0,2,1,3]>(v4)
    raw = MatMul(qt, kt) scores = Mul(raw, scale)
"""
TAIL = """
    o = MatMul(p, vt) ot = Transpose<perm=[0,2,1,3]>(o) flat = Reshape(ot, back) y = MatMul(flat, wo)
"""
WEIGHTS = dict(
    wq=(32, 32), wk=(32, 32), wv=(32, 32), wo=(32, 32), heads=np.array([0, 0, 4, 8], INT), back=np.array([0, 0, 32], INT), scale=np.float32(0.35)
)  # fmt: skip


of("attention", "float[b,s,32] x => y", f"{HEADS} p = Softmax<axis=-1>(scores) {TAIL}", **WEIGHTS)
of(
    "attention_masked",
    "float[b,s,32] x, int64[b,s] mask => y",
    f"""{HEADS}
    m1 = Unsqueeze(mask, axes12) mf = Cast<to=1>(m1) inv = Sub(one, mf) bias = Mul(inv, low) sm = Add(scores, bias)
    p = Softmax<axis=-1>(sm) {TAIL}""",
    axes12=ints(1, 2),
    one=np.float32(1),
    low=np.float32(-1e4),
    given={"mask": np.tril(np.ones((3, 9)), 5)},
    **WEIGHTS,
)
of(
    "attention_causal_trilu",
    "float[b,s,32] x => y",
    f"""{HEADS}
    shape = Shape(scores) low = ConstantOfShape<value = float[1] {{-10000.0}}>(shape) bias = Trilu<upper=1>(low, k1) sm = Add(scores, bias)
    p = Softmax<axis=-1>(sm) {TAIL}""",
    k1=np.array(1, INT),
    **WEIGHTS,
)
of(
    "attention_causal_range",
    "float[b,s,32] x => y",
    f"""{HEADS}
    shape = Shape(x) length = Gather(shape, i1) pos = Range(i0, length, i1) rows = Unsqueeze(pos, a1) columns = Unsqueeze(pos, a0)
    later = Greater(columns, rows) sm = Where(later, low, scores) p = Softmax<axis=-1>(sm) {TAIL}""",
    i0=np.array(0, INT),
    i1=np.array(1, INT),
    a0=ints(0),
    a1=ints(1),
    low=np.float32(-1e4),
    **WEIGHTS,
)
of(
    "attention_shape_concat",
    "float[b,s,32] x => y",
    """
    shape = Shape(x) b = Gather(shape, n0) s = Gather(shape, n1) bu = Unsqueeze(b, a0) su = Unsqueeze(s, a0)
    split = Concat<axis=0>(bu, su, four, eight) joined = Concat<axis=0>(bu, su, all)
    q = MatMul(x, wq) k = MatMul(x, wk) q4 = Reshape(q, split) k4 = Reshape(k, split)
    qt = Transpose<perm=[0,2,1,3]>(q4) kt = Transpose<perm=[0,2,3,1]>(k4) kv = Transpose<perm=[0,2,1,3]>(k4)
    raw = MatMul(qt, kt) p = Softmax<axis=-1>(raw) o = MatMul(p, kv) ot = Transpose<perm=[0,2,1,3]>(o) y = Reshape(ot, joined)""",
    n0=np.array(0, INT),
    n1=np.array(1, INT),
    a0=ints(0),
    four=ints(4),
    eight=ints(8),
    all=ints(-1),
    wq=(32, 32),
    wk=(32, 32),
)
of(
    "attention_minus_one",
    "float[b,s,32] x => y",
    """
    q = MatMul(x, wq) q4 = Reshape(q, heads) qt = Transpose<perm=[0,2,1,3]>(q4) kt = Transpose<perm=[0,2,3,1]>(q4)
    raw = MatMul(qt, kt) p = Softmax<axis=-1>(raw) o = MatMul(p, qt) ot = Transpose<perm=[0,2,1,3]>(o) y = Reshape(ot, back)""",
    heads=ints(0, -1, 4, 8),
    back=ints(0, -1, 32),
    wq=(32, 32),
)
of(
    "qkv_split",
    "float[b,s,32] x => y",
    """
    all = MatMul(x, w) q, k, v = Split<axis=2, num_outputs=3>(all) kt = Transpose<perm=[0,2,1]>(k) raw = MatMul(q, kt)
    p = Softmax<axis=-1>(raw) y = MatMul(p, v)""",
    w=(32, 96),
)
of(
    "gqa_expand",
    "float[b,4,s,16] k => y",
    """
    u = Unsqueeze(k, a2) shape = Shape(k) b = Slice(shape, z, o) rest = Slice(shape, two, four)
    to = Concat<axis=0>(b, heads, rest) e = Expand(u, to) yshape = Concat<axis=0>(b, eight, rest) y = Reshape(e, yshape)""",
    a2=ints(2),
    z=ints(0),
    o=ints(1),
    two=ints(2),
    four=ints(4),
    heads=ints(4, 2),
    eight=ints(8),
)
of(
    "kv_append",
    "float[b,4,s,8] cache, float[b,4,1,8] new => y, z",
    "y = Concat<axis=2>(cache, new) z = ReduceSum(y, a2)",
    a2=ints(2),
)
of("kv_append_empty", "float[b,4,0,8] cache, float[b,4,t,8] new => y", "y = Concat<axis=2>(cache, new)")
of(
    "rope",
    "float[b,s,16] x => y",
    """
    shape = Shape(x) length = Gather(shape, n1) pos = Range(n0, length, n1) pf = Cast<to=1>(pos) pu = Unsqueeze(pf, a1) angles = MatMul(pu, freq)
    c = Cos(angles) sn = Sin(angles) l = Slice(x, z, eight, a2) h = Slice(x, eight, sixteen, a2) lc = Mul(l, c) hs = Mul(h, sn) ls = Mul(l, sn) hc = Mul(h, c)
    f = Sub(lc, hs) g = Add(ls, hc) y = Concat<axis=-1>(f, g)""",
    n0=np.array(0, INT),
    n1=np.array(1, INT),
    a1=ints(1),
    a2=ints(2),
    z=ints(0),
    eight=ints(8),
    sixteen=ints(16),
    freq=(1, 8),
)
of(
    "positions",
    "int64[b,s] ids => y",
    """
    e = Gather(table, ids) shape = Shape(ids) length = Gather(shape, a1) all = Slice(positions, z, length) y = Add(e, all)""",
    table=(50, 16),
    positions=(64, 16),
    a1=ints(1),
    z=ints(0),
)
of(
    "bert_embeddings",
    "int64[b,s] ids, int64[b,s] types => y",
    """
    e = Gather(words, ids) t = Gather(kinds, types) shape = Shape(ids) length = Gather(shape, a1) all = Slice(places, z, length, a1) p = Gather(table, all)
    s1 = Add(e, t) s2 = Add(s1, p) y = LayerNormalization<axis=-1>(s2, g, bb)""",
    words=(50, 16),
    kinds=(7, 16),
    places=np.arange(64, dtype=INT)[None],
    table=(64, 16),
    a1=ints(1),
    z=ints(0),
    g=(16,),
    bb=(16,),
)
of("layer_norm", "float[b,s,16] x => y", "y = LayerNormalization<axis=-1>(x, g, c)", g=(16,), c=(16,))
of(
    "layer_norm_by_hand",
    "float[b,s,16] x => y",
    """
    m = ReduceMean(x, a) d = Sub(x, m) q = Pow(d, two) v = ReduceMean(q, a) ve = Add(v, eps) r = Sqrt(ve) n = Div(d, r) y = Mul(n, g)""",
    a=ints(-1),
    two=np.float32(2),
    eps=np.float32(1e-5),
    g=(16,),
)
of(
    "rms_norm_by_hand",
    "float[b,s,16] x => y",
    "q = Mul(x, x) v = ReduceMean(q, a) ve = Add(v, eps) r = Sqrt(ve) i = Reciprocal(r) n = Mul(x, i) y = Mul(n, g)",
    a=ints(-1),
    eps=np.float32(1e-5),
    g=(16,),
)
of(
    "gelu_erf",
    "float[b,s,16] x => y",
    "h = MatMul(x, w) d = Div(h, root) e = Erf(d) a = Add(e, one) m = Mul(h, a) y = Mul(m, half)",
    w=(16, 32),
    root=np.float32(1.4142135),
    one=np.float32(1),
    half=np.float32(0.5),
)
of("gemm", "float[b,16] x => y", "y = Gemm<transB=1>(x, w, c)", w=(8, 16), c=(8,))
of("gemm_alpha_beta", "float[b,16] x, float[b,8] z => y", "y = Gemm<alpha=0.5, beta=2.0>(x, w, z)", w=(16, 8))
of("gemm_trans_a", "float[16,b] x => y", "y = Gemm<transA=1, transB=1>(x, w)", w=(8, 16))
of("matmul_batches", "float[b,1,s,8] x, float[4,8,t] z => y", "y = MatMul(x, z)")
of("matmul_vector", "float[b,s,8] x, float[8] z => y", "y = MatMul(x, z)")
of("matmul_row", "float[8] x, float[b,8,t] z => y", "y = MatMul(x, z)")
of(
    "matmul_broadcast",
    "float[b,s,8] x, float[a,8,t] z => y",
    "y = MatMul(x, z)",
    given={"z": np.arange(56).reshape(1, 8, 7)},
)
of(
    "add_broadcast_unknown",
    "float[b,s] x, float[a,s] z => y",
    "y = Add(x, z)",
    given={"z": np.arange(9).reshape(1, 9)},
)
of(
    "add_broadcast_left",
    "float[a,s] x, float[b,s] z => y",
    "y = Add(x, z)",
    given={"x": np.arange(9).reshape(1, 9)},
)
of(
    "where_broadcast_unknown",
    "bool[a,s] q, float[b,s] x => y",
    "y = Where(q, x, low)",
    given={"q": np.arange(9).reshape(1, 9) % 2},
    low=np.float32(-1),
)
of("mul_outer", "float[s] x, float[t] z => y", "a = Unsqueeze(x, a1) y = Mul(a, z)", a1=ints(1))
