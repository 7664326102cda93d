"""Recurrent layers, loops and blocks of ONNX whose sizes the call decides.

For `bench.onnx_programs`; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (long nodes)
from __future__ import annotations

import numpy as np

from .entries import INT, ints, of

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
