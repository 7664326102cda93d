"""Producers of bench/programs/patterns.py: each makes a tensor of a given shape, f32 or of 16 bits, of new arguments of the program."""

from __future__ import annotations

from collections.abc import Callable

from bench.programs.text.program_text import Program, Shape, Value

DEQUANTISE = (
    "%k = arith.constant 0.0078125 : f32",
    "%f = arith.sitofp %i0 : i8 to f32",
    "%r = arith.mulf %f, %k : f32",
)


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
    x, scale, zero = (
        p.argument(shape, "i8", dynamic),
        p.argument(shape[-1:], "f32"),
        p.argument(shape[-1:], "f32"),
    )
    last = [len(shape) - 1]
    return p.pointwise(
        [(x, range(len(shape))), (scale, last), (zero, last)],
        shape,
        "f32",
        [
            "%f = arith.sitofp %i0 : i8 to f32",
            "%m = arith.subf %f, %i2 : f32",
            "%r = arith.mulf %m, %i1 : f32",
        ],
    )


def unsigned(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "i8", dynamic)
    return p.pointwise(
        [(x, range(len(shape)))],
        shape,
        "f32",
        [
            "%k = arith.constant 0.0039 : f32",
            "%z = arith.constant 128.0 : f32",
            "%f = arith.uitofp %i0 : i8 to f32",
            "%m = arith.subf %f, %z : f32",
            "%r = arith.mulf %m, %k : f32",
        ],
    )


def group4(p: Program, shape: Shape, dynamic: bool) -> Value:
    """4-bit weights with a 16-bit scale for each group of 32 along the first dimension."""
    if dynamic or len(shape) != 2 or shape[0] % 32 or shape[1] % 2:
        return per_channel(p, shape, dynamic)
    groups = (shape[0] // 32, 32, shape[1])
    x, scale = p.argument(groups, "i4"), p.argument((groups[0], groups[2]), "f16")
    wide = p.pointwise(
        [(x, (0, 1, 2)), (scale, (0, 2))],
        groups,
        "f32",
        [
            "%f = arith.sitofp %i0 : i4 to f32",
            "%s = arith.extf %i1 : f16 to f32",
            "%r = arith.mulf %f, %s : f32",
        ],
    )
    flat = p.fresh(shape, "f32")
    p.lines.append(
        f"{flat.name} = tensor.collapse_shape {wide.name} [[0, 1], [2]] : {wide.type} into {flat.type}"
    )
    return flat


def extended(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "f16", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", ["%r = arith.extf %i0 : f16 to f32"])


def brain(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "bf16", dynamic)
    return p.pointwise([(x, range(len(shape)))], shape, "f32", ["%r = arith.extf %i0 : bf16 to f32"])


def small_float(p: Program, shape: Shape, dynamic: bool) -> Value:
    """8-bit floats with a scale for each index of the last dimension."""
    x, scale = p.argument(shape, "f8E4M3FN", dynamic), p.argument(shape[-1:], "f32")
    return p.pointwise(
        [(x, range(len(shape))), (scale, [len(shape) - 1])],
        shape,
        "f32",
        ["%f = arith.extf %i0 : f8E4M3FN to f32", "%r = arith.mulf %f, %i1 : f32"],
    )


def residual(p: Program, shape: Shape, dynamic: bool) -> Value:
    """The sum of two dequantised tensors, then relu."""
    whole = range(len(shape))
    x, y = p.argument(shape, "i8", dynamic), p.argument(shape, "i8", dynamic)
    return p.pointwise(
        [(x, whole), (y, whole)],
        shape,
        "f32",
        [
            "%k = arith.constant 0.0078125 : f32",
            "%z = arith.constant 0.0 : f32",
            "%f = arith.sitofp %i0 : i8 to f32",
            "%g = arith.sitofp %i1 : i8 to f32",
            "%s = arith.addf %f, %g : f32",
            "%t = arith.mulf %s, %k : f32",
            "%r = arith.maximumf %t, %z : f32",
        ],
    )


def sigmoid_gate(p: Program, shape: Shape, dynamic: bool) -> Value:
    """x * sigmoid(x) of a dequantised tensor: costly to compute twice."""
    x = dequantised(p, shape, dynamic)
    return p.pointwise(
        [(x, range(len(shape)))],
        shape,
        "f32",
        [
            "%one = arith.constant 1.0 : f32",
            "%n = arith.negf %i0 : f32",
            "%e = math.exp %n : f32",
            "%d = arith.addf %e, %one : f32",
            "%r = arith.divf %i0, %d : f32",
        ],
    )


def padded(p: Program, shape: Shape, dynamic: bool) -> Value:
    """A dequantised image in a frame of zeros (the two middle dimensions of four)."""
    if dynamic or len(shape) != 4 or min(shape[1:3]) < 4:
        return dequantised(p, shape, dynamic)
    inner = (shape[0], shape[1] - 2, shape[2] - 2, shape[3])
    x = dequantised(p, inner, False)
    zero = p.constant(0.0, "f32")
    out = p.fresh(shape, "f32")
    p.lines.append(
        f"{out.name} = tensor.pad {x.name} low[0, 1, 1, 0] high[0, 1, 1, 0] {{\n"
        f"  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index):\n    tensor.yield {zero} : f32\n"
        f"  }} : {x.type} to {out.type}"
    )
    return out


def joined(p: Program, shape: Shape, dynamic: bool) -> Value:
    """Two dequantised halves, one behind the other along the last dimension."""
    if dynamic or shape[-1] < 2:
        return dequantised(p, shape, dynamic)
    left = shape[-1] // 2
    a, b = (dequantised(p, (*shape[:-1], n), False) for n in (left, shape[-1] - left))
    out = p.fresh(shape, "f32")
    p.lines.append(
        f"{out.name} = tensor.concat dim({len(shape) - 1}) {a.name}, {b.name} : ({a.type}, {b.type}) -> {out.type}"
    )
    return out


def cut_out(p: Program, shape: Shape, dynamic: bool) -> Value:
    """A window of a larger dequantised tensor."""
    if dynamic:
        return dequantised(p, shape, dynamic)
    x = dequantised(p, (*shape[:-1], shape[-1] + 3), False)
    out = p.fresh(shape, "f32")
    p.lines.append(
        f"{out.name} = tensor.extract_slice {x.name}[{', '.join(['0'] * (len(shape) - 1) + ['1'])}] "
        f"[{', '.join(map(str, shape))}] [{', '.join(['1'] * len(shape))}] : {x.type} to {out.type}"
    )
    return out


def half(p: Program, shape: Shape, dynamic: bool) -> Value:
    return p.argument(shape, "f16", dynamic)


def half_dequantised(p: Program, shape: Shape, dynamic: bool) -> Value:
    x = p.argument(shape, "i8", dynamic)
    return p.pointwise(
        [(x, range(len(shape)))],
        shape,
        "f16",
        [
            "%k = arith.constant 0.0078125 : f16",
            "%f = arith.sitofp %i0 : i8 to f16",
            "%r = arith.mulf %f, %k : f16",
        ],
    )


PRODUCERS: dict[str, Callable[[Program, Shape, bool], Value]] = {
    "none": plain,
    "dq": dequantised,
    "dqt": transposed,
    "dqc": per_channel,
    "dqu": unsigned,
    "group4": group4,
    "ext": extended,
    "bf16": brain,
    "residual": residual,
    "gate": sigmoid_gate,
    "pad": padded,
    "concat": joined,
    "slice": cut_out,
    "f16": half,
    "dqh": half_dequantised,
    "f8": small_float,
}
HALVES = ("f16", "dqh")
