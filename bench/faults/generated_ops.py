"""Ops of random programs by family: linalg's and linalg_ext's by name, ops that move, arithmetic of every type, complex numbers, globals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .generated import Program, Value

FLOATS = ("f32", "f32", "f16", "bf16", "f64")
INTEGERS = ("i1", "i8", "i16", "i32", "i64")
BELOW_A_BYTE = ("i2", "i4")
_WIDE = {"i8": "i32", "i16": "i32", "f16": "f32", "bf16": "f32"}


def _tensor(p: Program, shape: tuple[int, ...], element: str) -> Value:
    """A new argument that no later op picks by chance."""
    value = p.argument(shape, element)
    p.values.remove(value)
    return value


def _type(v: Value, shape: tuple[int, ...], element: str) -> str:
    return type(v)("", shape, element).type


def _structured(p: Program, name: str, ins: list[Value], out: Value, attributes: str = "") -> Value:
    return p.op(
        f"{name} {attributes} ins({', '.join(i.name for i in ins)} : {', '.join(i.type for i in ins)}) outs({out.name} : {out.type}) -> {out.type}",
        out.shape,
        out.element,
    )


PRODUCTS = {
    "linalg.vecmat": ("k", "kn", "n"),
    "linalg.dot": ("k", "k", ""),
    "linalg.batch_matvec": ("bmk", "bk", "bm"),
    "linalg.batch_vecmat": ("bk", "bkn", "bn"),
    "linalg.batch_reduce_matmul": ("bmk", "bkn", "mn"),
    "linalg.mmt4d": ("mkxy", "nkzy", "mnxz"),
    "linalg.batch_mmt4d": ("bmkxy", "bnkzy", "bmnxz"),
}


def product(p: Program, v: Value) -> Value:
    """A contraction by its name, with a matrix operand transposed sometimes."""
    name = p.draw.choice((*PRODUCTS, "contract", "quantized"))
    sizes = {letter: p.draw.choice((1, 2, 4, 7, 16)) for letter in "bmnkxyz"}
    element = p.draw.choice((*FLOATS, "i8", "i16", "i32"))
    to = _WIDE.get(element, element) if p.draw.random() < 0.6 else element

    def shaped(letters: str) -> tuple[int, ...]:
        return tuple(sizes[letter] for letter in letters)

    if name == "quantized":
        a, b = _tensor(p, shaped("mk"), "i8"), _tensor(p, shaped("kn"), "i8")
        zeros = [p.hidden(f"arith.constant {n} : i32", (), "i32") for n in (3, -7)]
        out = p.filled(shaped("mn"), "i32")
        return p.op(
            f"linalg.quantized_matmul ins({a.name}, {b.name}, {zeros[0].name}, {zeros[1].name} : {a.type}, {b.type}, i32, i32) "
            f"outs({out.name} : {out.type}) -> {out.type}",
            out.shape,
            "i32",
        )
    if name == "contract":
        left, right, result = p.draw.choice((("km", "kn", "mn"), ("mk", "nk", "nm"), ("bkm", "bnk", "bmn")))
        loops = ", ".join(sorted({*left, *right}))
        maps = ", ".join(
            f"affine_map<({loops}) -> ({', '.join(letters)})>" for letters in (left, right, result)
        )
        attributes = f"indexing_maps = [{maps}]"
        ins = [_tensor(p, shaped(left), element), _tensor(p, shaped(right), element)]
        return _structured(p, "linalg.contract", ins, p.filled(shaped(result), to), attributes)
    left, right, result = PRODUCTS[name]
    ins = [_tensor(p, shaped(left), element), _tensor(p, shaped(right), element)]
    return _structured(p, name, ins, p.filled(shaped(result), to))


WINDOWS = {
    "linalg.conv_1d_nwc_wcf": ("nwc", "wcf", "nwf"),
    "linalg.conv_1d_ncw_fcw": ("ncw", "fcw", "nfw"),
    "linalg.conv_2d_nchw_fchw": ("nchw", "fchw", "nfhw"),
    "linalg.conv_2d_nhwc_fhwc": ("nhwc", "fhwc", "nhwf"),
    "linalg.conv_2d_ngchw_fgchw": ("ngchw", "fgchw", "ngfhw"),
    "linalg.conv_3d_ndhwc_dhwcf": ("ndhwc", "dhwcf", "ndhwf"),
    "linalg.depthwise_conv_1d_nwc_wc": ("nwc", "wc", "nwc"),
    "linalg.depthwise_conv_2d_nhwc_hwc": ("nhwc", "hwc", "nhwc"),
    "linalg.depthwise_conv_2d_nchw_chw": ("nchw", "chw", "nchw"),
    "linalg.depthwise_conv_2d_nhwc_hwcm": ("nhwc", "hwcm", "nhwcm"),
    "linalg.pooling_nhwc_sum": ("nhwc", "hw", "nhwc"),
    "linalg.pooling_nchw_sum": ("nchw", "hw", "nchw"),
    "linalg.pooling_nchw_max": ("nchw", "hw", "nchw"),
    "linalg.pooling_nhwc_min": ("nhwc", "hw", "nhwc"),
    "linalg.pooling_nwc_max": ("nwc", "w", "nwc"),
    "linalg.pooling_ncw_sum": ("ncw", "w", "ncw"),
    "linalg.pooling_ndhwc_max": ("ndhwc", "dhw", "ndhwc"),
}


def window(p: Program, v: Value) -> Value:
    """A convolution or a pooling by its name, with strides and dilations."""
    name = p.draw.choice(list(WINDOWS))
    image, kernel, result = WINDOWS[name]
    space = [letter for letter in image if letter in "dhw"]
    size = {letter: p.draw.choice((1, 2, 4, 8)) for letter in "ncfgm"}
    of_window = {letter: p.draw.choice((1, 2, 3)) for letter in space}
    steps, gaps = [p.draw.choice((1, 2)) for _ in space], [p.draw.choice((1, 2)) for _ in space]
    of_image = {letter: p.draw.choice((7, 9, 16)) for letter in space}
    of_result = {
        letter: (of_image[letter] - (of_window[letter] - 1) * gap - 1) // step + 1
        for letter, step, gap in zip(space, steps, gaps, strict=True)
    }
    element = p.draw.choice((*FLOATS, "i8", "i32"))
    if "pooling" in name:
        to, weights = (
            element,
            p.hidden(
                f"tensor.empty() : {_type(v, tuple(of_window[x] for x in kernel), element)}",
                tuple(of_window[x] for x in kernel),
                element,
            ),
        )
    else:
        to = _WIDE.get(element, element) if p.draw.random() < 0.6 else element
        weights = _tensor(p, tuple({**size, **of_window}[x] for x in kernel), element)
    out = p.filled(tuple({**size, **of_result}[x] for x in result), to)
    source = _tensor(p, tuple({**size, **of_image}[x] for x in image), element)
    count = len(space)
    attributes = (
        f"{{dilations = dense<{gaps}> : tensor<{count}xi64>, strides = dense<{steps}> : tensor<{count}xi64>}}"
    )
    return _structured(p, name, [source, weights], out, attributes)


def extended(p: Program, v: Value) -> Value | None:
    """An op of IREE's own: a scan, a sort of one or two tensors, the largest ones, a gather, a scatter, an attention, an FFT's stage, or
    one of Winograd's transforms."""
    way = p.draw.choice(("scan", "sort", "sort2", "topk", "largest", "gather", "scatter", "attention", "fft", "winograd"))  # fmt: skip
    if way == "attention":
        return _attention(p, v)
    if way in ("fft", "winograd"):
        return _transform(p, v, way)
    if way in ("gather", "scatter"):
        return _indexed(p, v, way)
    element = p.draw.choice((*FLOATS[1:], "i8", "i16", "i32"))
    a = _tensor(p, (p.draw.choice((1, 3)), p.draw.choice((4, 17, 40))), element)
    compare = "arith.cmpf ogt" if a.is_float else "arith.cmpi sgt"
    body = f"{{\n  ^bb0(%x: {element}, %y: {element}):\n    %g = {compare}, %x, %y : {element}\n    iree_linalg_ext.yield %g : i1\n  }}"
    if way == "scan":
        out, first = p.filled(a.shape, element), p.filled(a.shape[:1], element)
        add = "arith.addf" if a.is_float else "arith.addi"
        kept = p.draw.choice(("true", "false"))
        return _first(p, f"iree_linalg_ext.scan dimension(1) inclusive({kept}) ins({a.name} : {a.type}) outs({out.name}, {first.name} : {out.type}, {first.type}) "
                      f"{{\n  ^bb0(%x: {element}, %y: {element}):\n    %s = {add} %x, %y : {element}\n    iree_linalg_ext.yield %s : {element}\n  }} -> {out.type}, {first.type}", out)  # fmt: skip
    if way == "sort":
        return p.op(
            f"iree_linalg_ext.sort dimension(1) outs({a.name} : {a.type}) {body} -> {a.type}",
            a.shape,
            element,
        )
    if way == "sort2":
        other = _tensor(p, a.shape, "i32")
        text = body.replace(f"%y: {element})", f"%y: {element}, %p: i32, %q: i32)")
        return _first(
            p,
            f"iree_linalg_ext.sort dimension(1) outs({a.name}, {other.name} : {a.type}, {other.type}) {text} -> {a.type}, {other.type}",
            a,
        )
    few = (a.shape[0], p.draw.choice((1, 3)))
    low = "0xFF800000" if element == "f32" else "-6.0e+04" if a.is_float else "-128"
    best, places = p.filled(few, element, low), p.filled(few, "i32")
    if way == "topk":
        name = p.draw.choice(("topk dimension(1)", "topk_v2 dimension(1) is_sorted", "topk_v2 dimension(1)"))
        return _first(
            p,
            f"iree_linalg_ext.{name} ins({a.name} : {a.type}) outs({best.name}, {places.name} : {best.type}, {places.type}) {body} -> {best.type}, {places.type}",
            best,
        )
    best, places = p.filled(few[:1], element, low), p.filled(few[:1], "i32")
    return _first(
        p,
        f"iree_linalg_ext.arg_compare dimension(1) ins({a.name} : {a.type}) outs({best.name}, {places.name} : {best.type}, {places.type}) {body} -> {best.type}, {places.type}",
        best,
    )


def _first(p: Program, text: str, like: Value) -> Value:
    """The op ``text`` of two results, the first of which is like ``like``; the other is a result of the program sometimes."""
    pair = p.hidden(text, like.shape, like.element)
    p.lines[-1] = p.lines[-1].replace(f"{pair.name} = ", f"{pair.name}:2 = ", 1)
    result = type(like)(f"{pair.name}#0", like.shape, like.element)
    p.values.append(result)
    return result


def _indexed(p: Program, v: Value, way: str) -> Value:
    element = p.draw.choice((*FLOATS, *INTEGERS[1:]))
    rows, wide, count = p.draw.choice((1, 9, 32)), p.draw.choice((1, 5, 8)), p.draw.choice((1, 3, 8))
    table, indices = _tensor(p, (rows, wide), element), _tensor(p, (count, 1), p.draw.choice(("i32", "i64")))
    names, types = [indices.name], [indices.type]
    if p.draw.random() < 0.4:
        mask = _tensor(p, (count,), "i1")
        names.append(mask.name)
        types.append(mask.type)
    if way == "gather":
        out = p.filled((count, wide), element)
        return p.op(
            f"iree_linalg_ext.gather dimension_map = [0] ins({', '.join([table.name, *names])} : {', '.join([table.type, *types])}) "
            f"outs({out.name} : {out.type}) -> {out.type}",
            out.shape,
            element,
        )
    updates = _tensor(p, (count, wide), element)
    return p.op(
        f"iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins({', '.join([updates.name, *names])} : {', '.join([updates.type, *types])}) "
        f"outs({table.name} : {table.type}) {{\n  ^bb0(%x: {element}, %y: {element}):\n    iree_linalg_ext.yield %x : {element}\n  }} -> {table.type}",
        table.shape,
        element,
    )


def _attention(p: Program, v: Value) -> Value:
    element, head = p.draw.choice(("f32", "f32", "f16")), p.draw.choice((4, 16, 64))
    b, m, n = p.draw.choice((1, 2)), p.draw.choice((1, 8, 33)), p.draw.choice((4, 16, 40))
    q, k, value = (_tensor(p, (b, rows, head), element) for rows in (m, n, n))
    scale = p.hidden(f"arith.constant 0.25 : {element}", (), element)
    out = p.hidden(f"tensor.empty() : {q.type}", q.shape, element)
    maps = ["(b, m, n, k, d) -> (b, m, k)", "(b, m, n, k, d) -> (b, n, k)", "(b, m, n, k, d) -> (b, n, d)", "(b, m, n, k, d) -> ()"]  # fmt: skip
    names, types = [q.name, k.name, value.name, scale.name], [q.type, k.type, value.type, element]
    if p.draw.random() < 0.5:
        mask = _tensor(p, (b, m, n), p.draw.choice(("i1", element)))
        maps.append("(b, m, n, k, d) -> (b, m, n)")
        names.append(mask.name)
        types.append(mask.type)
    maps.append("(b, m, n, k, d) -> (b, m, d)")
    spelled = ", ".join(f"affine_map<{one}>" for one in maps)
    return p.op(f"iree_linalg_ext.attention <indexing_maps = [{spelled}]> ins({', '.join(names)} : {', '.join(types)}) outs({out.name} : {out.type}) "
                f"{{\n  ^bb0(%s: f32):\n    iree_linalg_ext.yield %s : f32\n  }} -> {out.type}", out.shape, element)  # fmt: skip


def _transform(p: Program, v: Value, way: str) -> Value:
    if way == "fft":
        rows, stage = p.draw.choice((1, 4)), p.draw.choice((1, 2, 3))
        parts = [_tensor(p, (rows, 8), "f32") for _ in range(2)]
        number = p.hidden(f"arith.constant {stage} : index", (), "index")
        types = f"{parts[0].type}, {parts[1].type}"
        return _first(
            p,
            f"iree_linalg_ext.fft ins({number.name} : index) outs({parts[0].name}, {parts[1].name} : {types}) : {types}",
            parts[0],
        )
    n, c, size = p.draw.choice((1, 2)), p.draw.choice((1, 4)), p.draw.choice((10, 14))
    tiles = -(-(size - 2) // 6)
    kind = p.draw.choice(("input", "output", "filter"))
    attributes = "output_tile_size(6) kernel_size(3) "
    if kind == "input":
        source, shape = _tensor(p, (n, size, size, c), "f32"), (8, 8, n, tiles, tiles, c)
        attributes += "image_dimensions([1, 2])"
    elif kind == "output":
        source, shape = _tensor(p, (8, 8, n, tiles, tiles, c), "f32"), (n, 6 * tiles, 6 * tiles, c)
        attributes += "image_dimensions([1, 2])"
    else:
        source, shape = _tensor(p, (3, 3, c, 4), "f32"), (8, 8, c, 4)
        attributes += "kernel_dimensions([0, 1])"
    out = p.hidden(f"tensor.empty() : {_type(v, shape, 'f32')}", shape, "f32")
    return _structured(p, f"iree_linalg_ext.winograd.{kind}_transform", [source], out, attributes)


def moved(p: Program, v: Value) -> Value | None:
    """Elements in another order or place: packed by tiles, strided slices, written one at a time, generated, taken as other bits."""
    way, shape = p.draw.choice(("pack", "stride", "place", "generate", "elements", "drop", "bits")), v.shape
    if way == "pack" and len(shape) == 2:
        tile = tuple(p.draw.choice((2, 4)) for _ in shape)
        outer = tuple(-(-n // t) for n, t in zip(shape, tile, strict=True))
        zero = p.hidden(f"arith.constant {'false' if v.element == 'i1' else ('0.0' if v.is_float else '0') + ' : ' + v.element}", (), v.element)  # fmt: skip
        into = p.hidden(f"tensor.empty() : {_type(v, outer + tile, v.element)}", outer + tile, v.element)
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
        return p.op(f"tensor.extract_slice {v.name}{[0] * len(shape)} {list(sizes)} {[2] * len(shape)} : {v.type} to {_type(v, sizes, v.element)}",
                    sizes, v.element)  # fmt: skip
    if way == "drop" and len(shape) > 1:
        rest = shape[1:]
        return p.op(f"tensor.extract_slice {v.name}{[shape[0] - 1] + [0] * len(rest)} {[1, *rest]} {[1] * len(shape)} : {v.type} to {_type(v, rest, v.element)}",
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
        return p.op(f"tensor.from_elements {one.name}, {one.name}, {one.name} : {_type(v, (3,), v.element)}", (3,), v.element)  # fmt: skip
    other = {"f32": "i32", "i32": "f32", "f16": "i16", "bf16": "i16", "i16": "f16", "f64": "i64", "i64": "f64"}.get(v.element)  # fmt: skip
    if way == "bits" and other:
        return p.op(f"arith.bitcast {v.name} : {v.type} to {_type(v, shape, other)}", shape, other)
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
        a, b = _tensor(p, v.shape, element), _tensor(p, v.shape, element)
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
    element = p.draw.choice((*INTEGERS, *BELOW_A_BYTE))
    if element in BELOW_A_BYTE:  # no argument has such a type: cut from wider ones
        wide = [_tensor(p, v.shape, "i32") for _ in range(2)]
        kind = _type(v, v.shape, element)
        a, b = (p.hidden(f"arith.trunci {w.name} : {w.type} to {kind}", v.shape, element) for w in wide)
    else:
        a, b = _tensor(p, v.shape, element), _tensor(p, v.shape, element)
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
    return p.op(f"arith.{p.draw.choice(('extsi', 'extui'))} {result.name} : {result.type} to {_type(v, v.shape, 'i32')}", v.shape, "i32")  # fmt: skip


def complex_numbers(p: Program, v: Value) -> Value:
    """A complex number of two arguments, an op or two on it, and a part of what comes out."""
    a, b = (_tensor(p, v.shape, "f32") for _ in range(2))
    kind = _type(v, v.shape, "complex<f32>")
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


def held(p: Program, v: Value) -> Value | None:
    """A global that the program writes and reads, or one that an initialiser computes."""
    name, add = f"@{p.name}_g{len(p.functions)}", "arith.addf" if v.is_float else "arith.addi"
    if v.element == "i1" or -1 in v.shape:
        return None
    number = "1.5" if v.is_float else "1"
    if p.draw.random() < 0.5:
        p.functions.append(
            f"util.global private mutable {name} = dense<{number}> : {v.type}\nfunc.func @{name[1:]}_next() -> {v.type} {{\n"
            f"  %x = util.global.load {name} : {v.type}\n  %y = {add} %x, %x : {v.type}\n  util.global.store %y, {name} : {v.type}\n  return %y : {v.type}\n}}\n"
        )
        before = p.hidden(f"util.global.load {name} : {v.type}", v.shape, v.element)
        total = p.op(f"{add} {before.name}, {v.name} : {v.type}", v.shape, v.element)
        p.lines.append(f"  util.global.store {total.name}, {name} : {v.type}")
        return total
    p.functions.append(
        f"util.global private {name} : {v.type}\nutil.initializer {{\n  %x = arith.constant dense<{number}> : {v.type}\n"
        f"  %y = {add} %x, %x : {v.type}\n  util.global.store %y, {name} : {v.type}\n  util.return\n}}\n"
    )
    loaded = p.hidden(f"util.global.load {name} : {v.type}", v.shape, v.element)
    return p.op(f"{add} {loaded.name}, {v.name} : {v.type}", v.shape, v.element)


def choice(p: Program, v: Value) -> Value | None:
    """One of three values by a number, or two values that a loop exchanges."""
    add = "arith.addf" if v.is_float else "arith.xori" if v.element == "i1" else "arith.addi"
    if p.draw.random() < 0.5:
        given = _tensor(p, (), "i32")
        number = p.hidden(f"tensor.extract {given.name}[] : {given.type}", (), "i32")
        index = p.hidden(f"arith.index_cast {number.name} : i32 to index", (), "index")
        return p.op(f"scf.index_switch {index.name} -> {v.type}\n  case 1 {{\n    %t = {add} {v.name}, {v.name} : {v.type}\n    scf.yield %t : {v.type}\n  }}\n"
                    f"  case 4 {{\n    %s = {add} {v.name}, {p.like(v).name} : {v.type}\n    scf.yield %s : {v.type}\n  }}\n  default {{\n    scf.yield {v.name} : {v.type}\n  }}",
                    v.shape, v.element)  # fmt: skip
    other = p.like(v)
    bounds = [p.hidden(f"arith.constant {n} : index", (), "index") for n in (0, p.draw.choice((0, 1, 4)), 1)]
    return _first(p, f"scf.for %i = {bounds[0].name} to {bounds[1].name} step {bounds[2].name} iter_args(%x = {v.name}, %y = {other.name}) -> ({v.type}, {v.type}) {{\n"
                  f"    %n = {add} %x, %y : {v.type}\n    scf.yield %y, %n : {v.type}, {v.type}\n  }}", v)  # fmt: skip


KINDS = {"product": product, "window": window, "extended": extended, "moved": moved, "arithmetic": arithmetic,
         "complex": complex_numbers, "global": held, "choice": choice}  # fmt: skip
"""More kinds of ops for `generated.KINDS`."""
