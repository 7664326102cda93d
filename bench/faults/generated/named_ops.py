"""Ops of random programs by name: linalg's contractions, convolutions and poolings."""

from __future__ import annotations

from .program import FLOATS, Program, Value, tensor_type, unnamed_argument

_WIDE = {"i8": "i32", "i16": "i32", "f16": "f32", "bf16": "f32"}


def structured(p: Program, name: str, ins: list[Value], out: Value, attributes: str = "") -> Value:
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
        a, b = unnamed_argument(p, shaped("mk"), "i8"), unnamed_argument(p, shaped("kn"), "i8")
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
        ins = [unnamed_argument(p, shaped(left), element), unnamed_argument(p, shaped(right), element)]
        return structured(p, "linalg.contract", ins, p.filled(shaped(result), to), attributes)
    left, right, result = PRODUCTS[name]
    ins = [unnamed_argument(p, shaped(left), element), unnamed_argument(p, shaped(right), element)]
    return structured(p, name, ins, p.filled(shaped(result), to))


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
                f"tensor.empty() : {tensor_type(v, tuple(of_window[x] for x in kernel), element)}",
                tuple(of_window[x] for x in kernel),
                element,
            ),
        )
    else:
        to = _WIDE.get(element, element) if p.draw.random() < 0.6 else element
        weights = unnamed_argument(p, tuple({**size, **of_window}[x] for x in kernel), element)
    out = p.filled(tuple({**size, **of_result}[x] for x in result), to)
    source = unnamed_argument(p, tuple({**size, **of_image}[x] for x in image), element)
    count = len(space)
    attributes = (
        f"{{dilations = dense<{gaps}> : tensor<{count}xi64>, strides = dense<{steps}> : tensor<{count}xi64>}}"
    )
    return structured(p, name, [source, weights], out, attributes)
