"""Programs whose dispatches keep tiles on chip: matrix products, convolutions, reductions, in several
patterns."""

from __future__ import annotations

_PARALLEL = '"parallel"'


def _function(arguments: str, body: str, result: str) -> str:
    return (
        f"func.func @main({arguments}) -> {result} {{\n  %scale = arith.constant 0.0078125 : f32\n{body}}}\n"
    )


def _dequantise(name: str, source: str, shape: str, sizes: str = "") -> str:
    loops = ", ".join(f"d{k}" for k in range(shape.count("x") + 1))
    kinds = ", ".join([_PARALLEL] * (shape.count("x") + 1))
    identity = f"affine_map<({loops}) -> ({loops})>"
    return (
        f"  %{name}_e = tensor.empty({sizes}) : tensor<{shape}xf32>\n"
        f"  %{name} = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}"
        f" ins(%{source} : tensor<{shape}xi8>) outs(%{name}_e : tensor<{shape}xf32>) {{\n"
        "  ^bb0(%a: i8, %b: f32):\n    %c = arith.sitofp %a : i8 to f32\n"
        "    %m = arith.mulf %c, %scale : f32\n"
        f"    linalg.yield %m : f32\n  }} -> tensor<{shape}xf32>\n"
    )


def _fill(name: str, shape: str, sizes: str = "") -> str:
    return (
        f"  %{name}_c = arith.constant 0.0 : f32\n  %{name}_e = tensor.empty({sizes}) : tensor<{shape}xf32>\n"
        f"  %{name} = linalg.fill ins(%{name}_c : f32) outs(%{name}_e : tensor<{shape}xf32>)"
        f" -> tensor<{shape}xf32>\n"
    )


def _relu(name: str, source: str, shape: str, result: str = "f32") -> str:
    loops = ", ".join(f"d{k}" for k in range(shape.count("x") + 1))
    kinds = ", ".join([_PARALLEL] * (shape.count("x") + 1))
    identity = f"affine_map<({loops}) -> ({loops})>"
    cast = "" if result == "f32" else "    %q = arith.fptosi %m : f32 to i8\n"
    return (
        f"  %{name}_z = arith.constant 0.0 : f32\n  %{name}_e = tensor.empty() : tensor<{shape}x{result}>\n"
        f"  %{name} = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}"
        f" ins(%{source} : tensor<{shape}xf32>) outs(%{name}_e : tensor<{shape}x{result}>) {{\n"
        f"  ^bb0(%a: f32, %b: {result}):\n    %m = arith.maximumf %a, %{name}_z : f32\n{cast}"
        f"    linalg.yield {'%m' if result == 'f32' else '%q'} : {result}\n  }} -> tensor<{shape}x{result}>\n"
    )


def conv(
    batch: int = 1,
    channels: int = 32,
    filters: int = 64,
    size: int = 16,
    window: int = 3,
    stride: int = 1,
    layout: str = "nchw",
    dequantise: bool = True,
    consumer: str = "",
) -> str:
    """A 2-d convolution, both operands dequantised i8 or plain f32; ``consumer``: "", "f32" or "i8" after a
    relu."""
    wide = (size - 1) * stride + window
    if layout == "nchw":
        x, w, r = (
            f"{batch}x{channels}x{wide}x{wide}",
            f"{filters}x{channels}x{window}x{window}",
            f"{batch}x{filters}x{size}x{size}",
        )
        op = "linalg.conv_2d_nchw_fchw"
    else:
        x, w, r = (
            f"{batch}x{wide}x{wide}x{channels}",
            f"{window}x{window}x{channels}x{filters}",
            f"{batch}x{size}x{size}x{filters}",
        )
        op = "linalg.conv_2d_nhwc_hwcf"
    element = "i8" if dequantise else "f32"
    body = _dequantise("xd", "x", x) + _dequantise("wd", "w", w) if dequantise else ""
    left, right = ("%xd", "%wd") if dequantise else ("%x", "%w")
    body += _fill("z", r)
    body += (
        f"  %r = {op} {{strides = dense<{stride}> : tensor<2xi64>}}"
        f" ins({left}, {right} : tensor<{x}xf32>, tensor<{w}xf32>)"
        f" outs(%z : tensor<{r}xf32>) -> tensor<{r}xf32>\n"
    )
    value, kind = "%r", f"tensor<{r}xf32>"
    if consumer:
        body += _relu("y", "r", r, consumer)
        value, kind = "%y", f"tensor<{r}x{consumer}>"
    return _function(
        f"%x: tensor<{x}x{element}>, %w: tensor<{w}x{element}>", f"{body}  return {value} : {kind}\n", kind
    )


def matmul(m: int = 128, n: int = 256, k: int = 256, dequantise: bool = True, consumer: str = "") -> str:
    """[m,k] x [k,n], both operands dequantised i8 or plain f32."""
    x, w, r = f"{m}x{k}", f"{k}x{n}", f"{m}x{n}"
    element = "i8" if dequantise else "f32"
    body = _dequantise("xd", "x", x) + _dequantise("wd", "w", w) if dequantise else ""
    left, right = ("%xd", "%wd") if dequantise else ("%x", "%w")
    body += _fill("z", r)
    body += (
        f"  %r = linalg.matmul ins({left}, {right} : tensor<{x}xf32>, tensor<{w}xf32>)"
        f" outs(%z : tensor<{r}xf32>)"
        f" -> tensor<{r}xf32>\n"
    )
    value, kind = "%r", f"tensor<{r}xf32>"
    if consumer:
        body += _relu("y", "r", r, consumer)
        value, kind = "%y", f"tensor<{r}x{consumer}>"
    return _function(
        f"%x: tensor<{x}x{element}>, %w: tensor<{w}x{element}>", f"{body}  return {value} : {kind}\n", kind
    )


def row_sum(rows: int = 64, columns: int = 8192) -> str:
    """A reduction that several subgroups share."""
    body = _fill("z", f"{rows}") + (
        "  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],"
        ' iterator_types = ["parallel", "reduction"]}'
        f" ins(%x : tensor<{rows}x{columns}xf32>) outs(%z : tensor<{rows}xf32>) {{\n"
        "  ^bb0(%a: f32, %b: f32):\n    %s = arith.addf %a, %b : f32\n    linalg.yield %s : f32\n"
        f"  }} -> tensor<{rows}xf32>\n  return %r : tensor<{rows}xf32>\n"
    )
    return _function(f"%x: tensor<{rows}x{columns}xf32>", body, f"tensor<{rows}xf32>")


def dynamic_channels(bound: int = 0) -> str:
    """A dequantised convolution over a dynamic number of channels, assumed to be at most ``bound`` where that
    is set."""
    assumed = ""
    if bound:
        assumed = (
            f"  %nb = util.assume.int %n<umin = 1, umax = {bound}> : index\n"
            "  %xa = flow.tensor.tie_shape %x : tensor<1x?x34x34xi8>{%nb}\n"
            "  %wa = flow.tensor.tie_shape %w : tensor<64x?x3x3xi8>{%nb}\n"
        )
    x, w, n = ("xa", "wa", "%nb") if bound else ("x", "w", "%n")
    body = (
        "  %one = arith.constant 1 : index\n  %n = tensor.dim %x, %one : tensor<1x?x34x34xi8>\n"
        + assumed
        + _dequantise("xd", x, "1x?x34x34", n)
        + _dequantise("wd", w, "64x?x3x3", n)
        + _fill("z", "1x64x32x32")
        + "  %r = linalg.conv_2d_nchw_fchw ins(%xd, %wd : tensor<1x?x34x34xf32>, tensor<64x?x3x3xf32>)"
        " outs(%z : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>\n  return %r : tensor<1x64x32x32xf32>\n"
    )
    return _function("%x: tensor<1x?x34x34xi8>, %w: tensor<64x?x3x3xi8>", body, "tensor<1x64x32x32xf32>")


def residual(rows: int, columns: int, read: str = "whole") -> str:
    """A matrix product with a dequantised value added, which is a result as well and so is made again in the product's
    dispatch. ``read``: "whole", "transposed", or "column": one value per column."""
    product, own = (
        f"{rows}x{columns}",
        {"whole": f"{rows}x{columns}", "transposed": f"{columns}x{rows}", "column": f"{columns}"}[read],
    )
    index = {"whole": "d0, d1", "transposed": "d1, d0", "column": "d1"}[read]
    body = (
        _dequantise("d", "s", own)
        + _fill("z", product)
        + f"  %c = linalg.matmul ins(%left, %right : tensor<{rows}x64xf32>, tensor<64x{columns}xf32>) outs(%z : tensor<{product}xf32>)"
        f" -> tensor<{product}xf32>\n"
        + "  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,"
        f" affine_map<(d0, d1) -> ({index})>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [{_PARALLEL}, {_PARALLEL}]}}"
        f" ins(%c, %d : tensor<{product}xf32>, tensor<{own}xf32>) outs(%z_e : tensor<{product}xf32>) {{\n"
        "  ^bb0(%x: f32, %y: f32, %o: f32):\n    %t = arith.addf %x, %y : f32\n"
        f"    linalg.yield %t : f32\n  }} -> tensor<{product}xf32>\n"
        f"  return %r, %d : tensor<{product}xf32>, tensor<{own}xf32>\n"
    )
    arguments = f"%left: tensor<{rows}x64xf32>, %right: tensor<64x{columns}xf32>, %s: tensor<{own}xi8>"
    return _function(arguments, body, f"(tensor<{product}xf32>, tensor<{own}xf32>)")
