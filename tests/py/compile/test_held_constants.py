"""FIS104, FIS108: small constants of complex numbers and of wide integers, which IREE clones into dispatches and SPIR-V does not have there,
are read from memory."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

VULKAN = ("--iree-hal-target-device=vulkan",)
FACTORS = np.exp(-2j * np.pi * np.outer(np.arange(3), np.arange(3)) / 3).astype(np.complex64)
PROGRAM = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>> {
  %c = arith.constant dense<FACTORS> : tensor<3x3xcomplex<f32>>
  %z = arith.constant 0.0 : f32
  %zero = complex.create %z, %z : complex<f32>
  %e = tensor.empty() : tensor<2x3xcomplex<f32>>
  %i = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i, k) -> (b, k)>, affine_map<(b, i, k) -> (k, i)>, affine_map<(b, i, k) -> (b, i)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %c : tensor<2x3xf32>, tensor<3x3xcomplex<f32>>) outs(%i : tensor<2x3xcomplex<f32>>) {
  ^bb0(%a: f32, %f: complex<f32>, %o: complex<f32>):
    %re = complex.re %f : complex<f32>
    %im = complex.im %f : complex<f32>
    %p = arith.mulf %a, %re : f32
    %q = arith.mulf %a, %im : f32
    %t = complex.create %p, %q : complex<f32>
    %s = complex.add %o, %t : complex<f32>
    linalg.yield %s : complex<f32>
  } -> tensor<2x3xcomplex<f32>>
  return %r : tensor<2x3xcomplex<f32>>
}
"""
SPELLED = (
    "[" + ", ".join("[" + ", ".join(f"({v.real}, {v.imag})" for v in row) + "]" for row in FACTORS) + "]"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("complex")
    source, output = folder / "in.mlir", folder / "out.vmfb"
    source.write_text(PROGRAM.replace("FACTORS", SPELLED))
    assert compile_stock(source, folder / "stock.vmfb", VULKAN) is not None
    return fissile.compile(source, output, [*VULKAN], check=False), output


def test_it_is_read_from_memory(built):
    report, _output = built
    [found] = report.findings
    assert (found.code, found.severity.value) == ("FIS104", "repaired")
    assert [one.remedy for one in found.helps] == ["fissile-hold-constants"]


@pytest.mark.skipif(all(one.name != "vulkan" for one in runtimes.present()), reason="no Vulkan device")
def test_it_is_right(built):
    _report, output = built
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    [answer] = run(output, [x], "vulkan")
    np.testing.assert_allclose(answer, x @ FACTORS, rtol=1e-5, atol=1e-5)


WIDE = """
func.func @main(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c = arith.constant dense<[3000000000, -5, 7, 9223372036854775807]> : tensor<4xi64>
  %r = arith.muli %x, %c : tensor<4xi64>
  return %r : tensor<4xi64>
}
"""


def test_integers_of_more_than_32_bits(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(WIDE)
    assert compile_stock(source, tmp_path / "stock.vmfb", VULKAN) is not None
    [found] = fissile.compile(source, output, [*VULKAN], check=False).findings
    assert (found.code, found.severity.value) == ("FIS108", "repaired")
    assert [one.remedy for one in found.helps] == ["fissile-hold-constants"]
    if "vulkan" in [one.name for one in runtimes.present()]:
        got = run(output, [np.array([1, 2, 3, 1])], "vulkan")[0]
        assert got.tolist() == [3000000000, -10, 21, 9223372036854775807]
