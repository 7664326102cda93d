"""Small programs that stock IREE refuses or builds wrong on some target, so that edits are tried on them: rows of `bench.golden_edits`.

A name says the form and its sizes; `programs()` has the text and the targets of each.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.programs.text.spelling import spelled


def programs() -> Iterator[tuple[str, str, str]]:
    """(name, text, target) of each row."""
    for name, text, targets in _forms():
        for target in targets:
            yield name, text, target


def _forms() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for c, h in ((8, 10), (8, 12), (16, 10)):
        yield f"depthwise_nchw_{c}x{h}", _depthwise(c, h), ("vulkan", "vulkan:rdna3", "vulkan:ampere")
    yield "depthwise_nchw_32x16", _depthwise(32, 16), ("vulkan", "vulkan:rdna3")
    for rows, columns in ((1, 131072), (3, 70001)):
        for op in ("addf", "maximumf", "minimumf"):
            yield f"{op}_rows_{rows}x{columns}", _rows(op, rows, columns), ("vulkan",)
    yield "softmax_1x70000", _softmax(1, 70000), ("vulkan", "vulkan:rdna3")
    yield "softmax_4x32768", _softmax(4, 32768), ("gfx942",)
    for f, h in ((64, 7), (32, 9)):
        yield f"conv_nchw_{f}x{h}", _conv(16, f, h, 3), ("vulkan", "vulkan:valhall4")
    yield "padded_product_64", _padded(64), ("vulkan",)
    yield "padded_product_32", _padded(32), ("vulkan", "vulkan:ampere")
    for outer, kept in ((16, 24), (12, 24)):
        yield f"gathered_sum_{outer}x{kept}", _gathered(outer, kept), ("vulkan:ampere", "vulkan:rdna3")
    yield "gathered_sum_8x40", _gathered(8, 40), ("vulkan:ampere",)
    yield "sort_300", _sort(300), ("vulkan", "vulkan:ampere")
    yield "sort_512", _sort(512), ("vulkan",)
    yield "scan_64x200", _scan(64, 200), ("vulkan",)
    yield "fft_64", _fft(64, 3), ("vulkan",)
    for m, n, k in ((128, 128, 256), (64, 256, 128)):
        yield f"matmul_f16_{m}x{n}x{k}", _matmul(m, n, k, "f16"), ("gfx942",)
    for k in (256, 192, 64):
        yield f"attention_head_{k}", _attention(k), ("llvm-cpu",)
    for c in (48, 64):
        yield f"dequantised_conv_{c}", _dequantised_conv(c, 58), ("gfx942",)
    yield "dequantised_conv_64", _dequantised_conv(64, 58), ("gfx1100",)
    for op, t in (("arith.divsi", "i64"), ("arith.remsi", "i64"), ("math.ipowi", "i32")):
        yield f"{op.split('.')[1]}_{t}", _scalar(op, t), ("vulkan", "gfx942")
    yield "unpack_13x70x8", _unpack(), ("gfx942", "vulkan")


def _start(kind: str, shape: str, number: str = "0.0") -> str:
    return f"""\
  %zero = arith.constant {number} : {kind}
  %empty = tensor.empty() : tensor<{shape}x{kind}>
  %start = linalg.fill ins(%zero : {kind}) outs(%empty : tensor<{shape}x{kind}>) -> tensor<{shape}x{kind}>
"""


def _function(arguments: str, result: str, body: str) -> str:
    return f"func.func @f({arguments}) -> {result} {{\n{body}  return %r : {result}\n}}\n"


def _dequantised(name: str, source: str, shape: str) -> str:
    loops = ", ".join(f"d{i}" for i in range(shape.count("x") + 1))
    kinds = ", ".join(['"parallel"'] * (shape.count("x") + 1))
    identity = f"affine_map<({loops}) -> ({loops})>"
    return f"""\
  %scale_{name} = arith.constant 0.0078125 : f32
  %room_{name} = tensor.empty() : tensor<{shape}xf32>
  %{name} = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}
      ins(%{source} : tensor<{shape}xi8>) outs(%room_{name} : tensor<{shape}xf32>) {{
  ^bb0(%in: i8, %_: f32):
    %wide = arith.sitofp %in : i8 to f32
    %scaled = arith.mulf %wide, %scale_{name} : f32
    linalg.yield %scaled : f32
  }} -> tensor<{shape}xf32>
"""


def _depthwise(c: int, h: int) -> str:
    read, made = f"1x{c}x{h}x{h}xf32", f"1x{c}x{h - 2}x{h - 2}"
    return _function(
        f"%x: tensor<{read}>, %w: tensor<{c}x3x3xf32>",
        f"tensor<{made}xf32>",
        _start("f32", made)
        + f"""\
  %r = linalg.depthwise_conv_2d_nchw_chw {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
      ins(%x, %w : tensor<{read}>, tensor<{c}x3x3xf32>) outs(%start : tensor<{made}xf32>) -> tensor<{made}xf32>
""",
    )


def _rows(op: str, rows: int, columns: int) -> str:
    return _function(
        f"%x: tensor<{rows}x{columns}xf32>",
        f"tensor<{rows}xf32>",
        _start("f32", str(rows))
        + f"  %r = linalg.reduce {{ arith.{op} }} ins(%x : tensor<{rows}x{columns}xf32>) "
        f"outs(%start : tensor<{rows}xf32>) dimensions = [1]\n",
    )


def _softmax(rows: int, columns: int) -> str:
    kind = f"tensor<{rows}x{columns}xf32>"
    return _function(
        f"%x: {kind}",
        kind,
        f"  %empty = tensor.empty() : {kind}\n"
        f"  %r = linalg.softmax dimension(1) ins(%x : {kind}) outs(%empty : {kind}) -> {kind}\n",
    )


def _convolution(c: int, f: int, h: int, k: int) -> str:
    size = h + k - 1
    return (
        "  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}\n"
        f"      ins(%xd, %w : tensor<1x{c}x{size}x{size}xf32>, tensor<{f}x{c}x{k}x{k}xf32>) "
        f"outs(%start : tensor<1x{f}x{h}x{h}xf32>) -> tensor<1x{f}x{h}x{h}xf32>\n"
    )


def _conv(c: int, f: int, h: int, k: int) -> str:
    size = h + k - 1
    return _function(
        f"%xd: tensor<1x{c}x{size}x{size}xf32>, %w: tensor<{f}x{c}x{k}x{k}xf32>",
        f"tensor<1x{f}x{h}x{h}xf32>",
        _start("f32", f"1x{f}x{h}x{h}") + _convolution(c, f, h, k),
    )


def _dequantised_conv(c: int, size: int) -> str:
    h = size - 2
    return _function(
        f"%x: tensor<1x{c}x{size}x{size}xi8>, %w: tensor<{c}x{c}x3x3xf32>",
        f"tensor<1x{c}x{h}x{h}xf32>",
        _dequantised("xd", "x", f"1x{c}x{size}x{size}")
        + _start("f32", f"1x{c}x{h}x{h}")
        + _convolution(c, c, h, 3),
    )


def _padded(n: int) -> str:
    return _function(
        f"%x: tensor<{n}x8x16xf32>, %w: tensor<{n}x{n}xf32>",
        f"tensor<{n}x10x18xf32>",
        _start("f32", f"{n}x8x16")
        + f"""\
  %minus = arith.constant -3.0 : f32
  %product = linalg.generic {{indexing_maps = [affine_map<(f, h, w, c) -> (c, h, w)>, affine_map<(f, h, w, c) -> (f, c)>,
      affine_map<(f, h, w, c) -> (f, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%x, %w : tensor<{n}x8x16xf32>, tensor<{n}x{n}xf32>) outs(%start : tensor<{n}x8x16xf32>) {{
  ^bb0(%a: f32, %b: f32, %sofar: f32):
    %term = arith.mulf %a, %b : f32
    %sum = arith.addf %sofar, %term : f32
    linalg.yield %sum : f32
  }} -> tensor<{n}x8x16xf32>
  %room = tensor.empty() : tensor<{n}x10x18xf32>
  %border = linalg.fill ins(%minus : f32) outs(%room : tensor<{n}x10x18xf32>) -> tensor<{n}x10x18xf32>
  %r = tensor.insert_slice %product into %border[0, 1, 1] [{n}, 8, 16] [1, 1, 1] : tensor<{n}x8x16xf32> into tensor<{n}x10x18xf32>
""",
    )


def _gathered(outer: int, kept: int) -> str:
    return _function(
        f"%table: tensor<64xf32>, %indices: tensor<{outer}x{kept}x2xi32>",
        f"tensor<{kept}xf32>",
        _start("f32", str(kept))
        + f"""\
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (j, i, k)>, affine_map<(i, j, k) -> (i)>],
      iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%indices : tensor<{outer}x{kept}x2xi32>) outs(%start : tensor<{kept}xf32>) {{
  ^bb0(%index: i32, %sofar: f32):
    %at = arith.index_cast %index : i32 to index
    %term = tensor.extract %table[%at] : tensor<64xf32>
    %more = arith.addf %term, %sofar : f32
    linalg.yield %more : f32
  }} -> tensor<{kept}xf32>
""",
    )


def _sort(n: int) -> str:
    kind = f"tensor<{n}xf32>"
    return _function(
        f"%x: {kind}",
        kind,
        f"""\
  %r = iree_linalg_ext.sort dimension(0) outs(%x : {kind}) {{
  ^bb0(%a: f32, %b: f32):
    %before = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %before : i1
  }} -> {kind}
""",
    )


def _scan(rows: int, columns: int) -> str:
    kind = f"tensor<{rows}x{columns}xf32>"
    return _function(
        f"%x: {kind}",
        kind,
        _start("f32", str(rows))
        + f"""\
  %room = tensor.empty() : {kind}
  %r, %last = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : {kind}) outs(%room, %start : {kind}, tensor<{rows}xf32>) {{
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    iree_linalg_ext.yield %sum : f32
  }} -> {kind}, tensor<{rows}xf32>
""",
    )


def _fft(n: int, stage: int) -> str:
    kind = f"tensor<{n}xf32>"
    return _function(
        f"%x: {kind}, %y: {kind}",
        kind,
        f"""\
  %stage = arith.constant {stage} : index
  %r, %imaginary = iree_linalg_ext.fft ins(%stage : index) outs(%x, %y : {kind}, {kind}) : {kind}, {kind}
""",
    )


def _matmul(m: int, n: int, k: int, kind: str) -> str:
    made = f"tensor<{m}x{n}x{kind}>"
    return _function(
        f"%a: tensor<{m}x{k}x{kind}>, %b: tensor<{k}x{n}x{kind}>",
        made,
        _start(kind, f"{m}x{n}")
        + f"  %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}x{kind}>, tensor<{k}x{n}x{kind}>) outs(%start : {made}) -> {made}\n",
    )


def _attention(head: int) -> str:
    kind = f"tensor<2x64x{head}xf32>"
    loops = "(b, m, k, l, n)"
    maps = ", ".join(
        f"affine_map<{loops} -> {to}>" for to in ("(b, m, k)", "(b, l, k)", "(b, l, n)", "()", "(b, m, n)")
    )
    return _function(
        f"%q: {kind}, %k: {kind}, %v: {kind}",
        kind,
        spelled(f"""\
  %empty = tensor.empty() : {kind}
  %scale = arith.constant 0.0625 : f32
  %r = iree_linalg_ext.attention <{{indexing_maps = [{maps}]}}>
      ins(%q, %k, %v, %scale : {kind}, {kind}, {kind}, f32) outs(%empty : {kind}) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> {kind}
"""),
    )


def _scalar(op: str, kind: str) -> str:
    made = f"tensor<8x{kind}>"
    return _function(
        f"%x: {made}, %y: {made}",
        made,
        f"""\
  %empty = tensor.empty() : {made}
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x, %y : {made}, {made}) outs(%empty : {made}) {{
  ^bb0(%a: {kind}, %b: {kind}, %_: {kind}):
    %q = {op} %a, %b : {kind}
    linalg.yield %q : {kind}
  }} -> {made}
""",
    )


def _unpack() -> str:
    return _function(
        "%x: tensor<13x70x8xf32>",
        "tensor<100x70xf32>",
        """\
  %empty = tensor.empty() : tensor<100x70xf32>
  %r = linalg.unpack %x inner_dims_pos = [0] inner_tiles = [8] into %empty : tensor<13x70x8xf32> -> tensor<100x70xf32>
""",
    )
