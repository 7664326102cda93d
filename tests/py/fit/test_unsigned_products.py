"""FIS188: unsigned 8-bit factors that AMD's matrix instructions take for signed ones; the repair, in every bit; and twins that stay silent."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run
from reported_codes import codes

from fissile.cli import opt
from fissile.passes.failures.narrow.unsigned_products import UnsignedProducts
from fissile.pipelines.numerics.build import compile_stock

CONVOLUTION = """\
func.func @main(%x: tensor<1x10x10x16xi8>, %w: tensor<3x3x16x8xi8>) -> tensor<1x8x8x8xi32> {{
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x8x8x8xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x8x8x8xi32>) -> tensor<1x8x8x8xi32>
  %r = linalg.generic {{indexing_maps = [affine_map<(n, h, w, f, a, b, c) -> (n, h + a, w + b, c)>, affine_map<(n, h, w, f, a, b, c) -> (a, b, c, f)>,
      affine_map<(n, h, w, f, a, b, c) -> (n, h, w, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction",
      "reduction"]}} ins(%x, %w : tensor<1x10x10x16xi8>, tensor<3x3x16x8xi8>) outs(%start : tensor<1x8x8x8xi32>) {{
  ^bb0(%a: i8, %b: i8, %sum: i32):
    %p = arith.{first} %a : i8 to i32
    %q = arith.{second} %b : i8 to i32
    %product = arith.muli %q, %p : i32
    %s = arith.addi %product, %sum : i32
    linalg.yield %s : i32
  }} -> tensor<1x8x8x8xi32>
  return %r : tensor<1x8x8x8xi32>
}}
"""
NAMED = """\
func.func @main(%a: tensor<64x64xi8>, %b: tensor<64x32xi8>, %start: tensor<64x32xi32>) -> tensor<64x32xi32> {
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<64x64xi8>, tensor<64x32xi8>)
      outs(%start : tensor<64x32xi32>) -> tensor<64x32xi32>
  return %r : tensor<64x32xi32>
}
"""
EXTENSIONS = [("extui", "extui"), ("extui", "extsi"), ("extsi", "extui")]


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "gfx1201"])
def test_unsigned_factors_are_multiplied_as_signed_ones(tmp_path, target):
    assert codes(tmp_path, UnsignedProducts.fails, target) == ["FIS188"]


@pytest.mark.parametrize("text", [CONVOLUTION.format(first="extui", second="extui"), NAMED])
def test_windows_and_named_ops_are_repaired(tmp_path, text):
    assert "FIS188" in codes(tmp_path, text, "gfx942")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (CONVOLUTION.format(first="extsi", second="extsi"), "gfx942"),
        (UnsignedProducts.fails.replace("extui", "extsi"), "gfx1100"),
        (UnsignedProducts.fails, "sm_80"),
        (UnsignedProducts.fails.replace("i8", "i16"), "gfx942"),
    ],
)
def test_signed_factors_and_other_widths_are_not_concerned(tmp_path, text, target):
    assert "FIS188" not in codes(tmp_path, text, target)


@pytest.mark.parametrize(("first", "second"), EXTENSIONS)
def test_the_repaired_program_computes_the_same_bits(tmp_path, first, second):
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    before.write_text(CONVOLUTION.format(first=first, second=second))
    assert (
        opt.main([str(before), "--pass-pipeline=builtin.module(fissile-multiply-signed)", "-o", str(after)])
        == 0
    )
    assert "extui" not in _body_of_the_product(after.read_text())
    generator = np.random.default_rng(0)
    arrays = [
        generator.integers(-128, 128, shape).astype(np.int8) for shape in ((1, 10, 10, 16), (3, 3, 16, 8))
    ]
    results = []
    for source in (before, after):
        module = source.with_suffix(".vmfb")
        assert compile_stock(source, module, CPU) is None
        results.append(run(module, arrays)[0])
    x, w = arrays[0].astype(np.int64), arrays[1].astype(np.int64)
    x, w = (one & 255 if how == "extui" else one for one, how in ((x, first), (w, second)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))  # n h w c a b
    expected = np.einsum("nhwcab,abcf->nhwf", windows, w)
    for result in results:
        np.testing.assert_array_equal(result, expected)


def _body_of_the_product(text):
    return text[: text.index("arith.muli")].rsplit("linalg.generic", 1)[1]
