"""Random small programs of many kinds of ops: a chain and its branches, over small tensors of several element types, control flow
and sizes that are known at run time (`generated_control`), and more (`generated_data`, `generated_ops`)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from . import generated_control, generated_data, generated_ops
from .generated_data import generic

FLOATS, INTEGERS = ("f32", "f32", "f16", "bf16", "f64"), ("i8", "i16", "i32", "i64", "i1")
SMALL = ("i4", "i2", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")
SIZES = (1, 2, 3, 4, 7, 8, 16, 17, 32)
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


@dataclass(frozen=True)
class Value:
    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        sizes = "".join("?x" if n < 0 else f"{n}x" for n in self.shape)
        return f"tensor<{sizes}{self.element}>"

    @property
    def is_float(self) -> bool:
        return "f" in self.element


class Program:
    """A function that grows op by op. Every op returns a new value."""

    def __init__(self, draw: random.Random, name: str = "main") -> None:
        self.draw = draw
        self.name = name
        self.lines: list[str] = []
        self.arguments: list[Value] = []
        self.values: list[Value] = []
        self.kinds: list[str] = []
        self.functions: list[str] = []
        self.results: list[Value] = []
        self._count = 0

    def text(self) -> str:
        results = self.values[-1:] + (
            [v]
            if self.draw.random() < 0.3 and (v := self.draw.choice(self.values)) not in self.arguments
            else []
        )
        results = list(dict.fromkeys([*results, *self.results[:1]]))
        types = ", ".join(v.type for v in results)
        head = f"func.func @{self.name}({', '.join(f'{v.name}: {v.type}' for v in self.arguments)}) -> ({types}) {{"
        return "\n".join(
            [
                *self.functions,
                head,
                *self.lines,
                f"  return {', '.join(v.name for v in results)} : {types}",
                "}",
                "",
            ]
        )

    def argument(self, shape: tuple[int, ...], element: str) -> Value:
        value = Value(f"%a{len(self.arguments)}", shape, element)
        self.arguments.append(value)
        self.values.append(value)
        return value

    def op(self, text: str, shape: tuple[int, ...], element: str) -> Value:
        """Adds ``%v = text`` and returns its value."""
        value = self._named(shape, element)
        self.lines.append(f"  {value.name} = {text}")
        self.values.append(value)
        return value

    def hidden(self, text: str, shape: tuple[int, ...], element: str) -> Value:
        """An op whose result no later op picks by chance."""
        value = self.op(text, shape, element)
        self.values.pop()
        return value

    def filled(self, shape: tuple[int, ...], element: str, number: str = "") -> Value:
        scalar = self._named((), element)
        self.lines.append(f"  {scalar.name} = arith.constant {_zero(element, number)}")
        empty = self.hidden(f"tensor.empty() : {Value('', shape, element).type}", shape, element)
        return self.hidden(
            f"linalg.fill ins({scalar.name} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}",
            shape,
            element,
        )

    def like(self, value: Value) -> Value:
        """A value of the same type: an old one, or a new argument."""
        same = [v for v in self.values if v.type == value.type]
        return (
            self.draw.choice(same) if self.draw.random() < 0.6 else self.argument(value.shape, value.element)
        )

    def _named(self, shape: tuple[int, ...], element: str) -> Value:
        self._count += 1
        return Value(f"%v{self._count}", shape, element)


def _zero(element: str, number: str = "") -> str:
    """Zero, or ``number``, as `arith.constant` takes it."""
    return "false" if element == "i1" else f"{number or ('0.0' if 'f' in element else '0')} : {element}"


def program(draw: random.Random, name: str = "main") -> tuple[str, list[str]]:
    """The text of a program of one to six ops, and their kinds: function ``name``, and those that it calls."""
    made = Program(draw, name)
    rank = draw.choice((1, 2, 2, 3, 4))
    made.argument(
        tuple(draw.choice(SIZES) for _ in range(rank)), draw.choice(FLOATS + INTEGERS + ("f32", "i8", *SMALL))
    )
    wanted, tries = draw.randrange(1, 7), 0
    while len(made.kinds) < wanted and tries < 60:
        tries += 1
        name = draw.choice(list(KINDS))
        usable = [value for value in made.values if value.shape]  # a scalar is a result, and no op's operand
        value = usable[-1] if draw.random() < 0.7 else draw.choice(usable)
        before = len(made.lines), len(made.arguments), list(made.values)
        if KINDS[name](made, value) is None:
            del made.lines[before[0] :], made.arguments[before[1] :]
            made.values = before[2]
        else:
            made.kinds.append(name)
    if not made.kinds:
        _unary(made, made.values[0])
    return made.text(), made.kinds


def _unary(p: Program, v: Value) -> Value | None:
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
        f"arith.constant {_zero(v.element)}",
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
    "unary": _unary, "binary": _binary, "cast": _cast, "select": _select, "matmul": _matmul, "matvec": _matvec, "convolution": _convolution,
    "pool": _pool, "reduce": _reduce, "transpose": _transpose, "broadcast": _broadcast, "slice": _slice, "insert": _insert, "pad": _pad,
    "reshape": _reshape, "concat": _concat, "gather": _gather, "map": _generic_map, "softmax": _softmax, "loop": _loop, "constant": _constant,
    **generated_control.KINDS, **generated_data.KINDS, **generated_ops.KINDS,
}  # fmt: skip
