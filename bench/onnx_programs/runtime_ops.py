"""Programs of the ops that ONNX Runtime's quantiser (QOperator format) and its fusions add to the standard.

Written as in `entries`; a letter is a size that the call decides. For `bench.onnx_programs` and the tests; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

import numpy as np

from .entries import r
from .model_table import Table

TABLE = Table(opset=17)
of = TABLE.of
F = np.float32
U8, I8 = np.array(120, np.uint8), np.array(-3, np.int8)

# Quantised, per tensor.

for kind, zero in (("uint8", U8), ("int8", I8)):
    q = dict(s=F(0.05), z=zero, t=F(0.04), u=zero, o=F(0.09), p=zero)
    one, two = f"{kind}[b,4,8,8] x => y", f"{kind}[b,4,8,8] x, {kind}[b,4,8,8] v => y"
    of(f"add_{kind}", two, "y = com.microsoft.QLinearAdd(x, s, z, v, t, u, o, p)", **q)
    of(f"mul_{kind}", two, "y = com.microsoft.QLinearMul(x, s, z, v, t, u, o, p)", **q)
    of(f"sigmoid_{kind}", one, "y = com.microsoft.QLinearSigmoid(x, s, z, o, p)", **q)
    of(f"leaky_{kind}", one, "y = com.microsoft.QLinearLeakyRelu<alpha=0.2>(x, s, z, o, p)", **q)
    of(
        f"softmax_{kind}",
        one,
        "y = com.microsoft.QLinearSoftmax<axis=-1, opset=13>(x, s, z, o, p)",
        **{**q, "o": F(1 / 256), "p": np.zeros((), zero.dtype)},
    )
    of(
        f"softmax_channels_{kind}",
        one,
        "y = com.microsoft.QLinearSoftmax<axis=1, opset=13>(x, s, z, o, p)",
        **{**q, "o": F(1 / 256), "p": np.zeros((), zero.dtype)},
    )
    of(f"concat_{kind}", two, "y = com.microsoft.QLinearConcat<axis=1>(o, p, x, s, z, v, t, u)", **q)
    of(
        f"average_{kind}",
        one,
        "y = com.microsoft.QLinearAveragePool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(x, s, z, o, p)",
        **q,
    )
    of(f"global_{kind}", one, "y = com.microsoft.QLinearGlobalAveragePool(x, s, z, o, p)", **q)
    of(
        f"global_last_{kind}",
        f"{kind}[b,8,8,4] x => y",
        "y = com.microsoft.QLinearGlobalAveragePool<channels_last=1>(x, s, z, o, p)",
        **q,
    )
    of(
        f"gemm_{kind}",
        f"{kind}[b,16] x => y",
        "y = com.microsoft.QGemm<transB=1>(x, s, z, w, t, u, c, o, p)",
        **{**q, "o": F(1.5)},
        w=r(8, 16, element=kind),
        c=r(8, element="int32"),
    )
    of(
        f"gemm_columns_{kind}",
        f"{kind}[b,16] x => y",
        "y = com.microsoft.QGemm(x, s, z, w, t, u, c, o, p)",
        **{**q, "t": np.linspace(0.01, 0.05, 8, dtype=F), "u": np.full(8, zero), "o": F(1.5)},
        w=r(16, 8, element=kind),
        c=r(8, element="int32"),
    )
    of(
        f"gemm_float_{kind}",
        f"{kind}[b,16] x => y",
        "y = com.microsoft.QGemm(x, s, z, w, t, u, c)",
        s=F(0.05),
        z=zero,
        t=F(0.04),
        u=zero,
        w=r(16, 8, element=kind),
        c=r(8, element="int32"),
    )
of(
    "where_uint8",
    "bool[b,8] c, uint8[b,8] x, uint8[b,8] v => y",
    "y = com.microsoft.QLinearWhere(c, x, s, z, v, t, u, o, p)",
    s=F(0.05),
    z=U8,
    t=F(0.04),
    u=U8,
    o=F(0.09),
    p=U8,
)
of(
    "dynamic_matmul",
    "float[b,n,16] x => y",
    "y = com.microsoft.DynamicQuantizeMatMul(x, w, s, z, c)",
    w=r(16, 8, element="int8"),
    s=np.array([0.05], F),
    z=np.array([2], np.int8),
    c=(8,),
)
of(
    "integer_to_float",
    "uint8[b,16] x => y",
    "y = com.microsoft.MatMulIntegerToFloat(x, w, s, t, z, u, c)",
    w=r(16, 8, element="int8"),
    s=F(0.05),
    t=F(0.04),
    z=U8,
    u=I8,
    c=(8,),
)
of(
    "dynamic_lstm",
    "float[5,b,6] x => y, h",
    "y, h = com.microsoft.DynamicQuantizeLSTM<hidden_size=4>(x, w, k, c, , , , , s, z, t, u)",
    w=r(1, 6, 16, element="int8"),
    k=r(1, 4, 16, element="int8"),
    c=(1, 32),
    s=np.array([0.01], F),
    z=np.array([0], np.int8),
    t=np.array([0.01], F),
    u=np.array([0], np.int8),
)

of("quantise_runtime", "float[b,8] x => y", "y = com.microsoft.QuantizeLinear(x, s, z)", s=F(0.05), z=U8)
of("dequantise_runtime", "int8[b,8] x => y", "y = com.microsoft.DequantizeLinear(x, s, z)", s=F(0.05), z=I8)

# Activations and products.

of("gelu", "float[b,16] x => y", "y = com.microsoft.Gelu(x)")
of("bias_gelu", "float[b,16] x => y", "y = com.microsoft.BiasGelu(x, c)", c=(16,))
of("fast_gelu", "float[b,16] x => y", "y = com.microsoft.FastGelu(x)")
of("fast_gelu_bias", "float[b,16] x => y", "y = com.microsoft.FastGelu(x, c)", c=(16,))
of("quick_gelu", "float[b,16] x => y", "y = com.microsoft.QuickGelu<alpha=1.5>(x)")
of(
    "fused_matmul",
    "float[b,n,16] x, float[b,8,16] v => y",
    "y = com.microsoft.FusedMatMul<alpha=0.25, transB=1>(x, v)",
)
of(
    "fused_matmul_both",
    "float[b,16,n] x, float[b,8,16] v => y",
    "y = com.microsoft.FusedMatMul<transA=1, transB=1>(x, v)",
)
of(
    "transpose_matmul",
    "float[b,16,n] x, float[b,16,8] v => y",
    "y = com.microsoft.TransposeMatMul<transA=1, alpha=0.5>(x, v)",
)
of(
    "fused_gemm",
    "float[b,16] x => y",
    'y = com.microsoft.FusedGemm<alpha=0.5, transB=1, activation="LeakyRelu", activation_alpha=0.3>(x, w, c)',
    w=(8, 16),
    c=(8,),
)
of(
    "fused_conv",
    "float[b,3,12,12] x => y",
    'y = com.microsoft.FusedConv<pads=[1,1,1,1], strides=[2,2], activation="Relu">(x, w, c)',
    w=(8, 3, 3, 3),
    c=(8,),
)
of(
    "fused_conv_sum",
    "float[b,3,12,12] x, float[b,8,12,12] v => y",
    'y = com.microsoft.FusedConv<pads=[1,1,1,1], activation="Clip", activation_params=[-0.5, 0.5]>(x, w, c, v)',
    w=(8, 3, 3, 3),
    c=(8,),
)

# Normalisations.

of(
    "layer_old",
    "float[b,n,16] x => y",
    "y = LayerNormalization<epsilon=0.0001>(x, w, c)",
    opset=13,
    w=(16,),
    c=(16,),
)
of("simplified", "float[b,n,16] x => y", "y = SimplifiedLayerNormalization<epsilon=0.0001>(x, w)", w=(16,))
of(
    "skip",
    "float[b,n,16] x, float[b,n,16] v => y",
    "y = com.microsoft.SkipLayerNormalization<epsilon=0.001>(x, v, w, c)",
    w=(16,),
    c=(16,),
)
of(
    "skip_bias_sum",
    "float[b,n,16] x, float[b,n,16] v => y, t",
    "y, , , t = com.microsoft.SkipLayerNormalization<epsilon=0.001>(x, v, w, c, e)",
    w=(16,),
    c=(16,),
    e=(16,),
)
of(
    "skip_simplified",
    "float[b,n,16] x, float[b,n,16] v => y, t",
    "y, , , t = com.microsoft.SkipSimplifiedLayerNormalization<epsilon=0.001>(x, v, w)",
    w=(16,),
)
of(
    "skip_twice",
    "float[b,n,16] x => y",
    "a, , , t = com.microsoft.SkipSimplifiedLayerNormalization<epsilon=0.001>(x, x, w) g = com.microsoft.FastGelu(a) m = MatMul(g, k) y = com.microsoft.SkipSimplifiedLayerNormalization(m, t, w)",
    w=(16,),
    k=(16, 16),
)
EMBED = dict(a=(20, 16), e=(9, 16), f=(2, 16), w=(16,), c=(16,))
of(
    "embed",
    "int32[b,7] x, int32[b,7] g, int32[b,7] m => y, n",
    "y, n = com.microsoft.EmbedLayerNormalization(x, g, a, e, f, w, c, m)",
    {"g": np.arange(21).reshape(3, 7) % 2, "m": np.arange(21).reshape(3, 7) % 7 < [[5], [7], [3]]},
    **EMBED,
)
of(
    "embed_plain",
    "int32[b,s] x => y",
    "y, n = com.microsoft.EmbedLayerNormalization(x, , a, e, , w, c)",
    **{k: v for k, v in EMBED.items() if k != "f"},
)

_BYTES = {name: r(*shape, element="uint8") for name, shape in EMBED.items()}
_STEPS = {f"s{index}": F(0.01 * index) for index in range(1, 6)}
of(
    "embed_quantised",
    "int32[b,7] x, int32[b,7] g, int32[b,7] m => y, n",
    "y, n = com.microsoft.QEmbedLayerNormalization(x, g, a, e, f, w, c, m, s1, s2, s3, s4, s5, z, z, z, z, z)",
    {"g": np.arange(21).reshape(3, 7) % 2, "m": np.arange(21).reshape(3, 7) % 7 < [[5], [7], [3]]},
    z=U8,
    **_STEPS,
    **_BYTES,
)

# Weights in blocks.

_BITS = "com.microsoft.MatMulNBits<K=64, N=8, bits=4, block_size=32>"
of("bits", "float[b,n,64] x => y", f"y = {_BITS}(x, w, s)", w=r(8, 2, 16, element="uint8"), s=(16,))
of(
    "bits_zero_points",
    "float[b,n,64] x => y",
    f"y = {_BITS}(x, w, s, z)",
    w=r(8, 2, 16, element="uint8"),
    s=(16,),
    z=r(8, element="uint8"),
)
of(
    "bits_odd",
    "float[b,80] x => y",
    "y = com.microsoft.MatMulNBits<K=80, N=8, bits=4, block_size=32>(x, w, s, z)",
    w=r(8, 3, 16, element="uint8"),
    s=(24,),
    z=r(16, element="uint8"),
)
of(
    "bits_eight",
    "float[b,64] x => y",
    "y = com.microsoft.MatMulNBits<K=64, N=8, bits=8, block_size=32>(x, w, s)",
    w=r(8, 2, 32, element="uint8"),
    s=(16,),
)
of(
    "bits_bias",
    "float[b,64] x => y",
    f"y = {_BITS}(x, w, s, , , c)",
    w=r(8, 2, 16, element="uint8"),
    s=(16,),
    c=(8,),
)
of(
    "gather_blocks",
    "int64[b,m] x => y",
    "y = com.microsoft.GatherBlockQuantized<bits=4, block_size=16, quantize_axis=1, gather_axis=0>(w, x, s, z)",
    w=r(7, 32, element="uint8"),
    s=(7, 4),
    z=r(7, 2, element="uint8"),
)
