"""Epilogues of bench/programs/patterns.py: what follows a root; each returns the program's results."""

from __future__ import annotations

from collections.abc import Callable

from bench.programs.text.program_text import Program, Value

QUANTISE = (
    "%k = arith.constant 0.05 : f32",
    "%lo = arith.constant -128.0 : f32",
    "%hi = arith.constant 127.0 : f32",
    "%q0 = arith.divf %in, %k : f32",
    "%q1 = math.roundeven %q0 : f32",
    "%q2 = arith.maximumf %q1, %lo : f32",
    "%q3 = arith.minimumf %q2, %hi : f32",
    "%r = arith.fptosi %q3 : f32 to i8",
)


def as_f32(p: Program, x: Value) -> Value:
    if x.element == "f32":
        return x
    return p.pointwise(
        [(x, range(len(x.shape)))], x.shape, "f32", [f"%r = arith.extf %i0 : {x.element} to f32"]
    )


def nothing(p: Program, x: Value) -> list[Value]:
    return [x]


def quantised(p: Program, x: Value) -> list[Value]:
    x = as_f32(p, x)
    body = [line.replace("%in", "%relu") for line in QUANTISE]
    return [
        p.pointwise(
            [(x, range(len(x.shape)))],
            x.shape,
            "i8",
            ["%zero = arith.constant 0.0 : f32", "%relu = arith.maximumf %i0, %zero : f32", *body],
        )
    ]


def bias_half(p: Program, x: Value) -> list[Value]:
    """A bias for each index of the last dimension, relu, rounded to f16."""
    x = as_f32(p, x)
    last = len(x.shape) - 1
    bias = p.argument(x.shape[-1:] if not (x.dynamic and last == 0) else (1,), "f32")
    if bias.shape != x.shape[-1:]:
        return [x]
    return [
        p.pointwise(
            [(x, range(last + 1)), (bias, [last])],
            x.shape,
            "f16",
            [
                "%zero = arith.constant 0.0 : f32",
                "%b = arith.addf %i0, %i1 : f32",
                "%c = arith.maximumf %b, %zero : f32",
                "%r = arith.truncf %c : f32 to f16",
            ],
        )
    ]


def add_quantised(p: Program, x: Value) -> list[Value]:
    """A dequantised residual, then quantised again."""
    x = as_f32(p, x)
    whole = range(len(x.shape))
    other = p.argument(x.shape, "i8", x.dynamic)
    body = [line.replace("%in", "%sum") for line in QUANTISE]
    return [
        p.pointwise(
            [(x, whole), (other, whole)],
            x.shape,
            "i8",
            ["%y = arith.sitofp %i1 : i8 to f32", "%sum = arith.addf %i0, %y : f32", *body],
        )
    ]


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
    return p.generic(
        [(x, axes)],
        [(best, axes[:-1]), (at, axes[:-1])],
        len(axes),
        [
            f"%n = linalg.index {len(axes) - 1} : index",
            "%i = arith.index_cast %n : index to i32",
            "%g = arith.cmpf ogt, %i0, %o0 : f32",
            "%v = arith.select %g, %i0, %o0 : f32",
            "%w = arith.select %g, %i, %o1 : i32",
        ],
        ["%v", "%w"],
    )


def rows_softmax(p: Program, x: Value) -> list[Value]:
    x = as_f32(p, x)
    out = p.empty(x.shape, "f32", x if x.dynamic else None)
    result = p.fresh(x.shape, "f32", x.dynamic)
    p.lines.append(
        f"{result.name} = linalg.softmax dimension({len(x.shape) - 1}) ins({x.name} : {x.type}) "
        f"outs({out.name} : {out.type}) -> {out.type}"
    )
    return [result]


EPILOGUES: dict[str, Callable[[Program, Value], list[Value]]] = {
    "id": nothing,
    "q": quantised,
    "bias16": bias_half,
    "addq": add_quantised,
    "t": turned,
    "sum": summed,
    "both": both,
    "argmax": arg_max,
    "softmax": rows_softmax,
}
