"""Random programs of ordinary quantised and 16-bit patterns: producers -> root -> epilogue, in sizes that people use.

    python -m bench.patterns FOLDER [--count 150] [--seed 0] [--most 2e8]

Then `bench.corpus_numerics FOLDER`, or `fissile compile` on each. The file's name says what is in it:
``017_matmul_group4-ext_bias_f16.mlir``. ``--most`` bounds the root's loop iterations. The same seed writes the
same programs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from bench.program_text import Program, Shape, Value


# --- producers: an f32 (or 16-bit) tensor of a shape ------------------------------------------------------------

DEQUANTISE = ("%k = arith.constant 0.0078125 : f32", "%f = arith.sitofp %i0 : i8 to f32", "%r = arith.mulf %f, %k : f32")


def plain(p: Program, shape: Shape, dynamic: bool) -> Value:
    return p.argument(shape, "f32", dynamic)


def dequantised(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "i8", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", DEQUANTISE)


def transposed(p: Program, shape: Shape, dynamic: bool) -> Value:
    if dynamic or len(shape) < 2:
        return dequantised(p, shape, dynamic)
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    x = p.argument([shape[i] for i in order], "i8")
    return p.pointwise([(x, order)], shape, "f32", DEQUANTISE)


def per_channel(p: Program, shape: Shape, dynamic: bool) -> Value:
    """A scale and a zero point for each index of the last dimension."""
    x, scale, zero = p.argument(shape, "i8", dynamic), p.argument(shape[-1:], "f32"), p.argument(shape[-1:], "f32")
    last = [len(shape) - 1]
    return p.pointwise([(x, range(len(shape))), (scale, last), (zero, last)], shape, "f32", [
        "%f = arith.sitofp %i0 : i8 to f32", "%m = arith.subf %f, %i2 : f32", "%r = arith.mulf %m, %i1 : f32"])


def unsigned(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "i8", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", [
        "%k = arith.constant 0.0039 : f32", "%z = arith.constant 128.0 : f32", "%f = arith.uitofp %i0 : i8 to f32",
        "%m = arith.subf %f, %z : f32", "%r = arith.mulf %m, %k : f32"])


def group4(p: Program, shape: Shape, dynamic: bool) -> Value:
    """4-bit weights with a 16-bit scale for each group of 32 along the first dimension."""
    if dynamic or len(shape) != 2 or shape[0] % 32 or shape[1] % 2:
        return per_channel(p, shape, dynamic)
    groups = (shape[0] // 32, 32, shape[1])
    x, scale = p.argument(groups, "i4"), p.argument((groups[0], groups[2]), "f16")
    wide = p.pointwise([(x, (0, 1, 2)), (scale, (0, 2))], groups, "f32", [
        "%f = arith.sitofp %i0 : i4 to f32", "%s = arith.extf %i1 : f16 to f32", "%r = arith.mulf %f, %s : f32"])
    flat = p.fresh(shape, "f32")
    p.lines.append(f"{flat.name} = tensor.collapse_shape {wide.name} [[0, 1], [2]] : {wide.type} into {flat.type}")
    return flat


def extended(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "f16", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", ["%r = arith.extf %i0 : f16 to f32"])


def brain(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "bf16", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", ["%r = arith.extf %i0 : bf16 to f32"])


def residual(p: Program, shape: Shape, dynamic: bool) -> Value:
    """The sum of two dequantised tensors, then relu."""
    whole = range(len(shape))
    x, y = p.argument(shape, "i8", dynamic), p.argument(shape, "i8", dynamic)
    return p.pointwise([(x, whole), (y, whole)], shape, "f32", [
        "%k = arith.constant 0.0078125 : f32", "%z = arith.constant 0.0 : f32", "%f = arith.sitofp %i0 : i8 to f32",
        "%g = arith.sitofp %i1 : i8 to f32", "%s = arith.addf %f, %g : f32", "%t = arith.mulf %s, %k : f32",
        "%r = arith.maximumf %t, %z : f32"])


def sigmoid_gate(p: Program, shape: Shape, dynamic: bool) -> Value:
    """x * sigmoid(x) of a dequantised tensor: costly to compute twice."""
    x = dequantised(p, shape, dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", [
        "%one = arith.constant 1.0 : f32", "%n = arith.negf %i0 : f32", "%e = math.exp %n : f32",
        "%d = arith.addf %e, %one : f32", "%r = arith.divf %i0, %d : f32"])


def padded(p: Program, shape: Shape, dynamic: bool) -> Value:
    """A dequantised image in a frame of zeros (the two middle dimensions of four)."""
    if dynamic or len(shape) != 4 or min(shape[1:3]) < 4:
        return dequantised(p, shape, dynamic)
    inner = (shape[0], shape[1] - 2, shape[2] - 2, shape[3])
    x = dequantised(p, inner, False)
    zero = p.constant(0.0, "f32")
    out = p.fresh(shape, "f32")
    p.lines.append(f"{out.name} = tensor.pad {x.name} low[0, 1, 1, 0] high[0, 1, 1, 0] {{\n"
                   f"  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):\n    tensor.yield {zero} : f32\n"
                   f"  }} : {x.type} to {out.type}")
    return out


def joined(p: Program, shape: Shape, dynamic: bool) -> Value:
    """Two dequantised halves, one behind the other along the last dimension."""
    if dynamic or shape[-1] < 2:
        return dequantised(p, shape, dynamic)
    left = shape[-1] // 2
    a, b = (dequantised(p, (*shape[:-1], n), False) for n in (left, shape[-1] - left))
    out = p.fresh(shape, "f32")
    p.lines.append(f"{out.name} = tensor.concat dim({len(shape) - 1}) {a.name}, {b.name} : ({a.type}, {b.type}) -> {out.type}")
    return out


def cut_out(p: Program, shape: Shape, dynamic: bool) -> Value:
    """A window of a larger dequantised tensor."""
    if dynamic:
        return dequantised(p, shape, dynamic)
    x = dequantised(p, (*shape[:-1], shape[-1] + 3), False)
    out = p.fresh(shape, "f32")
    p.lines.append(f"{out.name} = tensor.extract_slice {x.name}[{', '.join(['0'] * (len(shape) - 1) + ['1'])}] "
                   f"[{', '.join(map(str, shape))}] [{', '.join(['1'] * len(shape))}] : {x.type} to {out.type}")
    return out


def half(p: Program, shape: Shape, dynamic: bool) -> Value:
    return p.argument(shape, "f16", dynamic)


def half_dequantised(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "i8", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f16", [
        "%k = arith.constant 0.0078125 : f16", "%f = arith.sitofp %i0 : i8 to f16", "%r = arith.mulf %f, %k : f16"])


PRODUCERS: dict[str, Callable[[Program, Shape, bool], Value]] = {
    "none": plain, "dq": dequantised, "dqt": transposed, "dqc": per_channel, "dqu": unsigned, "group4": group4,
    "ext": extended, "bf16": brain, "residual": residual, "gate": sigmoid_gate, "pad": padded, "concat": joined,
    "slice": cut_out, "f16": half, "dqh": half_dequantised,
}
HALVES = ("f16", "dqh")


# --- roots ------------------------------------------------------------------------------------------------------

def window(strides: int, dilation: int, rank: int) -> str:
    return f"{{dilations = dense<{dilation}> : vector<{rank}xi64>, strides = dense<{strides}> : vector<{rank}xi64>}}"


@dataclass(frozen=True)
class Root:
    """``operands`` and ``result`` are shapes; ``work`` its loop iterations; ``build`` appends it."""

    operands: tuple[Shape, ...]
    result: Shape
    work: int
    build: Callable[[Program, Sequence[Value], str], Value]
    dynamic: bool = False
    """Whether the first dimension of the first operand and of the result may be unknown."""


def contraction(op: str, result: Shape, attributes: str = "", number: float = 0.0):
    def build(p: Program, values: Sequence[Value], element: str) -> Value:
        like = next((v for v in values if v.dynamic), None)
        return p.named(op, values, p.filled(result, element, number, like), attributes)

    return build


def convolution(r: random.Random, layout: str) -> Root:
    n, c, h = r.choice((1, 1, 2)), r.choice((3, 16, 32, 48, 64, 96, 128, 256)), r.choice((7, 8, 13, 14, 28, 32, 56))
    f, k, s, d = r.choice((8, 24, 32, 64, 128, 256)), r.choice((1, 2, 3, 3, 5)), r.choice((1, 1, 2)), r.choice((1, 1, 1, 2))
    size = (h - 1) * s + (k - 1) * d + 1
    if layout == "nchw":
        shapes, result, op = ((n, c, size, size), (f, c, k, k)), (n, f, h, h), "linalg.conv_2d_nchw_fchw"
    else:
        shapes, result, op = ((n, size, size, c), (k, k, c, f)), (n, h, h, f), "linalg.conv_2d_nhwc_hwcf"
    return Root(shapes, result, n * c * h * h * f * k * k, contraction(op, result, window(s, d, 2)))


def depthwise(r: random.Random) -> Root:
    c, h, k, s = r.choice((32, 64, 96, 144, 512)), r.choice((7, 14, 28, 56)), r.choice((3, 5)), r.choice((1, 2))
    size, result = (h - 1) * s + k, (1, h, h, c)
    return Root(((1, size, size, c), (k, k, c)), result, h * h * c * k * k,
                contraction("linalg.depthwise_conv_2d_nhwc_hwc", result, window(s, 1, 2)))


def grouped(r: random.Random) -> Root:
    g, c, f, h, k = r.choice((2, 4, 8)), r.choice((8, 16, 32)), r.choice((8, 16, 32)), r.choice((7, 14, 28)), r.choice((1, 3))
    result = (1, g, f, h, h)
    return Root(((1, g, c, h + k - 1, h + k - 1), (g, f, c, k, k)), result, g * c * f * h * h * k * k,
                contraction("linalg.conv_2d_ngchw_gfchw", result, window(1, 1, 2)))


def one_dimensional(r: random.Random) -> Root:
    c, w, f, k = r.choice((16, 64, 80)), r.choice((50, 128, 300)), r.choice((32, 64, 128)), r.choice((3, 5, 9))
    result = (1, w, f)
    return Root(((1, w + k - 1, c), (k, c, f)), result, w * c * f * k,
                contraction("linalg.conv_1d_nwc_wcf", result, window(1, 1, 1)))


def volume(r: random.Random) -> Root:
    c, h, f, k = r.choice((3, 8, 16)), r.choice((6, 8, 14)), r.choice((8, 16, 32)), r.choice((2, 3))
    result, size = (1, h, h, h, f), h + k - 1
    return Root(((1, size, size, size, c), (k, k, k, c, f)), result, h**3 * c * f * k**3,
                contraction("linalg.conv_3d_ndhwc_dhwcf", result, window(1, 1, 3)))


def matmul(r: random.Random) -> Root:
    m, n, k = r.choice((1, 4, 33, 64, 100, 128, 197)), r.choice((10, 64, 77, 256, 768, 1000)), r.choice((32, 64, 96, 320, 768))
    return Root(((m, k), (k, n)), (m, n), m * n * k, contraction("linalg.matmul", (m, n)), dynamic=True)


def matmul_by_rows(r: random.Random) -> Root:
    """Both operands have the summed dimension last, as most frameworks store weights."""
    m, n, k = r.choice((1, 8, 50, 128)), r.choice((64, 100, 512)), r.choice((64, 96, 300, 512))

    def build(p: Program, values: Sequence[Value], element: str) -> Value:
        like = next((v for v in values if v.dynamic), None)
        a, b = values
        out = p.filled((m, n), element, like=like)
        body = [] if a.element == element else [f"%x = arith.extf %i0 : {a.element} to {element}"]
        body += [] if b.element == element else [f"%y = arith.extf %i1 : {b.element} to {element}"]
        x, y = ("%i0" if a.element == element else "%x"), ("%i1" if b.element == element else "%y")
        body += [f"%m = arith.mulf {x}, {y} : {element}", f"%r = arith.addf %m, %o0 : {element}"]
        return p.generic([(a, (0, 2)), (b, (1, 2))], [(out, (0, 1))], 3, body, ["%r"])[0]

    return Root(((m, k), (n, k)), (m, n), m * n * k, build, dynamic=True)


def batch_matmul(r: random.Random) -> Root:
    b, m, n, k = r.choice((2, 8, 12)), r.choice((1, 16, 49, 128)), r.choice((32, 64, 128, 197)), r.choice((32, 64, 100))
    return Root(((b, m, k), (b, k, n)), (b, m, n), b * m * n * k, contraction("linalg.batch_matmul", (b, m, n)))


def matvec(r: random.Random) -> Root:
    m, k = r.choice((100, 512, 1000)), r.choice((64, 300, 768))
    return Root(((m, k), (k,)), (m,), m * k, contraction("linalg.matvec", (m,)))


def pool(r: random.Random) -> Root:
    op, start = r.choice((("sum", 0.0), ("max", -1e30), ("min", 1e30)))
    c, h, k, s = r.choice((16, 64, 96, 256)), r.choice((7, 14, 27, 56)), r.choice((2, 3, 7)), r.choice((1, 2))
    result, size = (1, h, h, c), (h - 1) * s + k

    def build(p: Program, values: Sequence[Value], element: str) -> Value:
        element = values[0].element  # poolings do not extend
        kernel = p.empty((k, k), element)
        limit = start if element == "f32" else max(-6e4, min(6e4, start))
        return p.named(f"linalg.pooling_nhwc_{op}", [values[0], kernel], p.filled(result, element, limit), window(s, 1, 2))

    return Root(((1, size, size, c),), result, h * h * c * k * k, build)


def row_reduction(r: random.Random) -> Root:
    m, n = r.choice((1, 16, 100, 512, 3000)), r.choice((32, 100, 197, 1000, 8192))

    def build(p: Program, values: Sequence[Value], element: str) -> Value:
        x = values[0]
        like = x if x.dynamic else None
        out = p.filled((m,), element, like=like)
        body = [] if x.element == element else [f"%x = arith.extf %i0 : {x.element} to {element}"]
        body += [f"%r = arith.addf {'%i0' if x.element == element else '%x'}, %o0 : {element}"]
        return p.generic([(x, (0, 1))], [(out, (0,))], 2, body, ["%r"])[0]

    return Root(((m, n),), (m,), m * n, build, dynamic=True)


def softmax(r: random.Random) -> Root:
    m, n = r.choice((1, 12, 100, 768)), r.choice((10, 49, 197, 1000, 2048))

    def build(p: Program, values: Sequence[Value], element: str) -> Value:
        x = values[0]
        out = p.empty((m, n), x.element, x if x.dynamic else None)
        result = p.fresh(out.shape, out.element, out.dynamic)
        p.lines.append(f"{result.name} = linalg.softmax dimension(1) ins({x.name} : {x.type}) outs({out.name} : {out.type}) "
                       f"-> {out.type}")
        return result

    return Root(((m, n),), (m, n), m * n * 3, build, dynamic=True)


def layer_norm(r: random.Random) -> Root:
    """Mean and mean square in one op of two results, then (x - mean) / sqrt(variance + epsilon)."""
    m, n = r.choice((1, 16, 128, 197)), r.choice((64, 100, 384, 768))

    def build(p: Program, values: Sequence[Value], element: str) -> Value:
        x = values[0]
        if x.element != "f32":
            x = p.pointwise([(x, (0, 1))], (m, n), "f32", [f"%r = arith.extf %i0 : {x.element} to f32"])
        like = x if x.dynamic else None
        sums = p.generic([(x, (0, 1))], [(p.filled((m,), "f32", like=like), (0,)), (p.filled((m,), "f32", like=like), (0,))], 2, [
            "%s = arith.addf %i0, %o0 : f32", "%q = arith.mulf %i0, %i0 : f32", "%t = arith.addf %q, %o1 : f32"], ["%s", "%t"])
        return p.pointwise([(x, (0, 1)), (sums[0], (0,)), (sums[1], (0,))], (m, n), "f32", [
            f"%n = arith.constant {float(n)} : f32", "%eps = arith.constant 1.0e-5 : f32", "%mean = arith.divf %i1, %n : f32",
            "%sq = arith.divf %i2, %n : f32", "%mm = arith.mulf %mean, %mean : f32", "%var = arith.subf %sq, %mm : f32",
            "%ve = arith.addf %var, %eps : f32", "%rs = math.rsqrt %ve : f32", "%c = arith.subf %i0, %mean : f32",
            "%r = arith.mulf %c, %rs : f32"])

    return Root(((m, n),), (m, n), m * n * 3, build, dynamic=True)


def pointwise_only(r: random.Random) -> Root:
    shape = (r.choice((1, 7, 64)), r.choice((33, 100, 4096)))
    return Root((shape,), shape, prod(shape), lambda p, values, element: values[0], dynamic=True)


ROOTS: dict[str, tuple[int, Callable[[random.Random], Root]]] = {
    "nchw": (4, lambda r: convolution(r, "nchw")), "nhwc": (4, lambda r: convolution(r, "nhwc")), "depthwise": (2, depthwise),
    "grouped": (1, grouped), "conv1d": (1, one_dimensional), "conv3d": (1, volume), "matmul": (4, matmul),
    "rows": (3, matmul_by_rows), "bmm": (3, batch_matmul), "matvec": (1, matvec), "pool": (2, pool), "sum": (2, row_reduction),
    "softmax": (2, softmax), "norm": (2, layer_norm), "point": (1, pointwise_only),
}
"""Name -> (how often it is drawn, how it is made)."""


# --- epilogues --------------------------------------------------------------------------------------------------

QUANTISE = ("%k = arith.constant 0.05 : f32", "%lo = arith.constant -128.0 : f32", "%hi = arith.constant 127.0 : f32",
            "%q0 = arith.divf %in, %k : f32", "%q1 = math.roundeven %q0 : f32", "%q2 = arith.maximumf %q1, %lo : f32",
            "%q3 = arith.minimumf %q2, %hi : f32", "%r = arith.fptosi %q3 : f32 to i8")


def as_f32(p: Program, x: Value) -> Value:
    if x.element == "f32":
        return x
    return p.pointwise([(x, range(len(x.shape)))], x.shape, "f32", [f"%r = arith.extf %i0 : {x.element} to f32"])


def nothing(p: Program, x: Value) -> list[Value]:
    return [x]


def quantised(p: Program, x: Value) -> list[Value]:
    x = as_f32(p, x)
    body = [line.replace("%in", "%relu") for line in QUANTISE]
    return [p.pointwise([(x, range(len(x.shape)))], x.shape, "i8",
                        ["%zero = arith.constant 0.0 : f32", "%relu = arith.maximumf %i0, %zero : f32", *body])]


def bias_half(p: Program, x: Value) -> list[Value]:
    """A bias for each index of the last dimension, relu, rounded to f16."""
    x = as_f32(p, x)
    last = len(x.shape) - 1
    bias = p.argument(x.shape[-1:] if not (x.dynamic and last == 0) else (1,), "f32")
    if bias.shape != x.shape[-1:]:
        return [x]
    return [p.pointwise([(x, range(last + 1)), (bias, [last])], x.shape, "f16", [
        "%zero = arith.constant 0.0 : f32", "%b = arith.addf %i0, %i1 : f32", "%c = arith.maximumf %b, %zero : f32",
        "%r = arith.truncf %c : f32 to f16"])]


def add_quantised(p: Program, x: Value) -> list[Value]:
    """A dequantised residual, then quantised again."""
    x = as_f32(p, x)
    whole = range(len(x.shape))
    other = p.argument(x.shape, "i8", x.dynamic)
    body = [line.replace("%in", "%sum") for line in QUANTISE]
    return [p.pointwise([(x, whole), (other, whole)], x.shape, "i8", [
        "%y = arith.sitofp %i1 : i8 to f32", "%sum = arith.addf %i0, %y : f32", *body])]


def turned(p: Program, x: Value) -> list[Value]:
    x = as_f32(p, x)
    if len(x.shape) < 2 or x.dynamic:
        return [x]
    order = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
    shape = [x.shape[i] for i in order]
    return [p.pointwise([(x, order)], shape, "f32", ["%r = math.tanh %i0 : f32"])]


def summed(p: Program, x: Value) -> list[Value]:
    x = as_f32(p, x)
    if len(x.shape) < 2:
        return [x]
    axes = list(range(len(x.shape)))
    out = p.filled(x.shape[:-1], "f32", like=x if x.dynamic else None)
    return p.generic([(x, axes)], [(out, axes[:-1])], len(axes), ["%r = arith.addf %i0, %o0 : f32"], ["%r"])


def both(p: Program, x: Value) -> list[Value]:
    """The tensor itself, and quantised."""
    return [as_f32(p, x), *quantised(p, x)]


def arg_max(p: Program, x: Value) -> list[Value]:
    """The largest value of each row and where it stands: one op of two results."""
    x = as_f32(p, x)
    if len(x.shape) < 2:
        return [x]
    axes = list(range(len(x.shape)))
    like = x if x.dynamic else None
    best, at = p.filled(x.shape[:-1], "f32", -3e38, like), p.filled(x.shape[:-1], "i32", 0, like)
    return p.generic([(x, axes)], [(best, axes[:-1]), (at, axes[:-1])], len(axes), [
        f"%n = linalg.index {len(axes) - 1} : index", "%i = arith.index_cast %n : index to i32",
        "%g = arith.cmpf ogt, %i0, %o0 : f32", "%v = arith.select %g, %i0, %o0 : f32", "%w = arith.select %g, %i, %o1 : i32"],
        ["%v", "%w"])


def rows_softmax(p: Program, x: Value) -> list[Value]:
    x = as_f32(p, x)
    out = p.empty(x.shape, "f32", x if x.dynamic else None)
    result = p.fresh(x.shape, "f32", x.dynamic)
    p.lines.append(f"{result.name} = linalg.softmax dimension({len(x.shape) - 1}) ins({x.name} : {x.type}) "
                   f"outs({out.name} : {out.type}) -> {out.type}")
    return [result]


EPILOGUES: dict[str, Callable[[Program, Value], list[Value]]] = {
    "id": nothing, "q": quantised, "bias16": bias_half, "addq": add_quantised, "t": turned, "sum": summed, "both": both,
    "argmax": arg_max, "softmax": rows_softmax,
}


def program(r: random.Random, most: float, together: int = 1) -> tuple[str, str]:
    """(name, text) of one random program: ``together`` patterns side by side, some of them of the same root and size."""
    p, names, results = Program(), [], []
    drawn: list[tuple[str, Root]] = []
    for _ in range(together):
        if drawn and r.random() < 0.5:
            drawn.append(drawn[-1])
        else:
            drawn.append(_root(r, most))
    for kind, root in drawn:
        name, values = _pattern(r, p, kind, root)
        names.append(name)
        results += values
    return "+".join(names), p.text(results)


def _root(r: random.Random, most: float) -> tuple[str, Root]:
    while True:
        kind = r.choices(list(ROOTS), [weight for weight, _ in ROOTS.values()])[0]
        root = ROOTS[kind][1](r)
        if root.work <= most:
            return kind, root


def _pattern(r: random.Random, p: Program, kind: str, root: Root) -> tuple[str, list[Value]]:
    dynamic = root.dynamic and r.random() < 0.2
    names = [r.choice(list(PRODUCERS)) for _ in root.operands]
    if any(name in HALVES for name in names) and len(names) > 1:  # both operands of one type
        names = [name if name in HALVES else r.choice(HALVES) for name in names]
    values = [PRODUCERS[name](p, shape, dynamic and i == 0) for i, (name, shape) in enumerate(zip(names, root.operands, strict=True))]
    element = r.choice(("f32", "f32", "f16")) if values[0].element == "f16" else "f32"
    result = root.build(p, values, element)
    ending = r.choice(list(EPILOGUES))
    name = f"{kind}_{'-'.join(names)}_{ending}{'_acc16' if element == 'f16' else ''}{'_dynamic' if dynamic else ''}"
    return name, EPILOGUES[ending](p, result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=2e8, help="loop iterations of a pattern")
    parser.add_argument("--together", type=int, default=1, help="patterns in one program, side by side (default 1)")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    r = random.Random(arguments.seed)
    for number in range(arguments.count):
        name, text = program(r, arguments.most, arguments.together)
        (arguments.folder / f"{number:03d}_{name}.mlir").write_text(text)
    print(f"{arguments.count} programs in {arguments.folder}")


if __name__ == "__main__":
    main()
