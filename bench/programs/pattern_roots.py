"""Roots of bench/programs/patterns.py: convolutions, matmuls, windows, reductions and softmax in sizes that people use."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from bench.programs.text.program_text import Program, Shape, Value


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
    n, c, h = (
        r.choice((1, 1, 2)),
        r.choice((3, 16, 32, 48, 64, 96, 128, 256)),
        r.choice((7, 8, 13, 14, 28, 32, 56)),
    )
    f, k, s, d = (
        r.choice((8, 24, 32, 64, 128, 256)),
        r.choice((1, 2, 3, 3, 5)),
        r.choice((1, 1, 2)),
        r.choice((1, 1, 1, 2)),
    )
    size = (h - 1) * s + (k - 1) * d + 1
    if layout == "nchw":
        shapes, result, op = ((n, c, size, size), (f, c, k, k)), (n, f, h, h), "linalg.conv_2d_nchw_fchw"
    else:
        shapes, result, op = ((n, size, size, c), (k, k, c, f)), (n, h, h, f), "linalg.conv_2d_nhwc_hwcf"
    return Root(shapes, result, n * c * h * h * f * k * k, contraction(op, result, window(s, d, 2)))


def depthwise(r: random.Random) -> Root:
    c, h, k, s = (
        r.choice((32, 64, 96, 144, 512)),
        r.choice((7, 14, 28, 56)),
        r.choice((3, 5)),
        r.choice((1, 2)),
    )
    size, result = (h - 1) * s + k, (1, h, h, c)
    return Root(
        ((1, size, size, c), (k, k, c)),
        result,
        h * h * c * k * k,
        contraction("linalg.depthwise_conv_2d_nhwc_hwc", result, window(s, 1, 2)),
    )


def grouped(r: random.Random) -> Root:
    g, c, f, h, k = (
        r.choice((2, 4, 8)),
        r.choice((8, 16, 32)),
        r.choice((8, 16, 32)),
        r.choice((7, 14, 28)),
        r.choice((1, 3)),
    )
    result = (1, g, f, h, h)
    return Root(
        ((1, g, c, h + k - 1, h + k - 1), (g, f, c, k, k)),
        result,
        g * c * f * h * h * k * k,
        contraction("linalg.conv_2d_ngchw_gfchw", result, window(1, 1, 2)),
    )


def one_dimensional(r: random.Random) -> Root:
    c, w, f, k = (
        r.choice((16, 64, 80)),
        r.choice((50, 128, 300)),
        r.choice((32, 64, 128)),
        r.choice((3, 5, 9)),
    )
    result = (1, w, f)
    return Root(
        ((1, w + k - 1, c), (k, c, f)),
        result,
        w * c * f * k,
        contraction("linalg.conv_1d_nwc_wcf", result, window(1, 1, 1)),
    )


def volume(r: random.Random) -> Root:
    c, h, f, k = r.choice((3, 8, 16)), r.choice((6, 8, 14)), r.choice((8, 16, 32)), r.choice((2, 3))
    result, size = (1, h, h, h, f), h + k - 1
    return Root(
        ((1, size, size, size, c), (k, k, k, c, f)),
        result,
        h**3 * c * f * k**3,
        contraction("linalg.conv_3d_ndhwc_dhwcf", result, window(1, 1, 3)),
    )


def matmul(r: random.Random) -> Root:
    m, n, k = (
        r.choice((1, 4, 33, 64, 100, 128, 197)),
        r.choice((10, 64, 77, 256, 768, 1000)),
        r.choice((32, 64, 96, 320, 768)),
    )
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
    b, m, n, k = (
        r.choice((2, 8, 12)),
        r.choice((1, 16, 49, 128)),
        r.choice((32, 64, 128, 197)),
        r.choice((32, 64, 100)),
    )
    return Root(
        ((b, m, k), (b, k, n)), (b, m, n), b * m * n * k, contraction("linalg.batch_matmul", (b, m, n))
    )


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
        return p.named(
            f"linalg.pooling_nhwc_{op}",
            [values[0], kernel],
            p.filled(result, element, limit),
            window(s, 1, 2),
        )

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
        p.lines.append(
            f"{result.name} = linalg.softmax dimension(1) ins({x.name} : {x.type}) outs({out.name} : {out.type}) "
            f"-> {out.type}"
        )
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
        sums = p.generic(
            [(x, (0, 1))],
            [(p.filled((m,), "f32", like=like), (0,)), (p.filled((m,), "f32", like=like), (0,))],
            2,
            [
                "%s = arith.addf %i0, %o0 : f32",
                "%q = arith.mulf %i0, %i0 : f32",
                "%t = arith.addf %q, %o1 : f32",
            ],
            ["%s", "%t"],
        )
        return p.pointwise(
            [(x, (0, 1)), (sums[0], (0,)), (sums[1], (0,))],
            (m, n),
            "f32",
            [
                f"%n = arith.constant {float(n)} : f32",
                "%eps = arith.constant 1.0e-5 : f32",
                "%mean = arith.divf %i1, %n : f32",
                "%sq = arith.divf %i2, %n : f32",
                "%mm = arith.mulf %mean, %mean : f32",
                "%var = arith.subf %sq, %mm : f32",
                "%ve = arith.addf %var, %eps : f32",
                "%rs = math.rsqrt %ve : f32",
                "%c = arith.subf %i0, %mean : f32",
                "%r = arith.mulf %c, %rs : f32",
            ],
        )

    return Root(((m, n),), (m, n), m * n * 3, build, dynamic=True)


def pointwise_only(r: random.Random) -> Root:
    shape = (r.choice((1, 7, 64)), r.choice((33, 100, 4096)))
    return Root((shape,), shape, prod(shape), lambda p, values, element: values[0], dynamic=True)


ROOTS: dict[str, tuple[int, Callable[[random.Random], Root]]] = {
    "nchw": (4, lambda r: convolution(r, "nchw")),
    "nhwc": (4, lambda r: convolution(r, "nhwc")),
    "depthwise": (2, depthwise),
    "grouped": (1, grouped),
    "conv1d": (1, one_dimensional),
    "conv3d": (1, volume),
    "matmul": (4, matmul),
    "rows": (3, matmul_by_rows),
    "bmm": (3, batch_matmul),
    "matvec": (1, matvec),
    "pool": (2, pool),
    "sum": (2, row_reduction),
    "softmax": (2, softmax),
    "norm": (2, layer_norm),
    "point": (1, pointwise_only),
}
"""Name -> (how often it is drawn, how it is made)."""
