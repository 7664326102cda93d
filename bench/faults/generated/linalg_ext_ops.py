"""Ops of random programs from IREE's linalg_ext: scans, sorts, gathers, attention, an FFT's stages, Winograd's transforms."""

from __future__ import annotations

from .named_ops import structured
from .program import BITS_FIRST, FLOATS, Program, Value, first_result, tensor_type, unnamed_argument


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
    a = unnamed_argument(p, (p.draw.choice((1, 3)), p.draw.choice((4, 17, 40))), element)
    compare = "arith.cmpf ogt" if a.is_float else "arith.cmpi sgt"
    body = f"{{\n  ^bb0(%x: {element}, %y: {element}):\n    %g = {compare}, %x, %y : {element}\n    iree_linalg_ext.yield %g : i1\n  }}"
    if way == "scan":
        out, first = p.filled(a.shape, element), p.filled(a.shape[:1], element)
        add = "arith.addf" if a.is_float else "arith.addi"
        kept = p.draw.choice(("true", "false"))
        return first_result(p, f"iree_linalg_ext.scan dimension(1) inclusive({kept}) ins({a.name} : {a.type}) outs({out.name}, {first.name} : {out.type}, {first.type}) "
                      f"{{\n  ^bb0(%x: {element}, %y: {element}):\n    %s = {add} %x, %y : {element}\n    iree_linalg_ext.yield %s : {element}\n  }} -> {out.type}, {first.type}", out)  # fmt: skip
    if way == "sort":
        return p.op(
            f"iree_linalg_ext.sort dimension(1) outs({a.name} : {a.type}) {body} -> {a.type}",
            a.shape,
            element,
        )
    if way == "sort2":
        other = unnamed_argument(p, a.shape, "i32")
        text = body.replace(f"%y: {element})", f"%y: {element}, %p: i32, %q: i32)")
        return first_result(
            p,
            f"iree_linalg_ext.sort dimension(1) outs({a.name}, {other.name} : {a.type}, {other.type}) {text} -> {a.type}, {other.type}",
            a,
        )
    few = (a.shape[0], p.draw.choice((1, 3)))
    low = "0xFF800000" if element == "f32" else "-6.0e+04" if a.is_float else "-128"
    best, places = p.filled(few, element, low), p.filled(few, "i32")
    if way == "topk":
        name = p.draw.choice(("topk dimension(1)", "topk_v2 dimension(1) is_sorted", "topk_v2 dimension(1)"))
        return first_result(
            p,
            f"iree_linalg_ext.{name} ins({a.name} : {a.type}) outs({best.name}, {places.name} : {best.type}, {places.type}) {body} -> {best.type}, {places.type}",
            best,
        )
    best, places = p.filled(few[:1], element, low), p.filled(few[:1], "i32")
    return first_result(
        p,
        f"iree_linalg_ext.arg_compare dimension(1) ins({a.name} : {a.type}) outs({best.name}, {places.name} : {best.type}, {places.type}) {body} -> {best.type}, {places.type}",
        best,
    )


def _indexed(p: Program, v: Value, way: str) -> Value:
    element = p.draw.choice((*FLOATS, *BITS_FIRST[1:]))
    rows, wide, count = p.draw.choice((1, 9, 32)), p.draw.choice((1, 5, 8)), p.draw.choice((1, 3, 8))
    table, indices = (
        unnamed_argument(p, (rows, wide), element),
        unnamed_argument(p, (count, 1), p.draw.choice(("i32", "i64"))),
    )
    names, types = [indices.name], [indices.type]
    if p.draw.random() < 0.4:
        mask = unnamed_argument(p, (count,), "i1")
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
    updates = unnamed_argument(p, (count, wide), element)
    return p.op(
        f"iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins({', '.join([updates.name, *names])} : {', '.join([updates.type, *types])}) "
        f"outs({table.name} : {table.type}) {{\n  ^bb0(%x: {element}, %y: {element}):\n    iree_linalg_ext.yield %x : {element}\n  }} -> {table.type}",
        table.shape,
        element,
    )


def _attention(p: Program, v: Value) -> Value:
    element, head = p.draw.choice(("f32", "f32", "f16")), p.draw.choice((4, 16, 64))
    b, m, n = p.draw.choice((1, 2)), p.draw.choice((1, 8, 33)), p.draw.choice((4, 16, 40))
    q, k, value = (unnamed_argument(p, (b, rows, head), element) for rows in (m, n, n))
    scale = p.hidden(f"arith.constant 0.25 : {element}", (), element)
    out = p.hidden(f"tensor.empty() : {q.type}", q.shape, element)
    maps = ["(b, m, n, k, d) -> (b, m, k)", "(b, m, n, k, d) -> (b, n, k)", "(b, m, n, k, d) -> (b, n, d)", "(b, m, n, k, d) -> ()"]  # fmt: skip
    names, types = [q.name, k.name, value.name, scale.name], [q.type, k.type, value.type, element]
    if p.draw.random() < 0.5:
        mask = unnamed_argument(p, (b, m, n), p.draw.choice(("i1", element)))
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
        parts = [unnamed_argument(p, (rows, 8), "f32") for _ in range(2)]
        number = p.hidden(f"arith.constant {stage} : index", (), "index")
        types = f"{parts[0].type}, {parts[1].type}"
        return first_result(
            p,
            f"iree_linalg_ext.fft ins({number.name} : index) outs({parts[0].name}, {parts[1].name} : {types}) : {types}",
            parts[0],
        )
    n, c, size = p.draw.choice((1, 2)), p.draw.choice((1, 4)), p.draw.choice((10, 14))
    tiles = -(-(size - 2) // 6)
    kind = p.draw.choice(("input", "output", "filter"))
    attributes = "output_tile_size(6) kernel_size(3) "
    if kind == "input":
        source, shape = unnamed_argument(p, (n, size, size, c), "f32"), (8, 8, n, tiles, tiles, c)
        attributes += "image_dimensions([1, 2])"
    elif kind == "output":
        source, shape = unnamed_argument(p, (8, 8, n, tiles, tiles, c), "f32"), (n, 6 * tiles, 6 * tiles, c)
        attributes += "image_dimensions([1, 2])"
    else:
        source, shape = unnamed_argument(p, (3, 3, c, 4), "f32"), (8, 8, c, 4)
        attributes += "kernel_dimensions([0, 1])"
    out = p.hidden(f"tensor.empty() : {tensor_type(v, shape, 'f32')}", shape, "f32")
    return structured(p, f"iree_linalg_ext.winograd.{kind}_transform", [source], out, attributes)
