"""Ops of random programs that move elements, or compute with elements of any type, complex numbers too."""

from __future__ import annotations

from .program import BITS_FIRST, FLOATS, Program, Value, tensor_type, unnamed_argument

BELOW_A_BYTE = ("i2", "i4")


def moved(p: Program, v: Value) -> Value | None:
    """Elements in another order or place: packed by tiles, strided slices, written one at a time, generated, taken as other bits."""
    way, shape = p.draw.choice(("pack", "stride", "place", "generate", "elements", "drop", "bits")), v.shape
    if way == "pack" and len(shape) == 2:
        tile = tuple(p.draw.choice((2, 4)) for _ in shape)
        outer = tuple(-(-n // t) for n, t in zip(shape, tile, strict=True))
        zero = p.hidden(f"arith.constant {'false' if v.element == 'i1' else ('0.0' if v.is_float else '0') + ' : ' + v.element}", (), v.element)  # fmt: skip
        into = p.hidden(
            f"tensor.empty() : {tensor_type(v, outer + tile, v.element)}", outer + tile, v.element
        )
        tiles = f"inner_dims_pos = [0, 1] inner_tiles = {list(tile)}"
        packed = p.op(f"linalg.pack {v.name} padding_value({zero.name} : {v.element}) {tiles} into {into.name} : {v.type} -> {into.type}",
                      into.shape, v.element)  # fmt: skip
        if p.draw.random() < 0.5:
            return packed
        back = p.hidden(f"tensor.empty() : {v.type}", shape, v.element)
        return p.op(
            f"linalg.unpack {packed.name} {tiles} into {back.name} : {packed.type} -> {v.type}",
            shape,
            v.element,
        )
    if way == "stride":
        sizes = tuple((n + 1) // 2 for n in shape)
        return p.op(f"tensor.extract_slice {v.name}{[0] * len(shape)} {list(sizes)} {[2] * len(shape)} : {v.type} to {tensor_type(v, sizes, v.element)}",
                    sizes, v.element)  # fmt: skip
    if way == "drop" and len(shape) > 1:
        rest = shape[1:]
        return p.op(f"tensor.extract_slice {v.name}{[shape[0] - 1] + [0] * len(rest)} {[1, *rest]} {[1] * len(shape)} : {v.type} to {tensor_type(v, rest, v.element)}",
                    rest, v.element)  # fmt: skip
    if way == "place":
        at = [p.hidden(f"arith.constant {n - 1} : index", (), "index").name for n in shape]
        first = [p.hidden("arith.constant 0 : index", (), "index").name for _ in shape]
        one = p.hidden(f"tensor.extract {v.name}[{', '.join(first)}] : {v.type}", (), v.element)
        return p.op(f"tensor.insert {one.name} into {v.name}[{', '.join(at)}] : {v.type}", shape, v.element)
    if way == "generate":
        names = ", ".join(f"%i{n}: index" for n in range(len(shape)))
        inside = ", ".join(f"%i{n}" for n in range(len(shape)))
        return p.op(f"tensor.generate {{\n  ^bb0({names}):\n    %e = tensor.extract {v.name}[{inside}] : {v.type}\n    tensor.yield %e : {v.element}\n  }} : {v.type}",
                    shape, v.element)  # fmt: skip
    if way == "elements":
        at = [p.hidden("arith.constant 0 : index", (), "index").name for _ in shape]
        one = p.hidden(f"tensor.extract {v.name}[{', '.join(at)}] : {v.type}", (), v.element)
        return p.op(f"tensor.from_elements {one.name}, {one.name}, {one.name} : {tensor_type(v, (3,), v.element)}", (3,), v.element)  # fmt: skip
    other = {"f32": "i32", "i32": "f32", "f16": "i16", "bf16": "i16", "i16": "f16", "f64": "i64", "i64": "f64"}.get(v.element)  # fmt: skip
    if way == "bits" and other:
        return p.op(f"arith.bitcast {v.name} : {v.type} to {tensor_type(v, shape, other)}", shape, other)
    return None


_INTEGER_OPS = "divsi divui remsi remui floordivsi ceildivsi ceildivui shli shrui maxui minsi minui xori subi muli".split()  # fmt: skip


_FLOAT_OPS = "remf minimumf maxnumf divf subf".split()


_MATH = ("sqrt rsqrt cbrt sin cos tan asin acos atan sinh cosh asinh acosh atanh exp2 expm1 log log2 log10 erfc round "
         "roundeven trunc ceil").split()  # fmt: skip


_BITS = "ctpop ctlz cttz absi".split()


def arithmetic(p: Program, v: Value) -> Value | None:
    """One op of arith or math on an argument of a type drawn for it, which may be below a byte."""
    if p.draw.random() < 0.5:
        element = p.draw.choice(FLOATS)
        a, b = unnamed_argument(p, v.shape, element), unnamed_argument(p, v.shape, element)
        way = p.draw.randrange(5)
        if way == 0:
            return p.op(f"arith.{p.draw.choice(_FLOAT_OPS)} {a.name}, {b.name} : {a.type}", a.shape, element)
        if way == 1:
            return p.op(f"math.{p.draw.choice(('powf', 'atan2', 'copysign'))} {a.name}, {b.name} : {a.type}", a.shape, element)  # fmt: skip
        if way == 2:
            return p.op(f"math.fma {a.name}, {b.name}, {a.name} : {a.type}", a.shape, element)
        if way == 3:
            test = p.draw.choice(("oeq", "une", "ult", "ord", "uno"))
            return p.op(f"arith.cmpf {test}, {a.name}, {b.name} : {a.type}", a.shape, "i1")
        return p.op(f"math.{p.draw.choice(_MATH)} {a.name} : {a.type}", a.shape, element)
    element = p.draw.choice((*BITS_FIRST, *BELOW_A_BYTE))
    if element in BELOW_A_BYTE:  # no argument has such a type: cut from wider ones
        wide = [unnamed_argument(p, v.shape, "i32") for _ in range(2)]
        kind = tensor_type(v, v.shape, element)
        a, b = (p.hidden(f"arith.trunci {w.name} : {w.type} to {kind}", v.shape, element) for w in wide)
    else:
        a, b = unnamed_argument(p, v.shape, element), unnamed_argument(p, v.shape, element)
    way = p.draw.randrange(4)
    if way == 0 and element != "i1":
        result = p.op(f"math.{p.draw.choice(_BITS)} {a.name} : {a.type}", a.shape, element)
    elif way == 1:
        test = p.draw.choice(("eq", "ne", "slt", "uge", "ule", "sgt"))
        return p.op(f"arith.cmpi {test}, {a.name}, {b.name} : {a.type}", a.shape, "i1")
    else:
        name = p.draw.choice(_INTEGER_OPS)
        if "div" in name or "rem" in name:  # never by 0, and never the smallest number by -1
            one = p.hidden(f"arith.constant dense<{'true' if element == 'i1' else 1}> : {a.type}", a.shape, element)  # fmt: skip
            b = p.hidden(f"arith.ori {b.name}, {one.name} : {a.type}", a.shape, element)
            if "u" not in name[-2:]:
                b = one
        elif name.startswith("sh"):
            b = p.hidden(f"arith.constant dense<{'false' if element == 'i1' else 1}> : {a.type}", a.shape, element)  # fmt: skip
        result = p.op(f"arith.{name} {a.name}, {b.name} : {a.type}", a.shape, element)
    if element not in BELOW_A_BYTE:
        return result
    p.values.remove(result)
    return p.op(f"arith.{p.draw.choice(('extsi', 'extui'))} {result.name} : {result.type} to {tensor_type(v, v.shape, 'i32')}", v.shape, "i32")  # fmt: skip


def complex_numbers(p: Program, v: Value) -> Value:
    """A complex number of two arguments, an op or two on it, and a part of what comes out."""
    a, b = (unnamed_argument(p, v.shape, "f32") for _ in range(2))
    kind = tensor_type(v, v.shape, "complex<f32>")
    empty = p.hidden(f"tensor.empty() : {a.type}", a.shape, "f32")
    rank = len(v.shape)
    loops = ", ".join(f"d{i}" for i in range(rank))
    maps, kinds = ", ".join([f"affine_map<({loops}) -> ({loops})>"] * 3), ", ".join(['"parallel"'] * rank)
    op = p.draw.choice(("mul", "add", "sub", "div"))
    part = p.draw.choice(("complex.re %w : complex<f32>", "complex.im %w : complex<f32>", "complex.abs %w : complex<f32>"))  # fmt: skip
    if p.draw.random() < 0.3:  # over an edge between dispatches, in complex form
        joined = p.hidden(f"tensor.empty() : {kind}", v.shape, "complex<f32>")
        made = p.hidden(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({a.name}, {b.name} : {a.type}, {b.type}) outs({joined.name} : {kind}) {{\n"
                        f"  ^bb0(%x: f32, %y: f32, %o: complex<f32>):\n    %z = complex.create %x, %y : complex<f32>\n    linalg.yield %z : complex<f32>\n  }} -> {kind}",
                        v.shape, "complex<f32>")  # fmt: skip
        held = p.hidden(f"util.optimization_barrier {made.name} : {kind}", v.shape, "complex<f32>")
        two = ", ".join([f"affine_map<({loops}) -> ({loops})>"] * 2)
        return p.op(f"linalg.generic {{indexing_maps = [{two}], iterator_types = [{kinds}]}} ins({held.name} : {kind}) outs({empty.name} : {a.type}) {{\n"
                    f"  ^bb0(%z: complex<f32>, %o: f32):\n    %w = complex.{op} %z, %z : complex<f32>\n    %r = {part}\n    linalg.yield %r : f32\n  }} -> {a.type}",
                    v.shape, "f32")  # fmt: skip
    return p.op(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({a.name}, {b.name} : {a.type}, {b.type}) outs({empty.name} : {a.type}) {{\n"
                f"  ^bb0(%x: f32, %y: f32, %o: f32):\n    %z = complex.create %x, %y : complex<f32>\n    %c = complex.constant [1.5 : f32, -0.5 : f32] : complex<f32>\n"
                f"    %w = complex.{op} %z, %c : complex<f32>\n    %r = {part}\n    linalg.yield %r : f32\n  }} -> {a.type}", v.shape, "f32")  # fmt: skip
