"""Layers, blocks and small models of ONNX whose batch, sequence or image size the call decides.

For `bench.onnx_programs`; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import numpy as np

from .entries import of

INT = np.int64
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


def ints(*values: int) -> np.ndarray:
    return np.array(values, INT)


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
of("conv_batch", "float[b,3,12,12] x => y", "y = Conv<pads=[1,1,1,1]>(x, w, c)", w=(8, 3, 3, 3), c=(8,))
of("conv_hw", "float[b,3,h,w] x => y", "y = Conv<pads=[1,1,1,1]>(x, k, c)", k=(8, 3, 3, 3), c=(8,))
of(
    "conv_stride_hw",
    "float[b,3,h,w] x => y",
    "y = Conv<pads=[1,1,1,1], strides=[2,2]>(x, k, c)",
    k=(8, 3, 3, 3),
    c=(8,),
)
of(
    "conv_same_upper_hw",
    "float[b,3,h,w] x => y",
    'y = Conv<auto_pad="SAME_UPPER", strides=[2,2]>(x, k)',
    k=(8, 3, 3, 3),
)
of(
    "conv_same_lower_hw",
    "float[b,3,h,w] x => y",
    'y = Conv<auto_pad="SAME_LOWER", strides=[2,2]>(x, k)',
    k=(8, 3, 3, 3),
)
of(
    "conv_asymmetric_hw",
    "float[b,3,h,w] x => y",
    "y = Conv<pads=[0,0,1,1], strides=[2,2]>(x, k)",
    k=(8, 3, 3, 3),
)
of("conv_depthwise_hw", "float[b,8,h,w] x => y", "y = Conv<pads=[1,1,1,1], group=8>(x, k)", k=(8, 1, 3, 3))
of("conv_grouped_hw", "float[b,8,h,w] x => y", "y = Conv<group=4>(x, k)", k=(16, 2, 3, 3))
of("conv1d", "float[b,8,s] x => y", "y = Conv<pads=[2,0]>(x, k)", k=(16, 8, 3))
of("conv3d", "float[b,2,h,w,6] x => y", "y = Conv(x, k)", k=(4, 2, 3, 3, 3))
of(
    "conv_transpose",
    "float[b,4,h,w] x => y",
    "y = ConvTranspose<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>(x, k)",
    k=(4, 6, 3, 3),
)
of(
    "conv_transpose_same",
    "float[b,4,h,w] x => y",
    'y = ConvTranspose<strides=[2,2], auto_pad="SAME_UPPER">(x, k)',
    k=(4, 6, 3, 3),
)
of(
    "conv_transpose_grouped",
    "float[b,4,h,w] x => y",
    "y = ConvTranspose<strides=[2,2], group=2>(x, k)",
    k=(4, 3, 2, 2),
)
of(
    "conv_bn_relu",
    "float[b,3,h,w] x => y",
    "a = Conv<pads=[1,1,1,1]>(x, k) n = BatchNormalization(a, g, c, m, v) r = Relu(n) y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)",
    k=(8, 3, 3, 3),
    g=(8,),
    c=(8,),
    m=(8,),
    v=np.linspace(0.5, 2, 8, dtype=np.float32),
)
of(
    "residual",
    "float[b,8,h,w] x => y",
    "a = Conv<pads=[1,1,1,1]>(x, k) r = Relu(a) d = Conv<pads=[1,1,1,1]>(r, l) z = Add(d, x) p = GlobalAveragePool(z) f = Flatten(p) y = Gemm(f, w, c)",
    k=(8, 8, 3, 3),
    l=(8, 8, 3, 3),
    w=(8, 5),
    c=(5,),
)
of(
    "squeeze_excite",
    "float[b,8,h,w] x => y",
    "p = GlobalAveragePool(x) a = Conv(p, k) r = Relu(a) d = Conv(r, l) q = HardSigmoid(d) y = Mul(x, q)",
    k=(4, 8, 1, 1),
    l=(8, 4, 1, 1),
)
for mode, pads in (
    ("plain", ""),
    ("ceil", "ceil_mode=1,"),
    ("padded", "pads=[1,1,1,1],"),
    ("same", 'auto_pad="SAME_UPPER",'),
    ("ceil_padded", "ceil_mode=1, pads=[1,1,1,1],"),
):
    of(
        f"max_pool_{mode}",
        "float[b,3,h,w] x => y",
        f"y = MaxPool<{pads} kernel_shape=[3,3], strides=[2,2]>(x)",
    )
    of(
        f"average_pool_{mode}",
        "float[b,3,h,w] x => y",
        f"y = AveragePool<{pads} kernel_shape=[3,3], strides=[2,2]>(x)",
    )
of(
    "average_pool_counted",
    "float[b,3,h,w] x => y",
    "y = AveragePool<count_include_pad=1, pads=[1,1,1,1], kernel_shape=[3,3], strides=[2,2]>(x)",
)
of("global_max_pool", "float[b,3,h,w] x => y", "y = GlobalMaxPool(x)")
of("lp_pool", "float[b,3,h,w] x => y", "y = LpPool<kernel_shape=[2,2], strides=[2,2]>(x)")
of("instance_norm_hw", "float[b,8,h,w] x => y", "y = InstanceNormalization(x, g, c)", g=(8,), c=(8,))
of(
    "group_norm_by_hand",
    "float[b,8,h,w] x => y",
    """
    r = Reshape(x, groups) n = InstanceNormalization(r, ones, zeros) shape = Shape(x) f = Reshape(n, shape) m = Mul(f, g) y = Add(m, c)""",
    groups=ints(0, 2, -1),
    ones=np.ones(2, np.float32),
    zeros=np.zeros(2, np.float32),
    g=(8, 1, 1),
    c=(8, 1, 1),
)
of("lrn", "float[b,8,h,w] x => y", "y = LRN<size=3>(x)")
HALF = '"half_pixel"'
for name, more in {
    "nearest_asym_floor": 'mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"', "nearest": 'mode="nearest"', "linear": 'mode="linear"',
    "linear_asym": 'mode="linear", coordinate_transformation_mode="asymmetric"', "linear_align": 'mode="linear", coordinate_transformation_mode="align_corners"',
    "linear_pytorch": 'mode="linear", coordinate_transformation_mode="pytorch_half_pixel"', "cubic": 'mode="cubic"',
}.items():  # fmt: skip
    of(
        f"resize_scales_{name}",
        "float[b,3,h,w] x => y",
        f"y = Resize<{more}>(x, , scales)",
        scales=np.array([1, 1, 2, 2], np.float32),
    )
    of(
        f"resize_sizes_{name}",
        "float[b,3,h,w] x => y",
        f"shape = Shape(x) bc = Slice(shape, z, two) to = Concat<axis=0>(bc, hw) y = Resize<{more}>(x, , , to)",
        z=ints(0),
        two=ints(2),
        hw=ints(20, 24),
    )
of(
    "resize_down",
    "float[b,3,h,w] x => y",
    'y = Resize<mode="linear">(x, , scales)',
    scales=np.array([1, 1, 0.5, 0.5], np.float32),
)
of(
    "resize_like",
    "float[b,3,h,w] x, float[b,3,s,t] l => y",
    'ls = Shape(l) xs = Shape(x) bc = Slice(xs, z, two) hw = Slice(ls, two, four) to = Concat<axis=0>(bc, hw) y = Resize<mode="linear">(x, , , to)',
    z=ints(0),
    two=ints(2),
    four=ints(4),
)
of("slice_last", "float[b,s,8] x => y", "y = Slice(x, m, e, a1)", m=ints(-1), e=ints(2**62), a1=ints(1))
of("slice_all_but_last", "float[b,s,8] x => y", "y = Slice(x, z, m, a1)", z=ints(0), m=ints(-1), a1=ints(1))
of(
    "slice_step",
    "float[b,s,8] x => y",
    "y = Slice(x, z, e, a1, two)",
    z=ints(0),
    e=ints(2**62),
    a1=ints(1),
    two=ints(2),
)
of(
    "slice_backwards",
    "float[b,s,8] x => y",
    "y = Slice(x, m, e, a1, n)",
    m=ints(-1),
    e=ints(-(2**62)),
    a1=ints(1),
    n=ints(-1),
)
of(
    "slice_backwards_step",
    "float[b,s,8] x => y",
    "y = Slice(x, m, e, a1, n)",
    m=ints(-1),
    e=ints(-(2**62)),
    a1=ints(1),
    n=ints(-2),
)
of("slice_behind_end", "float[b,s,8] x => y", "y = Slice(x, z, e, a1)", z=ints(2), e=ints(100), a1=ints(1))
of("slice_before_begin", "float[b,s,8] x => y", "y = Slice(x, z, e, a1)", z=ints(-100), e=ints(3), a1=ints(1))
of(
    "slice_backwards_behind_end",
    "float[b,s,8] x => y",
    "y = Slice(x, m, e, a1, n)",
    m=ints(100),
    e=ints(2),
    a1=ints(1),
    n=ints(-1),
)
of("slice_empty", "float[b,s,8] x => y", "y = Slice(x, m, e, a1)", m=ints(5), e=ints(2), a1=ints(1))
of(
    "slice_to_argument",
    "float[b,s,8] x, int64[1] n => y",
    "y = Slice(x, z, n, a1)",
    z=ints(0),
    a1=ints(1),
    given={"n": [4]},
)
of(
    "slice_from_argument",
    "float[b,s,8] x, int64[1] n => y",
    "y = Slice(x, n, e, a1)",
    e=ints(2**62),
    a1=ints(1),
    given={"n": [-4]},
)
of("gather_negative", "float[b,s,8] x => y", "y = Gather<axis=1>(x, m)", m=np.array(-1, INT))
of("gather_rows", "float[b,s,8] x, int64[t] i => y", "y = Gather<axis=1>(x, i)")
of("gather_elements", "float[b,s] x, int64[b,t] i => y", "y = GatherElements<axis=1>(x, i)")
of(
    "gather_nd",
    "float[b,s,8] x, int64[t,2] i => y",
    "y = GatherND(x, i)",
    given={"i": np.arange(14).reshape(7, 2) % 3},
)
of("gather_nd_batch", "float[b,s,8] x, int64[b,t,1] i => y", "y = GatherND<batch_dims=1>(x, i)")
of(
    "scatter_elements",
    "float[b,s] x, int64[b,t] i, float[b,t] u => y",
    "y = ScatterElements<axis=1>(x, i, u)",
    given={"i": np.tile(np.arange(7), (3, 1))},
)
of(
    "scatter_elements_add",
    "float[b,s] x, int64[b,t] i, float[b,t] u => y",
    'y = ScatterElements<axis=1, reduction="add">(x, i, u)',
)
of(
    "scatter_nd",
    "float[b,s] x, int64[t,1] i, float[t,s] u => y",
    'y = ScatterND<reduction="add">(x, i, u)',
    given={"i": np.arange(7).reshape(7, 1) % 3},
)
of(
    "scatter_nd_set",
    "float[s,8] x, int64[t,1] i, float[t,8] u => y",
    "y = ScatterND(x, i, u)",
    given={"i": np.arange(7).reshape(7, 1)},
)
of("reshape_flat", "float[b,s,4,8] x => y", "y = Reshape(x, to)", to=ints(0, 0, -1))
of("reshape_merge", "float[b,s,4,8] x => y", "y = Reshape(x, to)", to=ints(-1, 32))
of("reshape_split_batch", "float[b,s,8] x => y", "y = Reshape(x, to)", to=ints(-1, 3, 8))
of("reshape_like", "float[b,s,8] x, float[b,n,2,4] l => y", "to = Shape(l) y = Reshape(x, to)")
of("flatten", "float[b,s,8] x => y", "y = Flatten<axis=1>(x)")
of("flatten2", "float[b,s,8] x => y", "y = Flatten<axis=2>(x)")
of("expand_like", "float[1,s] x, float[b,s] l => y", "to = Shape(l) y = Expand(x, to)")
of("expand_ones", "float[b,s] x => y", "y = Expand(x, ones)", ones=ints(1, 1))
of("expand_rank", "float[b,1] x => y", "y = Expand(x, to)", to=ints(2, 1, 6))
of("tile", "float[b,s] x => y", "y = Tile(x, to)", to=ints(2, 3))
of("tile_argument", "float[1,8] x, int64[2] n => y", "y = Tile(x, n)", given={"n": [3, 1]})
of(
    "range_argument",
    "int64[] n => y",
    "y = Range(z, n, o)",
    z=np.array(0, INT),
    o=np.array(1, INT),
    given={"n": 7},
)
of(
    "constant_of_shape",
    "float[b,s] x => y",
    "sh = Shape(x) c = ConstantOfShape<value = float[1] {2.0}>(sh) y = Add(x, c)",
)
of("eye_like", "float[s,s] x => y", "e = EyeLike(x) y = Add(x, e)")
of("topk", "float[b,s] x => y, i", "y, i = TopK(x, k)", k=ints(3))
of("topk_smallest", "float[b,s] x => y, i", "y, i = TopK<largest=0>(x, k)", k=ints(3))
of("topk_axis", "float[b,s,4] x => y, i", "y, i = TopK<axis=1>(x, k)", k=ints(3))
of("topk_all", "float[b,s] x => y", "sh = Shape(x) k = Gather(sh, a1) y, i = TopK(x, k)", a1=ints(1))
of("topk_argument", "float[b,s] x, int64[1] k => y", "y, i = TopK(x, k)", given={"k": [4]})
of("non_zero", "float[b,s] x => y", "r = Relu(x) y = NonZero(r)")
of("compress", "float[s,8] x, bool[s] c => y", "y = Compress<axis=0>(x, c)")
of("argmax", "float[b,s,8] x => y", "y = ArgMax<axis=1>(x)")
of("argmax_last", "float[b,s,8] x => y", "y = ArgMax<axis=1, select_last_index=1, keepdims=0>(x)")
of("argmin", "float[b,s,8] x => y", "y = ArgMin<axis=-1, keepdims=0>(x)")
of("cumsum", "float[b,s] x => y", "y = CumSum(x, a)", a=np.array(1, INT))
of(
    "cumsum_reverse_exclusive",
    "float[b,s] x => y",
    "y = CumSum<reverse=1, exclusive=1>(x, a)",
    a=np.array(1, INT),
)
for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
    of(
        f"reduce_{op.lower()}",
        "float[b,s,8] x => y",
        f"p = Abs(x) y = Reduce{op}<keepdims=0>(p, a)",
        a=ints(1),
    )
of("reduce_all", "float[b,s,8] x => y", "y = ReduceMean<keepdims=0>(x)")
of("reduce_mean_hw", "float[b,8,h,w] x => y", "y = ReduceMean(x, a)", a=ints(2, 3))
of(
    "masked_mean",
    "float[b,s,8] x, int64[b,s] mask => y",
    "m = Cast<to=1>(mask) u = Unsqueeze(m, a2) p = Mul(x, u) t = ReduceSum<keepdims=0>(p, a1) n = ReduceSum(m, a1) c = Clip(n, low) y = Div(t, c)",
    a1=ints(1),
    a2=ints(2),
    low=np.float32(1e-9),
)
for mode in ("constant", "reflect", "edge", "wrap"):
    of(
        f"pad_{mode}",
        "float[b,3,h,w] x => y",
        f'y = Pad<mode="{mode}">(x, p)',
        p=ints(0, 0, 1, 2, 0, 0, 2, 1),
    )
of(
    "pad_to_multiple",
    "float[b,s,8] x => y",
    "sh = Shape(x) l = Gather(sh, a1) neg = Neg(l) r = Mod(neg, four) p = Concat<axis=0>(z, z, z, z, r, z) y = Pad(x, p)",
    a1=ints(1),
    four=ints(4),
    z=ints(0),
)
of("split_halves", "float[b,s,8] x => y, z", "y, z = Split<axis=-1>(x, p)", p=ints(3, 5))
of("split_dynamic", "float[b,s,8] x => y, z", "y, z = Split<axis=1>(x, p)", p=ints(4, 5))
of("split_equal_dynamic", "float[b,h,8] x => y, z", "y, z = Split<axis=1, num_outputs=2>(x)")
of("concat_three", "float[b,s] x, float[b,t] z, float[b,2] v => y", "y = Concat<axis=1>(x, z, v)")
of(
    "one_hot",
    "int64[b,s] i => y",
    "y = OneHot<axis=-1>(i, d, v)",
    d=np.array(7, INT),
    v=np.array([0, 1], np.float32),
)
of("trilu_lower", "float[b,s,s] x => y", "y = Trilu<upper=0>(x)")
of("depth_to_space", "float[b,8,h,w] x => y", "y = DepthToSpace<blocksize=2>(x)")
of("depth_to_space_crd", "float[b,8,h,w] x => y", 'y = DepthToSpace<blocksize=2, mode="CRD">(x)')
of("space_to_depth", "float[b,2,h,w] x => y", "y = SpaceToDepth<blocksize=2>(x)")
of("einsum", "float[b,s,8] x, float[b,t,8] z => y", 'y = Einsum<equation="bsd,btd->bst">(x, z)')
of(
    "lstm",
    "float[5,b,8] x => y, h",
    "y, h = LSTM<hidden_size=6>(x, w, r, c)",
    w=(1, 24, 8),
    r=(1, 24, 6),
    c=(1, 48),
)
of(
    "lstm_sequence",
    "float[s,b,8] x => y",
    "y = LSTM<hidden_size=6>(x, w, r, c)",
    w=(1, 24, 8),
    r=(1, 24, 6),
    c=(1, 48),
)
of(
    "lstm_both",
    "float[s,b,8] x => y",
    'y = LSTM<hidden_size=6, direction="bidirectional">(x, w, r, c)',
    w=(2, 24, 8),
    r=(2, 24, 6),
    c=(2, 48),
)
of(
    "gru",
    "float[5,b,8] x => y",
    "y = GRU<hidden_size=6, linear_before_reset=1>(x, w, r, c)",
    w=(1, 18, 8),
    r=(1, 18, 6),
    c=(1, 36),
)
of(
    "gru_sequence",
    "float[s,b,8] x => y",
    "y = GRU<hidden_size=6, linear_before_reset=1>(x, w, r, c)",
    w=(1, 18, 8),
    r=(1, 18, 6),
    c=(1, 36),
)
of(
    "rnn_sequence",
    "float[s,b,8] x => y",
    "y = RNN<hidden_size=6>(x, w, r, c)",
    w=(1, 6, 8),
    r=(1, 6, 6),
    c=(1, 12),
)
of(
    "nll",
    "float[b,7,s] x, int64[b,s] t => y",
    "l = LogSoftmax<axis=1>(x) y = NegativeLogLikelihoodLoss(l, t)",
)
of(
    "swiglu",
    "float[b,s,16] x => y",
    "g = MatMul(x, w) u = MatMul(x, v) q = Sigmoid(g) a = Mul(g, q) m = Mul(a, u) y = MatMul(m, o)",
    w=(16, 32),
    v=(16, 32),
    o=(32, 16),
)
of(
    "patches",
    "float[b,3,12,12] x => y",
    "p = Conv<strides=[4,4]>(x, k) f = Reshape(p, to) t = Transpose<perm=[0,2,1]>(f) sh = Shape(x) b = Slice(sh, z, o) cs = Concat<axis=0>(b, one, wide) c = Expand(cls, cs) y = Concat<axis=1>(c, t)",
    k=(8, 3, 4, 4),
    to=ints(0, 8, -1),
    z=ints(0),
    o=ints(1),
    one=ints(1),
    wide=ints(8),
    cls=(1, 1, 8),
)
of(
    "patches_hw",
    "float[b,3,h,h] x => y",
    "p = Conv<strides=[4,4]>(x, k) sh = Shape(p) bc = Slice(sh, z, two) to = Concat<axis=0>(bc, m) f = Reshape(p, to) y = Transpose<perm=[0,2,1]>(f)",
    k=(8, 3, 4, 4),
    z=ints(0),
    two=ints(2),
    m=ints(-1),
)
of(
    "window_partition",
    "float[b,h,w,8] x => y",
    "sh = Shape(x) b = Gather(sh, a0) h = Gather(sh, a1) w = Gather(sh, a2) hh = Div(h, four) ww = Div(w, two) to = Concat<axis=0>(b, hh, four, ww, two, e) v = Reshape(x, to) t = Transpose<perm=[0,1,3,2,4,5]>(v) y = Reshape(t, back)",
    a0=ints(0),
    a1=ints(1),
    a2=ints(2),
    four=ints(4),
    two=ints(2),
    e=ints(8),
    back=ints(-1, 8, 8),
)
of(
    "grid_sample",
    "float[b,3,h,w] x, float[b,s,t,2] g => y",
    "y = GridSample<align_corners=1>(x, g)",
    opset=16,
)
of(
    "yolo_grid",
    "float[b,3,h,w] x => y",
    "sh = Shape(x) h = Gather(sh, i2) w = Gather(sh, i3) a = Range(z, h, o) c = Range(z, w, o) au = Unsqueeze(a, a1) ae = Add(au, zero) s = Add(ae, c) sf = Cast<to=1>(s) y = Add(x, sf)",
    i2=np.array(2, INT),
    i3=np.array(3, INT),
    z=np.array(0, INT),
    o=np.array(1, INT),
    a1=ints(1),
    zero=np.array(0, INT),
)
of(
    "select_best",
    "float[b,s,6] x => y",
    "sc = Slice(x, z, o, a2) q = Squeeze(sc, a2) k, i = TopK(q, three) u = Unsqueeze(i, a2) sh = Shape(x) w = Slice(sh, two, e) to = Concat<axis=0>(bo, ko, w) ix = Expand(u, to) y = GatherElements<axis=1>(x, ix)",
    z=ints(0),
    o=ints(1),
    a2=ints(2),
    three=ints(3),
    two=ints(2),
    e=ints(3),
    bo=ints(1),
    ko=ints(3),
)
of("mod_positions", "int64[b,s] x => y", "y = Mod(x, m)", m=np.array(3, INT))
of("fmod", "float[b,s] x => y", "y = Mod<fmod=1>(x, m)", m=np.float32(0.7))
of("less_equal", "int64[b,s] x, int64[b,s] z => y", "l = LessOrEqual(x, z) n = Not(l) y = Cast<to=7>(n)")
of("floor_div", "int64[b,s] x => y", "a = Sub(x, k) y = Div(a, m)", k=np.array(4, INT), m=np.array(3, INT))
of(
    "loop_sum",
    "float[b,s] x, int64[] n => y",
    "y = Loop(n, t, x) <body = g (int64 i, bool c, float[b,s] v) => (bool c2, float[b,s] v2) { c2 = Identity(c) v2 = Add(v, v) }>",
    t=np.array(True),
    given={"n": 3},
)
of(
    "if_sum",
    "float[b,s] x, bool[] c => y",
    "y = If(c) <then_branch = g1 () => (float[b,s] p) { p = Add(x, x) }, else_branch = g2 () => (float[b,s] q) { q = Neg(x) }>",
    given={"c": True},
)
of("f16_linear", "float16[b,16] x => y", "y = MatMul(x, w)", w=np.ones((16, 8), np.float16))
