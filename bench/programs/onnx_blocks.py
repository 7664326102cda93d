"""Small networks in the manner of architectures that ONNX's reference models lack, with random weights.

Inverted residuals, squeeze-and-excitation, up-sampling with skips, vision transformer, group norm, dilated pyramids, 1-D convolutions,
mixers, super-resolution, decoder, recurrence, detector: written in ONNX ops as exporters write them, [1, 3, pixels, pixels] in, small enough that lavapipe runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import TensorProto

from bench.programs.onnx_graph import Graph
from bench.programs.onnx_more_blocks import MORE_BLOCKS


def inverted_residuals(seed: int) -> onnx.ModelProto:
    """MobileNetV2's blocks, relu6, classifier."""
    g = Graph(seed)

    def layer(x: str, given: int, made: int, size: int, stride: int = 1, groups: int = 1) -> str:
        y = g.convolution(x, given, made, size, stride=stride, groups=groups)
        return g.op("Clip", y, g.constant(0, np.float32), g.constant(6, np.float32))

    x = layer("x", 3, 16, 3, 2)
    for given, made, stride, factor in ((16, 16, 1, 1), (16, 24, 2, 6), (24, 24, 1, 6), (24, 40, 2, 6)):
        y = layer(x, given, given * factor, 1) if factor > 1 else x
        y = layer(y, given * factor, given * factor, 3, stride, given * factor)
        y = g.convolution(y, given * factor, made, 1)
        x = g.op("Add", x, y) if (given, stride) == (made, 1) else y
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    return g.model(64, g.op("Gemm", x, g.weights(100, 40), g.weights(100, scale=0.1), transB=1))


def squeeze_excitation(seed: int) -> onnx.ModelProto:
    """MobileNetV3's gate and activations, a 5x5 convolution."""
    g = Graph(seed)
    x = g.op("HardSwish", g.convolution("x", 3, 32, 3, stride=2))
    gate = g.op("Relu", g.convolution(g.op("GlobalAveragePool", x), 32, 8, 1))
    x = g.op("Mul", x, g.op("HardSigmoid", g.convolution(gate, 8, 32, 1)))
    return g.model(64, g.op("Sigmoid", g.convolution(x, 32, 64, 5, stride=2)))


def skips(seed: int) -> onnx.ModelProto:
    """U-Net: pooling down, a transposed convolution and a resize up, concatenated skips."""
    g = Graph(seed)

    def layer(x: str, given: int, made: int) -> str:
        return g.op("Relu", g.convolution(x, given, made, 3))

    top = layer("x", 3, 16)
    middle = layer(g.op("MaxPool", top, kernel_shape=[2, 2], strides=[2, 2]), 16, 32)
    low = layer(g.op("MaxPool", middle, kernel_shape=[2, 2], strides=[2, 2]), 32, 32)
    up = g.op(
        "ConvTranspose",
        low,
        g.weights(32, 16, 2, 2),
        g.weights(16, scale=0.1),
        kernel_shape=[2, 2],
        strides=[2, 2],
    )
    up = layer(g.op("Concat", up, middle, axis=1), 48, 16)
    up = g.op(
        "Resize",
        up,
        "",
        g.constant([1, 1, 2, 2], np.float32),
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    return g.model(32, g.convolution(layer(g.op("Concat", up, top, axis=1), 32, 8), 8, 4, 1))


def vision_transformer(seed: int) -> onnx.ModelProto:
    """Patches, two blocks of attention and GELU with layer norms."""
    g, width, heads, tokens = Graph(seed), 64, 4, 64

    def dense(x: str, given: int, made: int) -> str:
        return g.op(
            "Add", g.op("MatMul", x, g.weights(given, made, scale=given**-0.5)), g.weights(made, scale=0.1)
        )

    def norm(x: str) -> str:
        return g.op(
            "LayerNormalization",
            x,
            g.constant(np.ones(width), np.float32),
            g.weights(width, scale=0.1),
            axis=-1,
        )

    def split(x: str, order: Sequence[int]) -> str:
        return g.op(
            "Transpose", g.op("Reshape", x, g.constant([1, tokens, heads, width // heads])), perm=order
        )

    patches = g.op(
        "Conv",
        "x",
        g.weights(width, 3, 8, 8),
        g.weights(width, scale=0.1),
        kernel_shape=[8, 8],
        strides=[8, 8],
    )
    x = g.op("Transpose", g.op("Reshape", patches, g.constant([1, width, tokens])), perm=[0, 2, 1])
    for _ in range(2):
        y = norm(x)
        q, k, v = (
            split(dense(y, width, width), order) for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        scores = g.op("Div", g.op("MatMul", q, k), g.constant((width / heads) ** 0.5, np.float32))
        y = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = g.op("Add", x, dense(g.op("Reshape", y, g.constant([1, tokens, width])), width, width))
        y = dense(norm(x), width, 4 * width)
        error = g.op("Erf", g.op("Div", y, g.constant(2**0.5, np.float32)))
        y = g.op(
            "Mul", g.op("Mul", y, g.op("Add", error, g.constant(1, np.float32))), g.constant(0.5, np.float32)
        )
        x = g.op("Add", x, dense(y, 4 * width, width))
    return g.model(64, g.op("ReduceMean", x, axes=[1]))


def group_norm(seed: int) -> onnx.ModelProto:
    """A diffusion model's residual block: group norm as an instance norm, swish, average pooling."""
    g = Graph(seed)
    x = g.convolution("x", 3, 32, 3)
    y = g.op(
        "InstanceNormalization",
        g.op("Reshape", x, g.constant([1, 8, -1])),
        g.constant(np.ones(8), np.float32),
        g.constant(np.zeros(8), np.float32),
    )
    y = g.op("Reshape", y, g.constant([1, 32, 32, 32]))
    y = g.op("Add", g.convolution(g.op("Mul", y, g.op("Sigmoid", y)), 32, 32, 3), x)
    return g.model(32, g.op("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))


def dilated_pyramid(seed: int) -> onnx.ModelProto:
    """DeepLab's head: convolutions of several dilations and an image-wide branch, resized bilinearly."""
    g = Graph(seed)
    x = g.op("Relu", g.convolution("x", 3, 32, 3, stride=2))
    branches = [g.op("Relu", g.convolution(x, 32, 16, 3, dilation=d)) for d in (1, 2, 4)]
    whole = g.op(
        "Expand", g.convolution(g.op("GlobalAveragePool", x), 32, 16, 1), g.constant([1, 16, 24, 24])
    )
    x = g.convolution(g.op("Concat", *branches, whole, axis=1), 64, 21, 1)
    return g.model(
        48,
        g.op(
            "Resize",
            x,
            "",
            g.constant([1, 1, 2, 2], np.float32),
            mode="linear",
            coordinate_transformation_mode="half_pixel",
        ),
    )


def temporal(seed: int) -> onnx.ModelProto:
    """Dilated 1-D convolutions with residuals over 1024 steps, scores by the largest of each."""
    g = Graph(seed)
    x = g.op("Reshape", "x", g.constant([1, 3, 1024]))
    for given, dilation in ((3, 1), (32, 2), (32, 4)):
        y = g.op("Relu", g.convolution(x, given, 32, 3, dilation=dilation, dims=1))
        x = g.op("Add", x, y) if given == 32 else y
    x = g.op("MatMul", g.op("Transpose", x, perm=[0, 2, 1]), g.weights(32, 10))
    return g.model(32, g.op("Softmax", g.op("ReduceMax", x, axes=[1], keepdims=0), axis=-1))


def mixer(seed: int) -> onnx.ModelProto:
    """Matmuls over tokens, then over channels; the logarithm of a softmax."""
    g = Graph(seed)
    patches = g.op("Conv", "x", g.weights(48, 3, 4, 4), kernel_shape=[4, 4], strides=[4, 4])
    x = g.op("Reshape", patches, g.constant([1, 48, 64]))
    for given in (64, 48):
        y = g.op("Tanh", g.op("MatMul", x, g.weights(given, 96, scale=given**-0.5)))
        x = g.op(
            "Transpose", g.op("Add", x, g.op("MatMul", y, g.weights(96, given, scale=0.1))), perm=[0, 2, 1]
        )
    x = g.op("ReduceMean", x, axes=[1], keepdims=0)
    return g.model(32, g.op("LogSoftmax", x, axis=-1))


def super_resolution(seed: int) -> onnx.ModelProto:
    """ESPCN: convolutions, then channels moved into pixels; PReLU."""
    g = Graph(seed)
    x = "x"
    for given, made, size in ((3, 32, 5), (32, 16, 3)):
        x = g.op(
            "PRelu", g.convolution(x, given, made, size), g.constant(np.full((made, 1, 1), 0.1), np.float32)
        )
    return g.model(
        32,
        g.op(
            "Clip",
            g.op("DepthToSpace", g.convolution(x, 16, 12, 3), blocksize=2, mode="DCR"),
            g.constant(-1, np.float32),
            g.constant(1, np.float32),
        ),
    )


def language_model(seed: int) -> onnx.ModelProto:
    """A decoder: embeddings by token, rotary positions, grouped queries, a causal mask, RMS norms, gated SiLU, logits."""
    g, tokens, width, heads, shared, size = Graph(seed), 48, 64, 4, 2, 16
    scaled = g.op("Mul", g.op("Abs", g.op("Reshape", "x", g.constant([-1]))), g.constant(40, np.float32))
    wanted = g.op("Slice", scaled, g.constant([0]), g.constant([tokens]))
    identifiers = g.op(
        "Cast",
        g.op("Clip", wanted, g.constant(0, np.float32), g.constant(199, np.float32)),
        to=TensorProto.INT64,
    )
    x = g.op("Gather", g.weights(200, width, scale=1.0), identifiers, axis=0)
    angles = np.outer(np.arange(tokens), 10000.0 ** (-np.arange(0, size, 2) / size))
    angles = np.concatenate([angles, angles], axis=1)
    cosines, sines = g.constant(np.cos(angles), np.float32), g.constant(np.sin(angles), np.float32)
    mask = g.constant(np.triu(np.full((tokens, tokens), -1e4), 1), np.float32)

    def norm(x: str) -> str:
        mean = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1])
        root = g.op("Sqrt", g.op("Add", mean, g.constant(1e-5, np.float32)))
        return g.op("Mul", g.op("Div", x, root), g.constant(np.ones(width), np.float32))

    def dense(x: str, given: int, made: int) -> str:
        return g.op("MatMul", x, g.weights(given, made, scale=given**-0.5))

    def split(x: str, count: int) -> str:
        return g.op("Transpose", g.op("Reshape", x, g.constant([tokens, count, size])), perm=[1, 0, 2])

    def turned(x: str) -> str:
        low = g.op("Slice", x, g.constant([0]), g.constant([size // 2]), g.constant([2]))
        high = g.op("Slice", x, g.constant([size // 2]), g.constant([size]), g.constant([2]))
        other = g.op("Concat", g.op("Neg", high), low, axis=-1)
        return g.op("Add", g.op("Mul", x, cosines), g.op("Mul", other, sines))

    def repeated(x: str) -> str:
        x = g.op(
            "Expand",
            g.op("Unsqueeze", x, g.constant([1])),
            g.constant([shared, heads // shared, tokens, size]),
        )
        return g.op("Reshape", x, g.constant([heads, tokens, size]))

    for _ in range(2):
        y = norm(x)
        q = turned(split(dense(y, width, width), heads))
        k = repeated(turned(split(dense(y, width, shared * size), shared)))
        v = repeated(split(dense(y, width, shared * size), shared))
        scores = g.op(
            "Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), g.constant(size**-0.5, np.float32)
        )
        y = g.op("MatMul", g.op("Softmax", g.op("Add", scores, mask), axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[1, 0, 2]), g.constant([tokens, width]))
        x = g.op("Add", x, dense(y, width, width))
        y = norm(x)
        gate = dense(y, width, 128)
        gate = g.op("Mul", gate, g.op("Sigmoid", gate))
        x = g.op("Add", x, dense(g.op("Mul", gate, dense(y, width, 128)), 128, width))
    return g.model(32, dense(norm(x), width, 200))


def recurrent(seed: int) -> onnx.ModelProto:
    """A GRU written out over 8 steps, from the rows of the image."""
    g, width = Graph(seed), 32
    rows = g.op("Reshape", "x", g.constant([8, -1]))
    state = g.constant(np.zeros((1, width)), np.float32)
    given = 3 * 32 * 32 // 8
    into = [g.weights(given, width, scale=given**-0.5) for _ in range(3)]
    back = [g.weights(width, width, scale=width**-0.5) for _ in range(3)]
    for step in range(8):
        x = g.op("Slice", rows, g.constant([step]), g.constant([step + 1]), g.constant([0]))
        inputs = [g.op("MatMul", x, w) for w in into]
        update = g.op("Sigmoid", g.op("Add", inputs[0], g.op("MatMul", state, back[0])))
        reset = g.op("Sigmoid", g.op("Add", inputs[1], g.op("MatMul", state, back[1])))
        found = g.op("Tanh", g.op("Add", inputs[2], g.op("MatMul", g.op("Mul", reset, state), back[2])))
        kept = g.op("Mul", update, state)
        state = g.op("Add", kept, g.op("Mul", g.op("Sub", g.constant(1, np.float32), update), found))
    return g.model(32, state)


def detector(seed: int) -> onnx.ModelProto:
    """A head over a grid: boxes and scores, the 20 best of them picked by their scores."""
    g = Graph(seed)
    x = g.op("LeakyRelu", g.convolution("x", 3, 32, 3, stride=2), alpha=0.1)
    x = g.op("LeakyRelu", g.convolution(x, 32, 32, 3, stride=2), alpha=0.1)

    def flat(x: str, made: int) -> str:
        return g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 3, 1]), g.constant([64, made]))

    boxes = g.op("Exp", g.op("Tanh", flat(g.convolution(x, 32, 4, 1), 4)))
    scores = g.op("ReduceMax", g.op("Sigmoid", flat(g.convolution(x, 32, 10, 1), 10)), axes=[1], keepdims=0)
    best, places = g.ops("TopK", [scores, g.constant([20])], 2, axis=0)
    return g.model(
        32,
        g.op(
            "Concat", g.op("Unsqueeze", best, g.constant([1])), g.op("Gather", boxes, places, axis=0), axis=1
        ),
    )


BLOCKS: dict[str, Callable[[int], onnx.ModelProto]] = {
    "inverted_residuals": inverted_residuals,
    "squeeze_excitation": squeeze_excitation,
    "skips": skips,
    "vision_transformer": vision_transformer,
    "group_norm": group_norm,
    "dilated_pyramid": dilated_pyramid,
    "temporal": temporal,
    "mixer": mixer,
    "super_resolution": super_resolution,
    "language_model": language_model,
    "recurrent": recurrent,
    "detector": detector,
    **MORE_BLOCKS,
}
"""By name; each takes the seed of its weights."""
