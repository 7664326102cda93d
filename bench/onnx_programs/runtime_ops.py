"""Programs of the ops that ONNX Runtime adds to the standard, with what onnxruntime computes of them.

Its quantiser (QOperator format) and its optimiser for transformers write such models. Written as in `entries`; a letter is a size that
the call decides. For `bench.onnx_programs` and the tests; needs onnx and onnxruntime.
"""

# ruff: noqa: E501 (one line for each program)
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper, parser

from .entries import _ARGUMENT, _argument, r

F = np.float32
U8, I8 = np.array(120, np.uint8), np.array(-3, np.int8)
_Program = tuple[onnx.ModelProto, list[np.ndarray], list[np.ndarray]]


class Table:
    """Programs by name."""

    def __init__(self, opset: int) -> None:
        self._opset = opset
        self._programs: dict[str, tuple] = {}

    def of(
        self, name: str, head: str, body: str, given: dict | None = None, opset: int = 0, **weights
    ) -> None:
        """``weights`` are arrays, or the sizes of random numbers, behind an element type of 4 bits where they have one."""
        assert name not in self._programs, name
        self._programs[name] = (head, body, given or {}, opset or self._opset, weights)

    def names(self) -> list[str]:
        return list(self._programs)

    def program(self, name: str) -> _Program:
        """The model, its arguments, and what onnxruntime, or where it lacks the op ONNX's evaluator, computes."""
        import onnxruntime

        onnxruntime.set_default_logger_severity(4)
        head, body, given, opset, weights = self._programs[name]
        inputs, _, results = head.partition("=>")
        text = f"main ({inputs}) => ({', '.join(f'float {one.strip()}' for one in results.split(','))}) {{ {body} }}"
        graph = parser.parse_graph(text)
        graph.initializer.extend(_weight(*one) for one in weights.items())
        outputs = [one.name for one in graph.output]
        del graph.output[:]
        graph.output.extend(ValueInfoProto(name=one) for one in outputs)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        arguments = [_argument(one, given) for one in _ARGUMENT.findall(inputs)]
        feeds = {one.name: value for one, value in zip(model.graph.input, arguments, strict=True)}
        try:
            plain = (
                onnxruntime.SessionOptions()
            )  # its optimiser quantises activations beside weights of 4 bits
            plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(model.SerializeToString(), plain, ["CPUExecutionProvider"])
            found, types = session.run(None, feeds), session.get_outputs()
            shapes = [list(one.shape) for one in types]
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            found = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
            shapes = [list(np.shape(one)) for one in found]
        for declared, value, shape in zip(model.graph.output, found, shapes, strict=True):
            sizes = shape if len(shape) == value.ndim else [None] * value.ndim
            sizes = [size if isinstance(size, int | str) else None for size in sizes]
            element = helper.np_dtype_to_tensor_dtype(value.dtype)
            declared.type.CopyFrom(helper.make_tensor_type_proto(element, sizes))
        return model, arguments, [np.asarray(one) for one in found]

    def programs(self) -> Iterator[tuple[str, *_Program]]:
        for name in self._programs:
            yield (name, *self.program(name))


def _weight(name: str, value) -> onnx.TensorProto:
    if isinstance(value, tuple) and isinstance(value[0], str):
        low, kind = {"int4": (-8, TensorProto.INT4), "uint4": (0, TensorProto.UINT4)}[value[0]]
        numbers = np.random.default_rng(0).integers(low, low + 16, value[1:])
        return helper.make_tensor(name, kind, value[1:], numbers.reshape(-1).tolist())
    return numpy_helper.from_array(r(*value) if isinstance(value, tuple) else np.asarray(value), name)


TABLE = Table(opset=17)
of = TABLE.of

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
_EMBED = dict(a=(20, 16), e=(9, 16), f=(2, 16), w=(16,), c=(16,))
of(
    "embed",
    "int32[b,7] x, int32[b,7] g, int32[b,7] m => y, n",
    "y, n = com.microsoft.EmbedLayerNormalization(x, g, a, e, f, w, c, m)",
    {"g": np.arange(21).reshape(3, 7) % 2, "m": np.arange(21).reshape(3, 7) % 7 < [[5], [7], [3]]},
    **_EMBED,
)
of(
    "embed_plain",
    "int32[b,s] x => y",
    "y, n = com.microsoft.EmbedLayerNormalization(x, , a, e, , w, c)",
    **{k: v for k, v in _EMBED.items() if k != "f"},
)

_BYTES = {name: r(*shape, element="uint8") for name, shape in _EMBED.items()}
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
    **_EMBED,
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
