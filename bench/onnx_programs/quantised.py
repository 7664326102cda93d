"""Quantised programs of ONNX, and ops on bytes, whose sizes the call decides.

For `bench.onnx_programs`; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import numpy as np

from .entries import ints, of, r

S, ZU, ZS = np.float32(0.05), np.array(128, np.uint8), np.array(3, np.int8)

for kind, zero in (("uint8", ZU), ("int8", ZS)):
    q = dict(s=S, z=zero)
    of(f"quantise_{kind}", "float[b,n] x => y", "y = QuantizeLinear(x, s, z)", **q)
    of(f"dequantise_{kind}", f"{kind}[b,n] x => y", "y = DequantizeLinear(x, s, z)", **q)
    of(f"qdq_{kind}", "float[b,n] x => y", "a = QuantizeLinear(x, s, z) y = DequantizeLinear(a, s, z)", **q)
    of(
        f"qdq_linear_{kind}",
        "float[b,n,16] x => y",
        "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) wf = DequantizeLinear(w, ws) y = MatMul(f, wf)",
        w=r(16, 8, element="int8"),
        ws=S,
        **q,
    )
    of(
        f"qdq_linear_out_{kind}",
        "float[b,n,16] x => y",
        "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) wf = DequantizeLinear(w, ws) m = MatMul(f, wf) mq = QuantizeLinear(m, os, z) y = DequantizeLinear(mq, os, z)",
        w=r(16, 8, element="int8"),
        ws=S,
        os=np.float32(0.9),
        **q,
    )
    of(
        f"qdq_conv_{kind}",
        "float[b,3,h,w] x => y",
        "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) kf = DequantizeLinear(k, ks) y = Conv<pads=[1,1,1,1]>(f, kf)",
        k=r(8, 3, 3, 3, element="int8"),
        ks=S,
        **q,
    )
    of(
        f"qdq_conv_channels_{kind}",
        "float[b,3,h,w] x => y",
        "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) kf = DequantizeLinear<axis=0>(k, ks, kz) y = Conv<pads=[1,1,1,1]>(f, kf)",
        k=r(8, 3, 3, 3, element="int8"),
        ks=np.linspace(0.01, 0.1, 8, dtype=np.float32),
        kz=np.zeros(8, np.int8),
        **q,
    )
    of(
        f"qdq_add_{kind}",
        "float[b,n] x, float[b,n] v => y",
        "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) c = QuantizeLinear(v, s, z) g = DequantizeLinear(c, s, z) t = Add(f, g) y = QuantizeLinear(t, s, z)",
        **q,
    )
    of(
        f"qdq_pool_{kind}",
        "float[b,3,h,w] x => y",
        "a = QuantizeLinear(x, s, z) p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(a) y = DequantizeLinear(p, s, z)",
        **q,
    )
    of(
        f"qlinear_matmul_{kind}",
        f"{kind}[b,16] x => y",
        "y = QLinearMatMul(x, s, z, w, ws, wz, os, z)",
        w=r(16, 8, element="int8"),
        ws=S,
        wz=np.array(0, np.int8),
        os=np.float32(0.9),
        **q,
    )
    of(
        f"qlinear_matmul_batch_{kind}",
        f"{kind}[b,n,16] x => y",
        "y = QLinearMatMul(x, s, z, w, ws, wz, os, z)",
        w=r(16, 8, element="int8"),
        ws=S,
        wz=np.array(0, np.int8),
        os=np.float32(0.9),
        **q,
    )
    of(
        f"qlinear_conv_{kind}",
        f"{kind}[b,3,h,w] x => y",
        "y = QLinearConv<pads=[1,1,1,1]>(x, s, z, k, ks, kz, os, z, c)",
        k=r(8, 3, 3, 3, element="int8"),
        ks=np.float32(0.02),
        kz=np.array(0, np.int8),
        os=np.float32(0.9),
        c=r(8, element="int32"),
        **q,
    )
    of(
        f"qlinear_conv_channels_{kind}",
        f"{kind}[b,3,h,w] x => y",
        "y = QLinearConv(x, s, z, k, ks, kz, os, z)",
        k=r(8, 3, 3, 3, element="int8"),
        ks=np.linspace(0.01, 0.1, 8, dtype=np.float32),
        kz=np.zeros(8, np.int8),
        os=np.float32(0.9),
        **q,
    )
    of(
        f"matmul_integer_{kind}",
        f"{kind}[b,16] x => y",
        "y = MatMulInteger(x, w, z)",
        w=r(16, 8, element="int8"),
        z=zero,
    )
    of(
        f"matmul_integer_batch_{kind}",
        f"{kind}[b,n,16] x => y",
        "y = MatMulInteger(x, w, z)",
        w=r(16, 8, element="int8"),
        z=zero,
    )
    of(
        f"conv_integer_{kind}",
        "uint8[b,3,h,w] x => y",
        "y = ConvInteger(x, k, z)",
        k=r(8, 3, 3, 3, element="uint8"),
        z=ZU,
    ) if kind == "uint8" else None
    of(
        f"clip_{kind}",
        f"{kind}[b,n] x => y",
        "y = Clip(x, low, high)",
        low=np.array(5, zero.dtype),
        high=np.array(100, zero.dtype),
    )
    of(f"min_max_{kind}", f"{kind}[b,n] x, {kind}[b,n] v => y, w", "y = Min(x, v) w = Max(x, v)")
    of(f"argmax_{kind}", f"{kind}[b,n] x => y", "y = ArgMax<axis=1>(x)")
    of(
        f"reduce_max_{kind}", f"{kind}[b,n] x => y, w", "y = ReduceMax(x) w = ReduceMin(x)", opset=20
    ) if kind == "int8" else None
    of(f"cast_float_{kind}", f"{kind}[b,n] x => y", "f = Cast<to=1>(x) y = Mul(f, s)", s=S)
    of(f"cast_int32_{kind}", f"{kind}[b,n] x => y", "f = Cast<to=6>(x) y = Mul(f, f)")
    of(f"cast_int64_{kind}", f"{kind}[b,n] x => y", "f = Cast<to=7>(x) y = Add(f, f)")
    of(
        f"cast_from_float_{kind}",
        "float[b,n] x => y",
        f"f = Mul(x, big) a = Abs(f) y = Cast<to={2 if kind == 'uint8' else 3}>(a)",
        big=np.float32(40),
    )
    of(f"cast_bool_{kind}", f"{kind}[b,n] x => y", "y = Cast<to=9>(x)")
    of(f"greater_{kind}", f"{kind}[b,n] x, {kind}[b,n] v => y, w", "y = Greater(x, v) w = LessOrEqual(x, v)")
    of(f"where_{kind}", f"bool[b,n] c, {kind}[b,n] x, {kind}[b,n] v => y", "y = Where(c, x, v)")
    of(f"gather_{kind}", f"{kind}[b,n] x, int64[t] i => y", "y = Gather<axis=1>(x, i)")
    of(
        f"embedding_{kind}",
        "int64[b,n] i => y",
        "e = Gather(w, i) y = DequantizeLinear(e, s, z)",
        w=r(50, 8, element=kind),
        **q,
    )
    of(
        f"resize_{kind}",
        f"{kind}[b,3,h,w] x => y",
        'y = Resize<mode="nearest">(x, , scales)',
        scales=np.array([1, 1, 2, 2], np.float32),
    )
    of(f"pad_{kind}", f"{kind}[b,n] x => y", "y = Pad(x, p, v)", p=ints(0, 1, 0, 2), v=zero)
    of(
        f"max_pool_{kind}",
        f"{kind}[b,3,h,w] x => y",
        "y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x)",
    )
    of(f"topk_{kind}", f"{kind}[b,n] x => y", "y, i = TopK(x, k)", k=ints(3)) if kind == "int8" else None
    of(f"transpose_{kind}", f"{kind}[b,n] x => y", "y = Transpose<perm=[1,0]>(x)")
    of(f"concat_{kind}", f"{kind}[b,n] x, {kind}[b,t] v => y", "y = Concat<axis=1>(x, v)")
for op in ("Add", "Sub", "Mul", "Div", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    of(
        f"uint8_{op.lower()}",
        "uint8[b,n] x, uint8[b,n] v => y",
        f"y = {op}(x, v)",
        given={"v": np.arange(27).reshape(3, 9) * 9 + 3},
    )
of(
    "uint8_shift",
    "uint8[b,n] x, uint8[b,n] v => y",
    'y = BitShift<direction="RIGHT">(x, v)',
    given={"v": np.arange(27).reshape(3, 9) % 5},
)
of(
    "uint8_shift_left",
    "uint8[b,n] x, uint8[b,n] v => y",
    'y = BitShift<direction="LEFT">(x, v)',
    given={"v": np.arange(27).reshape(3, 9) % 5},
)
of("uint8_not", "uint8[b,n] x => y", "y = BitwiseNot(x)")
of(
    "uint8_image",
    "uint8[b,h,w,3] x => y",
    "f = Cast<to=1>(x) d = Div(f, m) t = Transpose<perm=[0,3,1,2]>(d) y = Conv(t, k)",
    m=np.float32(255),
    k=(4, 3, 3, 3),
)
of("uint8_mean", "uint8[b,h,w,3] x => y", "f = Cast<to=1>(x) y = ReduceMean(f, a)", a=ints(1, 2))
of("uint8_equal", "uint8[b,n] x => y", "y = Equal(x, c)", c=np.array(200, np.uint8))
of(
    "matmul_integer_two_zeros",
    "uint8[b,16] x => y",
    "y = MatMulInteger(x, w, z, wz)",
    w=r(16, 8, element="uint8"),
    z=ZU,
    wz=np.array(100, np.uint8),
)
of(
    "matmul_integer_columns",
    "uint8[b,16] x => y",
    "y = MatMulInteger(x, w, z, wz)",
    w=r(16, 8, element="int8"),
    z=ZU,
    wz=np.arange(8).astype(np.int8),
)
of("matmul_integer_both", "uint8[b,n,16] x, int8[b,16,t] w => y", "y = MatMulInteger(x, w)")
of(
    "conv_integer_padded",
    "uint8[b,3,h,w] x => y",
    "y = ConvInteger<pads=[1,1,1,1]>(x, k, z, kz)",
    k=r(8, 3, 3, 3, element="uint8"),
    z=ZU,
    kz=np.array(120, np.uint8),
)
of("dynamic_quantise", "float[b,n] x => y, s, z", "y, s, z = DynamicQuantizeLinear(x)")
of(
    "dynamic_linear",
    "float[b,n,16] x => y",
    "q, s, z = DynamicQuantizeLinear(x) i = MatMulInteger(q, w, z, wz) f = Cast<to=1>(i) ss = Mul(s, ws) y = Mul(f, ss)",
    w=r(16, 8, element="int8"),
    wz=np.array(0, np.int8),
    ws=S,
)
of(
    "dynamic_linear_u8",
    "float[b,n,16] x => y",
    "q, s, z = DynamicQuantizeLinear(x) i = MatMulInteger(q, w, z, wz) f = Cast<to=1>(i) ss = Mul(s, ws) g = Mul(f, ss) y = Add(g, c)",
    w=r(16, 8, element="uint8"),
    wz=np.array(113, np.uint8),
    ws=S,
    c=(8,),
)
of(
    "dynamic_conv",
    "float[b,3,h,w] x => y",
    "q, s, z = DynamicQuantizeLinear(x) i = ConvInteger(q, k, z, kz) f = Cast<to=1>(i) ss = Mul(s, ws) y = Mul(f, ss)",
    k=r(8, 3, 3, 3, element="uint8"),
    kz=np.array(128, np.uint8),
    ws=S,
)
of(
    "quantise_channels",
    "float[b,3,h,w] x => y",
    "a = QuantizeLinear<axis=1>(x, s, z) y = DequantizeLinear<axis=1>(a, s, z)",
    s=np.array([0.05, 0.1, 0.2], np.float32),
    z=np.array([128, 100, 3], np.uint8),
)
of("dequantise_int32", "int32[b,8] x => y", "y = DequantizeLinear(x, s)", s=S)
of(
    "dequantise_blocks",
    "float[b,8] x => y",
    "f = DequantizeLinear<axis=0, block_size=4>(w, s) y = MatMul(x, f)",
    w=r(8, 6, element="int8"),
    s=r(2, 6),
    opset=21,
)
of("quantise_no_zero", "float[b,n] x => y", "y = QuantizeLinear(x, s)", s=S)
of(
    "qdq_sigmoid",
    "float[b,n] x => y",
    "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) g = Sigmoid(f) c = QuantizeLinear(g, t, zz) y = DequantizeLinear(c, t, zz)",
    s=S,
    z=ZU,
    t=np.float32(1 / 256),
    zz=np.array(0, np.uint8),
)
of(
    "qdq_concat",
    "float[b,n] x, float[b,t] v => y",
    "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) c = QuantizeLinear(v, s, z) g = DequantizeLinear(c, s, z) j = Concat<axis=1>(f, g) q = QuantizeLinear(j, s, z) y = DequantizeLinear(q, s, z)",
    s=S,
    z=ZU,
)
of(
    "qdq_average",
    "float[b,3,h,w] x => y",
    "a = QuantizeLinear(x, s, z) f = DequantizeLinear(a, s, z) p = GlobalAveragePool(f) q = QuantizeLinear(p, s, z) y = DequantizeLinear(q, s, z)",
    s=S,
    z=ZU,
)
