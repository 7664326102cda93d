"""Small MLIR programs for the tests, in the patterns that the product is about."""

from __future__ import annotations

from string import Template

import numpy as np

TARGETS = {
    "gfx942": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
    "sm_86": ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_86"],
    "vulkan": ["--iree-hal-target-device=vulkan"],
    "llvm-cpu": [
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ],
}

ADD = """\
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = arith.addf %a, %b : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""

_DEQUANTISE = Template("""\
  %${name}_e = tensor.empty() : tensor<${shape}xf32>
  %$name = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%$source : tensor<${shape}xi8>) outs(%${name}_e : tensor<${shape}xf32>) {
  ^bb0(%in: i8, %out: f32):
    %i = arith.sitofp %in : i8 to f32
    %s = arith.mulf %i, %scale : f32
    linalg.yield %s : f32
  } -> tensor<${shape}xf32>
""")


_REQUANTISE = Template("""\
  %q_e = tensor.empty() : tensor<${shape}xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
      affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<${shape}xf32>) outs(%q_e : tensor<${shape}xi8>) {
  ^bb0(%in: f32, %out: i8):
    %n = math.roundeven %in : f32
    %i = arith.fptosi %n : f32 to i8
    linalg.yield %i : i8
  } -> tensor<${shape}xi8>
""")


def quantised_conv(
    channels: int = 64, filters: int = 64, size: int = 16, name: str = "main", requantise: bool = False
) -> str:
    """int8 [1,C,S+2,S+2] dequantised, 3x3 convolution with dequantised int8 [F,C,3,3] -> f32 (or int8) [1,F,S,S]."""
    x, w = f"1x{channels}x{size + 2}x{size + 2}", f"{filters}x{channels}x3x3"
    shape = f"1x{filters}x{size}x{size}"
    out = f"tensor<{shape}xf32>"
    result, kind = ("%q", f"tensor<{shape}xi8>") if requantise else ("%r", out)
    return (
        f"func.func @{name}(%x: tensor<{x}xi8>, %w: tensor<{w}xi8>) -> {kind} {{\n"
        "  %scale = arith.constant 0.0078125 : f32\n  %zero = arith.constant 0.0 : f32\n"
        + _DEQUANTISE.substitute(name="xd", source="x", shape=x)
        + _DEQUANTISE.substitute(name="wd", source="w", shape=w)
        + f"  %e = tensor.empty() : {out}\n"
        f"  %acc = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}\n"
        f"  %r = linalg.conv_2d_nchw_fchw ins(%xd, %wd : tensor<{x}xf32>, tensor<{w}xf32>) "
        f"outs(%acc : {out}) -> {out}\n"
        + (_REQUANTISE.substitute(shape=shape) if requantise else "")
        + f"  return {result} : {kind}\n}}\n"
    )


def two_convs_one_fill(channels: tuple[int, int] = (64, 32), size: int = 28) -> str:
    """Two dequantised 3x3 convolutions [1,C,S+2,S+2] by [64,C,3,3], C by ``channels``, that start from one filled tensor."""
    out = f"tensor<1x64x{size}x{size}xf32>"
    given, body, sums = [], [], []
    for name, count in zip("ab", channels, strict=True):
        x, w = f"1x{count}x{size + 2}x{size + 2}", f"64x{count}x3x3"
        given += [f"%x{name}: tensor<{x}xi8>", f"%w{name}: tensor<{w}xf32>"]
        body += [_DEQUANTISE.substitute(name=f"d{name}", source=f"x{name}", shape=x)]
        sums += [
            f"  %r{name} = linalg.conv_2d_nchw_fchw ins(%d{name}, %w{name} : tensor<{x}xf32>, tensor<{w}xf32>)"
            f" outs(%acc : {out}) -> {out}\n"
        ]
    return (
        f"func.func @main({', '.join(given)}) -> ({out}, {out}) {{\n"
        "  %scale = arith.constant 0.0078125 : f32\n  %zero = arith.constant 0.0 : f32\n"
        f"  %e = tensor.empty() : {out}\n  %acc = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}\n"
        f"{''.join(body)}{''.join(sums)}  return %ra, %rb : {out}, {out}\n}}\n"
    )


def quantised_matmul(m: int, k: int, n: int) -> str:
    """int8 [M,K] by int8 [K,N], each dequantised -> f32 [M,N]."""
    x, w, out = f"{m}x{k}", f"{k}x{n}", f"tensor<{m}x{n}xf32>"
    dequantised = "".join(
        f"  %{name}e = tensor.empty() : tensor<{shape}xf32>\n"
        f"  %{name}d = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],\n"
        f'      iterator_types = ["parallel", "parallel"]}} ins(%{name} : tensor<{shape}xi8>) outs(%{name}e : tensor<{shape}xf32>) {{\n'
        "  ^bb0(%in: i8, %out: f32):\n    %i = arith.sitofp %in : i8 to f32\n    %s = arith.mulf %i, %scale : f32\n"
        f"    linalg.yield %s : f32\n  }} -> tensor<{shape}xf32>\n"
        for name, shape in (("x", x), ("w", w))
    )
    return (
        f"func.func @main(%x: tensor<{x}xi8>, %w: tensor<{w}xi8>) -> {out} {{\n"
        "  %scale = arith.constant 0.0078125 : f32\n  %zero = arith.constant 0.0 : f32\n"
        f"{dequantised}  %e = tensor.empty() : {out}\n"
        f"  %acc = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}\n"
        f"  %r = linalg.matmul ins(%xd, %wd : tensor<{x}xf32>, tensor<{w}xf32>) outs(%acc : {out}) -> {out}\n"
        f"  return %r : {out}\n}}\n"
    )


_CONVOLUTION = """\
func.func @main(%x: tensor<{n}x{c}x{h}x{w}xf32>, %k: tensor<{f}x{c}x{kh}x{kw}xf32>) -> tensor<{n}x{f}x{oh}x{ow}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{n}x{f}x{oh}x{ow}xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<{n}x{f}x{oh}x{ow}xf32>) -> tensor<{n}x{f}x{oh}x{ow}xf32>
  %r = linalg.conv_2d_nchw_fchw {{strides = dense<{stride}> : vector<2xi64>, dilations = dense<1> : vector<2xi64>}}
      ins(%x, %k : tensor<{n}x{c}x{h}x{w}xf32>, tensor<{f}x{c}x{kh}x{kw}xf32>)
      outs(%i : tensor<{n}x{f}x{oh}x{ow}xf32>) -> tensor<{n}x{f}x{oh}x{ow}xf32>
  return %r : tensor<{n}x{f}x{oh}x{ow}xf32>
}}
"""


def convolution(n: int, c: int, f: int, h: int, w: int, kh: int, kw: int, stride: int = 1) -> str:
    """f32 [N,C,H,W] convolved with f32 [F,C,KH,KW], no padding; `convolved` is the same in NumPy."""
    return _CONVOLUTION.format(
        n=n,
        c=c,
        f=f,
        h=h,
        w=w,
        kh=kh,
        kw=kw,
        stride=stride,
        oh=(h - kh) // stride + 1,
        ow=(w - kw) // stride + 1,
    )


def convolved(x: np.ndarray, k: np.ndarray, stride: int = 1) -> np.ndarray:
    """The convolution of ``x`` [N,C,H,W] and ``k`` [F,C,KH,KW], no padding, in double precision."""
    windows = np.lib.stride_tricks.sliding_window_view(x, k.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,fcij->nfhw", windows.astype(np.float64), k.astype(np.float64))


INT8_MATMUL = """\
func.func @main(%a: tensor<128x32xi8>, %b: tensor<32x32xi8>) -> tensor<128x32xi32> {
  %c0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x32xi32>
  %f = linalg.fill ins(%c0 : i32) outs(%e : tensor<128x32xi32>) -> tensor<128x32xi32>
  %r = linalg.matmul ins(%a, %b : tensor<128x32xi8>, tensor<32x32xi8>) outs(%f : tensor<128x32xi32>) -> tensor<128x32xi32>
  return %r : tensor<128x32xi32>
}
"""
