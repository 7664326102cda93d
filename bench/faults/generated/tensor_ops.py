"""Ops of random programs over tensors of fixed sizes: those that every model has."""

from __future__ import annotations

from collections.abc import Callable

from .program import FLOATS, INTEGERS, SIZES, SMALL, Program, Value, generic, zero_of

_BITS = {
    "i1": 1,
    "i2": 2,
    "i4": 4,
    "f8E4M3FN": 8,
    "f8E5M2": 8,
    "f8E4M3FNUZ": 8,
    "f8E5M2FNUZ": 8,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
}


def unary(p: Program, v: Value) -> Value | None:
    if v.is_float:
        return p.op(
            f"{p.draw.choice(('math.exp', 'math.tanh', 'math.absf', 'arith.negf', 'math.floor', 'math.log1p', 'math.erf'))} {v.name} : {v.type}",
            v.shape,
            v.element,
        )
    return (
        p.op(f"arith.xori {v.name}, {v.name} : {v.type}", v.shape, v.element)
        if p.draw.random() < 0.2
        else None
    )


def _binary(p: Program, v: Value) -> Value:
    names = (
        ("addf", "subf", "mulf", "divf", "maximumf", "minnumf")
        if v.is_float
        else ("addi", "subi", "muli", "andi", "ori", "maxsi", "minui", "shrsi")
    )
    return p.op(f"arith.{p.draw.choice(names)} {v.name}, {p.like(v).name} : {v.type}", v.shape, v.element)


def _cast(p: Program, v: Value) -> Value | None:
    to = p.draw.choice(FLOATS + INTEGERS + SMALL)
    if to == v.element or _BITS[to] == _BITS[v.element] and (v.is_float == ("f" in to)):
        return None
    wider = _BITS[to] > _BITS[v.element]
    if v.is_float and "f" in to:
        name = "extf" if wider else "truncf"
    elif v.is_float:
        name = p.draw.choice(("fptosi", "fptoui"))
    elif "f" in to:
        name = p.draw.choice(("sitofp", "uitofp"))
    else:
        name = p.draw.choice(("extsi", "extui")) if wider else "trunci"
    result = Value("", v.shape, to)
    return p.op(f"arith.{name} {v.name} : {v.type} to {result.type}", v.shape, to)


def _select(p: Program, v: Value) -> Value:
    compare = "arith.cmpf ogt" if v.is_float else "arith.cmpi slt"
    other = p.like(v)
    chosen = p.hidden(f"{compare}, {v.name}, {other.name} : {v.type}", v.shape, "i1")
    return p.op(
        f"arith.select {chosen.name}, {v.name}, {other.name} : {chosen.type}, {v.type}", v.shape, v.element
    )


def _matmul(p: Program, v: Value) -> Value | None:
    if len(v.shape) not in (2, 3) or v.element == "i1":
        return None
    wide, batch = p.draw.choice(SIZES), v.shape[:-2]
    other = p.argument((*batch, v.shape[-1], wide), v.element)
    to = (
        p.draw.choice((v.element, "f32"))
        if v.element in ("f16", "bf16")
        else "i32"
        if v.element == "i8"
        else v.element
    )
    out = p.filled((*v.shape[:-1], wide), to)
    name = "linalg.batch_matmul" if batch else "linalg.matmul"
    return p.op(
        f"{name} ins({v.name}, {other.name} : {v.type}, {other.type}) outs({out.name} : {out.type}) -> {out.type}",
        out.shape,
        to,
    )


def _matvec(p: Program, v: Value) -> Value | None:
    if len(v.shape) != 2 or v.element == "i1":
        return None
    other, out = p.argument((v.shape[1],), v.element), p.filled((v.shape[0],), v.element)
    return p.op(
        f"linalg.matvec ins({v.name}, {other.name} : {v.type}, {other.type}) outs({out.name} : {out.type}) -> {out.type}",
        out.shape,
        v.element,
    )


def _convolution(p: Program, v: Value) -> Value | None:
    if len(v.shape) != 4 or v.element == "i1" or min(v.shape[1:3]) < 3:
        return None
    n, h, w, c = v.shape
    filters, stride, k = p.draw.choice((1, 3, 8)), p.draw.choice((1, 2)), p.draw.choice((1, 3))
    sizes = ((h - k) // stride + 1, (w - k) // stride + 1)
    to = "i32" if v.element == "i8" else v.element
    kernel, out = p.argument((k, k, c, filters), v.element), p.filled((n, *sizes, filters), to)
    return p.op(f"linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}} "
                f"ins({v.name}, {kernel.name} : {v.type}, {kernel.type}) outs({out.name} : {out.type}) -> {out.type}", out.shape, to)  # fmt: skip


def _pool(p: Program, v: Value) -> Value | None:
    if len(v.shape) != 4 or not v.is_float or min(v.shape[1:3]) < 2:
        return None
    n, h, w, c = v.shape
    window = p.hidden(f"tensor.empty() : tensor<2x2x{v.element}>", (2, 2), v.element)
    out = p.filled((n, h - 1, w - 1, c), v.element, "-1.0")
    return p.op(f"linalg.pooling_nhwc_max {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}} "
                f"ins({v.name}, {window.name} : {v.type}, {window.type}) outs({out.name} : {out.type}) -> {out.type}", out.shape, v.element)  # fmt: skip


def _reduce(p: Program, v: Value) -> Value | None:
    if v.element == "i1":
        return None
    axis = p.draw.randrange(len(v.shape))
    out = p.filled(v.shape[:axis] + v.shape[axis + 1 :], v.element)
    name = (
        p.draw.choice(("addf", "maximumf", "mulf")) if v.is_float else p.draw.choice(("addi", "maxsi", "ori"))
    )
    return p.op(
        f"linalg.reduce {{ arith.{name} }} ins({v.name} : {v.type}) outs({out.name} : {out.type}) dimensions = [{axis}]",
        out.shape,
        v.element,
    )


def _transpose(p: Program, v: Value) -> Value | None:
    if len(v.shape) < 2:
        return None
    order = p.draw.sample(range(len(v.shape)), len(v.shape))
    out = p.hidden(
        f"tensor.empty() : {Value('', tuple(v.shape[i] for i in order), v.element).type}",
        tuple(v.shape[i] for i in order),
        v.element,
    )
    return p.op(
        f"linalg.transpose ins({v.name} : {v.type}) outs({out.name} : {out.type}) permutation = {order}",
        out.shape,
        v.element,
    )


def _broadcast(p: Program, v: Value) -> Value | None:
    if len(v.shape) > 3:
        return None
    axis, size = p.draw.randrange(len(v.shape) + 1), p.draw.choice((1, 2, 5, 8))
    shape = (*v.shape[:axis], size, *v.shape[axis:])
    out = p.hidden(f"tensor.empty() : {Value('', shape, v.element).type}", shape, v.element)
    return p.op(
        f"linalg.broadcast ins({v.name} : {v.type}) outs({out.name} : {out.type}) dimensions = [{axis}]",
        shape,
        v.element,
    )


def _slice(p: Program, v: Value) -> Value:
    sizes = tuple(p.draw.randrange(1, n + 1) for n in v.shape)
    offsets = [p.draw.randrange(0, n - s + 1) for n, s in zip(v.shape, sizes, strict=True)]
    result = Value("", sizes, v.element)
    return p.op(
        f"tensor.extract_slice {v.name}{offsets} {list(sizes)} {[1] * len(sizes)} : {v.type} to {result.type}",
        sizes,
        v.element,
    )


def _insert(p: Program, v: Value) -> Value:
    more = tuple(n + p.draw.choice((0, 1, 4)) for n in v.shape)
    offsets = [p.draw.randrange(0, m - n + 1) for m, n in zip(more, v.shape, strict=True)]
    into = p.filled(more, v.element) if p.draw.random() < 0.5 else p.argument(more, v.element)
    return p.op(
        f"tensor.insert_slice {v.name} into {into.name}{offsets} {list(v.shape)} {[1] * len(more)} : {v.type} into {into.type}",
        more,
        v.element,
    )


def _pad(p: Program, v: Value) -> Value:
    low, high = [p.draw.choice((0, 0, 1, 3)) for _ in v.shape], [p.draw.choice((0, 1, 2)) for _ in v.shape]
    shape = tuple(n + a + b for n, a, b in zip(v.shape, low, high, strict=True))
    zero = p.hidden(
        f"arith.constant {zero_of(v.element)}",
        (),
        v.element,
    )
    names = ", ".join(f"%i{n}: index" for n in range(len(shape)))
    return p.op(f"tensor.pad {v.name} low{low} high{high} {{\n  ^bb0({names}):\n    tensor.yield {zero.name} : {v.element}\n  }} : {v.type} to "
                f"{Value('', shape, v.element).type}", shape, v.element)  # fmt: skip


def _reshape(p: Program, v: Value) -> Value | None:
    if len(v.shape) < 2:
        return p.op(f"tensor.expand_shape {v.name} [[0, 1]] output_shape [1, {v.shape[0]}] : {v.type} into {Value('', (1, v.shape[0]), v.element).type}",
                    (1, v.shape[0]), v.element)  # fmt: skip
    shape = (v.shape[0] * v.shape[1], *v.shape[2:])
    groups = [[0, 1], *([n] for n in range(2, len(v.shape)))]
    return p.op(
        f"tensor.collapse_shape {v.name} {groups} : {v.type} into {Value('', shape, v.element).type}",
        shape,
        v.element,
    )


def _concat(p: Program, v: Value) -> Value:
    axis, other = p.draw.randrange(len(v.shape)), p.like(v)
    shape = (*v.shape[:axis], 2 * v.shape[axis], *v.shape[axis + 1 :])
    return p.op(
        f"tensor.concat dim({axis}) {v.name}, {other.name} : ({v.type}, {other.type}) -> {Value('', shape, v.element).type}",
        shape,
        v.element,
    )


def _gather(p: Program, v: Value) -> Value | None:
    if len(v.shape) != 1:
        return None
    indices = p.argument((p.draw.choice(SIZES),), "i32")
    out = p.hidden(f"tensor.empty() : {Value('', indices.shape, v.element).type}", indices.shape, v.element)
    body = (f"  ^bb0(%in: i32, %out: {v.element}):\n    %limit = arith.constant {v.shape[0]} : i32\n    %r = arith.remui %in, %limit : i32\n"
            f"    %i = arith.index_cast %r : i32 to index\n    %e = tensor.extract {v.name}[%i] : {v.type}\n    linalg.yield %e : {v.element}\n")  # fmt: skip
    return p.op(
        generic(["(d0) -> (d0)", "(d0) -> (d0)"], ["parallel"], [indices], out, body),
        indices.shape,
        v.element,
    )


def _generic_map(p: Program, v: Value) -> Value | None:
    """A value read along its diagonal, or with two dimensions exchanged, and combined with its own index."""
    if len(v.shape) != 2 or v.element == "i1":
        return None
    out = p.hidden(f"tensor.empty() : {Value('', v.shape[::-1], v.element).type}", v.shape[::-1], v.element)
    add = "arith.addf" if v.is_float else "arith.addi"
    body = f"  ^bb0(%in: {v.element}, %out: {v.element}):\n    %s = {add} %in, %in : {v.element}\n    linalg.yield %s : {v.element}\n"
    return p.op(
        generic(["(d0, d1) -> (d1, d0)", "(d0, d1) -> (d0, d1)"], ["parallel"] * 2, [v], out, body),
        v.shape[::-1],
        v.element,
    )


def _softmax(p: Program, v: Value) -> Value | None:
    if not v.is_float or v.element == "f64":
        return None
    out = p.hidden(f"tensor.empty() : {v.type}", v.shape, v.element)
    return p.op(
        f"linalg.softmax dimension({len(v.shape) - 1}) ins({v.name} : {v.type}) outs({out.name} : {v.type}) -> {v.type}",
        v.shape,
        v.element,
    )


def _loop(p: Program, v: Value) -> Value:
    bounds = [p.hidden(f"arith.constant {n} : index", (), "index") for n in (0, p.draw.choice((1, 3)), 1)]
    add = "arith.addf" if v.is_float else "arith.addi" if v.element != "i1" else "arith.xori"
    return p.op(f"scf.for %i = {bounds[0].name} to {bounds[1].name} step {bounds[2].name} iter_args(%x = {v.name}) -> ({v.type}) {{\n"
                f"    %n = {add} %x, {v.name} : {v.type}\n    scf.yield %n : {v.type}\n  }}", v.shape, v.element)  # fmt: skip


def _constant(p: Program, v: Value) -> Value:
    number = "1.5" if v.is_float else "true" if v.element == "i1" else "3"
    other = p.hidden(f"arith.constant dense<{number}> : {v.type}", v.shape, v.element)
    name = "arith.mulf" if v.is_float else "arith.muli"
    return p.op(f"{name} {v.name}, {other.name} : {v.type}", v.shape, v.element)


KINDS: dict[str, Callable[[Program, Value], Value | None]] = {
    "unary": unary, "binary": _binary, "cast": _cast, "select": _select, "matmul": _matmul, "matvec": _matvec, "convolution": _convolution,
    "pool": _pool, "reduce": _reduce, "transpose": _transpose, "broadcast": _broadcast, "slice": _slice, "insert": _insert, "pad": _pad,
    "reshape": _reshape, "concat": _concat, "gather": _gather, "map": _generic_map, "softmax": _softmax, "loop": _loop, "constant": _constant,
}  # fmt: skip
