"""More small networks, as `onnx_blocks.py` has them: large depthwise kernels, shifted windows, generators, video, experts, recurrences as one op.

ConvNeXt, Swin, a masked encoder, an image generator, 3-D convolutions, a mixture of experts, LSTM and GRU ops, linear attention, a key-value
cache, style transfer, segmentation by classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import TensorProto

from bench.programs.onnx_graph import Graph


def _dense(g: Graph, x: str, given: int, made: int) -> str:
    return g.op(
        "Add", g.op("MatMul", x, g.weights(given, made, scale=given**-0.5)), g.weights(made, scale=0.1)
    )


def _layer_norm(g: Graph, x: str, width: int) -> str:
    """Written out, as exporters below opset 17 do."""
    centred = g.op("Sub", x, g.op("ReduceMean", x, axes=[-1]))
    spread = g.op(
        "Sqrt",
        g.op(
            "Add",
            g.op("ReduceMean", g.op("Pow", centred, g.constant(2, np.float32)), axes=[-1]),
            g.constant(1e-5, np.float32),
        ),
    )
    return g.op(
        "Add",
        g.op("Mul", g.op("Div", centred, spread), g.constant(np.ones(width), np.float32)),
        g.weights(width, scale=0.1),
    )


def _gelu(g: Graph, x: str) -> str:
    """The approximation by a hyperbolic tangent."""
    cube = g.op("Pow", x, g.constant(3, np.float32))
    inner = g.op(
        "Mul",
        g.op("Add", x, g.op("Mul", cube, g.constant(0.044715, np.float32))),
        g.constant((2 / np.pi) ** 0.5, np.float32),
    )
    return g.op(
        "Mul",
        g.op("Mul", x, g.constant(0.5, np.float32)),
        g.op("Add", g.op("Tanh", inner), g.constant(1, np.float32)),
    )


def _attended(g: Graph, q: str, k: str, v: str, size: int, bias: str = "") -> str:
    scores = g.op("Mul", g.op("MatMul", q, k), g.constant(size**-0.5, np.float32))
    return g.op("MatMul", g.op("Softmax", g.op("Add", scores, bias) if bias else scores, axis=-1), v)


def large_kernels(seed: int) -> onnx.ModelProto:
    """ConvNeXt: 7x7 depthwise, layer norm over channels, an inverted bottleneck with a scale by channel."""
    g = Graph(seed)
    x = g.op(
        "Conv", "x", g.weights(24, 3, 4, 4), g.weights(24, scale=0.1), kernel_shape=[4, 4], strides=[4, 4]
    )
    for _ in range(2):
        y = g.op("Transpose", g.convolution(x, 24, 24, 7, groups=24), perm=[0, 2, 3, 1])
        y = _dense(g, _gelu(g, _dense(g, _layer_norm(g, y, 24), 24, 96)), 96, 24)
        x = g.op(
            "Add",
            x,
            g.op("Transpose", g.op("Mul", y, g.constant(np.full(24, 0.3), np.float32)), perm=[0, 3, 1, 2]),
        )
    return g.model(64, g.op("ReduceMean", x, axes=[2, 3]))


def shifted_windows(seed: int) -> onnx.ModelProto:
    """Swin: the image rolled, cut into windows, attention with a bias by place in each, rolled back, patches merged."""
    g, width, heads, window, side = Graph(seed), 32, 2, 4, 16
    patches = g.op("Conv", "x", g.weights(width, 3, 4, 4), kernel_shape=[4, 4], strides=[4, 4])
    x = g.op("Transpose", patches, perm=[0, 2, 3, 1])

    def rolled(x: str, by: int) -> str:
        for axis in (1, 2):
            parts = (
                g.op("Slice", x, g.constant([start]), g.constant([stop]), g.constant([axis]))
                for start, stop in ((by % side, side), (0, by % side))
            )
            x = g.op("Concat", *parts, axis=axis)
        return x

    def windows(x: str) -> str:
        x = g.op("Reshape", x, g.constant([side // window, window, side // window, window, width]))
        return g.op(
            "Reshape",
            g.op("Transpose", x, perm=[0, 2, 1, 3, 4]),
            g.constant([(side // window) ** 2, window**2, width]),
        )

    def split(x: str, order: Sequence[int]) -> str:
        return g.op(
            "Transpose",
            g.op("Reshape", x, g.constant([(side // window) ** 2, window**2, heads, width // heads])),
            perm=order,
        )

    y = windows(rolled(_layer_norm(g, x, width), 2))
    q, k, v = (
        split(_dense(g, y, width, width), order) for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    y = _attended(g, q, k, v, width // heads, g.weights(1, heads, window**2, window**2, scale=0.5))
    y = g.op(
        "Reshape",
        g.op("Transpose", y, perm=[0, 2, 1, 3]),
        g.constant([side // window, side // window, window, window, width]),
    )
    y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3, 4]), g.constant([1, side, side, width]))
    x = g.op("Add", x, rolled(_dense(g, y, width, width), -2))
    x = g.op(
        "Transpose",
        g.op("Reshape", x, g.constant([1, side // 2, 2, side // 2, 2, width])),
        perm=[0, 1, 3, 2, 4, 5],
    )
    x = g.op("Reshape", x, g.constant([1, side * side // 4, 4 * width]))
    return g.model(
        64, g.op("MatMul", _layer_norm(g, x, 4 * width), g.weights(4 * width, 2 * width, scale=0.1))
    )


def masked_encoder(seed: int) -> onnx.ModelProto:
    """BERT: embeddings, a mask by which tokens are padding, norms behind the sums, the first token pooled."""
    g, tokens, width, heads = Graph(seed), 40, 64, 4
    given = g.op("Slice", g.op("Reshape", "x", g.constant([-1])), g.constant([0]), g.constant([tokens]))
    scaled = g.op("Mul", g.op("Abs", given), g.constant(30, np.float32))
    identifiers = g.op(
        "Cast",
        g.op("Clip", scaled, g.constant(0, np.float32), g.constant(99, np.float32)),
        to=TensorProto.INT64,
    )
    padding = g.op("Cast", g.op("Greater", identifiers, g.constant(60)), to=TensorProto.FLOAT)
    mask = g.op("Mul", g.op("Reshape", padding, g.constant([1, 1, tokens])), g.constant(-1e4, np.float32))
    x = g.op(
        "Add",
        g.op("Gather", g.weights(100, width, scale=1.0), identifiers, axis=0),
        g.weights(tokens, width, scale=1.0),
    )
    x = _layer_norm(g, x, width)

    def split(x: str, order: Sequence[int]) -> str:
        return g.op("Transpose", g.op("Reshape", x, g.constant([tokens, heads, width // heads])), perm=order)

    for _ in range(2):
        q, k, v = (split(_dense(g, x, width, width), order) for order in ([1, 0, 2], [1, 2, 0], [1, 0, 2]))
        y = g.op("Transpose", _attended(g, q, k, v, width // heads, mask), perm=[1, 0, 2])
        x = _layer_norm(
            g, g.op("Add", x, _dense(g, g.op("Reshape", y, g.constant([tokens, width])), width, width)), width
        )
        x = _layer_norm(g, g.op("Add", x, _dense(g, _gelu(g, _dense(g, x, width, 256)), 256, width)), width)
    first = g.op("Gather", x, g.constant(0), axis=0)
    return g.model(32, g.op("Tanh", _dense(g, g.op("Unsqueeze", first, g.constant([0])), width, width)))


def generator(seed: int) -> onnx.ModelProto:
    """A decoder of images: transposed 4x4 convolutions of stride 2, instance norms, tanh."""
    g = Graph(seed)
    x = g.op(
        "Reshape",
        _dense(
            g,
            g.op(
                "Reshape", g.op("AveragePool", "x", kernel_shape=[4, 4], strides=[4, 4]), g.constant([1, 48])
            ),
            48,
            512,
        ),
        g.constant([1, 32, 4, 4]),
    )
    for given, made in ((32, 16), (16, 8), (8, 3)):
        x = g.op(
            "ConvTranspose",
            x,
            g.weights(given, made, 4, 4, scale=(given * 4) ** -0.5),
            kernel_shape=[4, 4],
            strides=[2, 2],
            pads=[1, 1, 1, 1],
        )
        if made != 3:
            x = g.op(
                "Relu",
                g.op(
                    "InstanceNormalization",
                    x,
                    g.constant(np.ones(made), np.float32),
                    g.constant(np.zeros(made), np.float32),
                ),
            )
    return g.model(16, g.op("Tanh", x))


def video(seed: int) -> onnx.ModelProto:
    """3-D convolutions, pooled over time. (None by channel: IREE's import of torch's ops has no such convolution.)"""
    g = Graph(seed)
    x = g.op("Reshape", "x", g.constant([1, 3, 4, 16, 16]))
    x = g.op("Relu", g.convolution(x, 3, 16, 3, dims=3))
    x = g.op("Relu", g.convolution(x, 16, 16, 3, dims=3))
    x = g.op("MaxPool", g.convolution(x, 16, 24, 1, dims=3), kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    x = g.op(
        "Flatten", g.op("GlobalAveragePool", g.op("Relu", g.convolution(x, 24, 32, 3, stride=2, dims=3)))
    )
    return g.model(32, g.op("Gemm", x, g.weights(10, 32), g.weights(10, scale=0.1), transB=1))


def experts(seed: int) -> onnx.ModelProto:
    """A mixture of experts: the two best of four for each token, weighted by a softmax over them."""
    g, tokens, width, count = Graph(seed), 48, 64, 4
    x = g.op("Reshape", "x", g.constant([tokens, width]))
    best, places = g.ops("TopK", [_dense(g, x, width, count), g.constant([2])], 2, axis=-1)
    weights = g.op("Softmax", best, axis=-1)
    hot = g.op("OneHot", places, g.constant(count), g.constant([0, 1], np.float32), axis=-1)
    gates = g.op(
        "ReduceSum",
        g.op("Mul", hot, g.op("Unsqueeze", weights, g.constant([2]))),
        g.constant([1]),
        keepdims=0,
    )
    up = g.op(
        "MatMul", g.op("Unsqueeze", x, g.constant([0])), g.weights(count, width, 128, scale=width**-0.5)
    )
    made = g.op("MatMul", g.op("Mul", up, g.op("Sigmoid", up)), g.weights(count, 128, width, scale=128**-0.5))
    gates = g.op("Unsqueeze", g.op("Transpose", gates, perm=[1, 0]), g.constant([2]))
    return g.model(
        32, g.op("Add", x, g.op("ReduceSum", g.op("Mul", made, gates), g.constant([0]), keepdims=0))
    )


def long_short_memory(seed: int) -> onnx.ModelProto:
    """Two LSTM ops, the second on the first's outputs, over 12 steps."""
    g, width, steps = Graph(seed), 32, 12
    x, given = g.op("Reshape", "x", g.constant([steps, 1, -1])), 3 * 32 * 32 // steps
    for _ in range(2):
        made = g.ops(
            "LSTM",
            [
                x,
                g.weights(1, 4 * width, given, scale=given**-0.5),
                g.weights(1, 4 * width, width, scale=width**-0.5),
                g.weights(1, 8 * width, scale=0.1),
            ],
            3,
            hidden_size=width,
        )
        x, given = g.op("Squeeze", made[0], g.constant([1])), width
    return g.model(32, x)


def gated_recurrence(seed: int) -> onnx.ModelProto:
    """A GRU op over 12 steps, its last state classified."""
    g, width, steps = Graph(seed), 32, 12
    x, given = g.op("Reshape", "x", g.constant([steps, 1, -1])), 3 * 32 * 32 // steps
    made = g.ops(
        "GRU",
        [
            x,
            g.weights(1, 3 * width, given, scale=given**-0.5),
            g.weights(1, 3 * width, width, scale=width**-0.5),
            g.weights(1, 6 * width, scale=0.1),
        ],
        2,
        hidden_size=width,
        linear_before_reset=1,
    )
    return g.model(
        32, g.op("Softmax", _dense(g, g.op("Squeeze", made[1], g.constant([0])), width, 20), axis=-1)
    )


def linear_attention(seed: int) -> onnx.ModelProto:
    """Attention without a softmax over tokens: keys by values first, normalised by a running sum of keys."""
    g, tokens, width = Graph(seed), 48, 64
    x = g.op("Reshape", "x", g.constant([tokens, width]))
    q, k = (g.op("Add", g.op("Elu", _dense(g, x, width, width)), g.constant(1, np.float32)) for _ in range(2))
    context = g.op("MatMul", g.op("Transpose", k, perm=[1, 0]), _dense(g, x, width, width))
    total = g.op("ReduceSum", k, g.constant([0]), keepdims=1)
    running = g.op("CumSum", k, g.constant(0))
    norm = g.op("ReduceSum", g.op("Mul", q, g.op("Add", total, running)), g.constant([1]), keepdims=1)
    return g.model(32, g.op("Add", x, g.op("Div", g.op("MatMul", q, context), norm)))


def cached_decoding(seed: int) -> onnx.ModelProto:
    """One token against a cache of 47: keys and values appended, attention of one row."""
    g, width, heads, cached = Graph(seed), 64, 4, 47
    rows = g.op("Reshape", "x", g.constant([48, 64]))
    x = g.op("Slice", rows, g.constant([cached]), g.constant([48]))
    old = g.op("Slice", rows, g.constant([0]), g.constant([cached]))
    keys, values = (g.op("Concat", old, _dense(g, x, width, width), axis=0) for _ in range(2))

    def split(x: str, count: int, order: Sequence[int]) -> str:
        return g.op("Transpose", g.op("Reshape", x, g.constant([count, heads, width // heads])), perm=order)

    q = split(_dense(g, x, width, width), 1, [1, 0, 2])
    y = _attended(g, q, split(keys, 48, [1, 2, 0]), split(values, 48, [1, 0, 2]), width // heads)
    return g.model(
        32,
        _dense(g, g.op("Reshape", g.op("Transpose", y, perm=[1, 0, 2]), g.constant([1, width])), width, 200),
    )


def style(seed: int) -> onnx.ModelProto:
    """Style transfer: reflected borders, instance norms, a resize before the convolution up."""
    g = Graph(seed)

    def layer(x: str, given: int, made: int, size: int, stride: int = 1) -> str:
        half = size // 2
        x = g.op("Pad", x, g.constant([0, 0, half, half, 0, 0, half, half]), mode="reflect")
        return g.op(
            "Conv",
            x,
            g.weights(made, given, size, size),
            g.weights(made, scale=0.1),
            kernel_shape=[size, size],
            strides=[stride, stride],
        )

    x = layer("x", 3, 16, 9)
    x = g.op(
        "Relu",
        g.op(
            "InstanceNormalization",
            layer(x, 16, 24, 3, 2),
            g.constant(np.ones(24), np.float32),
            g.constant(np.zeros(24), np.float32),
        ),
    )
    x = g.op("Add", x, layer(g.op("Relu", layer(x, 24, 24, 3)), 24, 24, 3))
    x = g.op(
        "Resize",
        x,
        "",
        g.constant([1, 1, 2, 2], np.float32),
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    return g.model(32, g.op("Tanh", layer(x, 24, 3, 9)))


def segmentation(seed: int) -> onnx.ModelProto:
    """Classes by pixel: batch norms apart from the convolutions, a pyramid of poolings, the largest class."""
    g = Graph(seed)

    def normed(x: str, width: int) -> str:
        ones, zeros = g.constant(np.ones(width), np.float32), g.constant(np.zeros(width), np.float32)
        return g.op("Relu", g.op("BatchNormalization", x, ones, zeros, zeros, ones))

    x = normed(g.convolution(normed(g.convolution("x", 3, 16, 3, stride=2), 16), 16, 32, 3), 32)
    pooled = []
    for size in (2, 4, 8):
        y = g.convolution(g.op("AveragePool", x, kernel_shape=[size, size], strides=[size, size]), 32, 8, 1)
        pooled.append(
            g.op(
                "Resize",
                y,
                "",
                g.constant([1, 1, size, size], np.float32),
                mode="linear",
                coordinate_transformation_mode="align_corners",
            )
        )
    x = g.convolution(normed(g.convolution(g.op("Concat", x, *pooled, axis=1), 56, 32, 3), 32), 32, 12, 1)
    return g.model(32, g.op("Softmax", x, axis=1))


MORE_BLOCKS: dict[str, Callable[[int], onnx.ModelProto]] = {
    made.__name__: made
    for made in (
        large_kernels,
        shifted_windows,
        masked_encoder,
        generator,
        video,
        experts,
        long_short_memory,
        gated_recurrence,
        linear_attention,
        cached_decoding,
        style,
        segmentation,
    )
}
"""By name; each takes the seed of its weights."""
