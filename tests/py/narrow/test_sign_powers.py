"""FIS147: powers of negative numbers, which stock makes NaN, are those of NumPy after the repair, and twins stay silent."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from built import CPU, build, run

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics.runtimes import present
from fissile.rules import RULES
from fissile.target import find_target

HOST = flags_for(find_target("llvm-cpu"))
NUMBERS = np.float32(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e-3, -50.0, 1e10, -1e10, np.inf, -np.inf, np.nan]
    + [1.5, -2.5, 8388609.0, -8388609.0, 16777217.0]
)  # fmt: skip
BASES, EXPONENTS = (part.ravel().copy() for part in np.meshgrid(NUMBERS, NUMBERS))
SIZE = len(BASES)
PAGE = RULES["FIS147"].example.replace("@f", "@main").replace("64", str(SIZE))


def compiled(tmp_path, text, flags=HOST, **options):
    source, vmfb = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    return fissile.compile(source, vmfb, flags, check=False, **options).findings, vmfb


def power(base, exponent):
    with np.errstate(all="ignore"):
        return np.power(base.astype(np.float64), exponent.astype(np.float64))


def assert_powers(answer, bases, exponents, rtol):
    with np.errstate(over="ignore"):
        expected = power(bases, exponents).astype(answer.dtype)
    tiny = np.finfo(answer.dtype).tiny
    kept = ~((np.abs(expected) < tiny) & (expected != 0))  # IREE's threads flush what is subnormal
    np.testing.assert_allclose(answer[kept], expected[kept], rtol=rtol)
    numbers = kept & ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(answer[numbers]), np.signbit(expected[numbers]))


def test_every_pair_of_special_numbers_after_the_repair(tmp_path):
    [finding], vmfb = compiled(tmp_path, PAGE)
    assert (finding.code, finding.severity.value) == ("FIS147", "repaired")
    assert "fissile-sign-powers{ops=0}" in str(finding.helps)
    [answer] = run(vmfb, [BASES, EXPONENTS])
    assert_powers(answer, BASES, EXPONENTS, 2e-5)


def test_stock_is_wrong_and_keeps_every_bit_of_a_positive_base(tmp_path):
    _findings, repaired = compiled(tmp_path, PAGE)
    build(PAGE, tmp_path / "stock.vmfb", "", HOST)
    [stock] = run(tmp_path / "stock.vmfb", [BASES, EXPONENTS])
    [answer] = run(repaired, [BASES, EXPONENTS])
    assert np.isnan(stock[(BASES == -2) & (EXPONENTS == 3)]).all()
    ordinary = (BASES > 0) & (BASES != 1) & np.isfinite(BASES) & np.isfinite(EXPONENTS) & (EXPONENTS != 0)
    np.testing.assert_array_equal(answer[ordinary], stock[ordinary])


@pytest.mark.parametrize("half", ["f16", "bf16"])
def test_half_precision_is_rounded_once(tmp_path, half):
    text = PAGE.replace("f32", half)
    build(text, tmp_path / "x.vmfb", "fissile-sign-powers", CPU)
    dtype = np.float16 if half == "f16" else ml_dtypes.bfloat16
    base, exponent = (
        np.resize(np.array(numbers, dtype), SIZE) for numbers in ([-2, -2, 0, -1.5, 2], [3, 2, 0, 0.5, 0.5])
    )
    [answer] = run(tmp_path / "x.vmfb", [base, exponent])
    expected = power(base, exponent).astype(dtype)
    np.testing.assert_array_equal(answer.astype(np.float32), expected.astype(np.float32))


def test_an_integer_exponent(tmp_path):
    text = PAGE.replace(f"%y: tensor<{SIZE}xf32>", f"%y: tensor<{SIZE}xi32>").replace("%b: f32", "%b: i32")
    text = text.replace(f"xf32>, tensor<{SIZE}xf32>) outs", f"xf32>, tensor<{SIZE}xi32>) outs")
    text = text.replace("math.powf %a, %b : f32", "math.fpowi %a, %b : f32, i32")
    [finding], vmfb = compiled(tmp_path, text)
    assert finding.code == "FIS147" and finding.severity.value == "repaired"
    bases, exponents = (
        np.resize(part.ravel(), SIZE)
        for part in np.meshgrid(np.float32([0, -1, -2, 3, -1.5]), np.int32(range(-3, 5)))
    )
    [answer] = run(vmfb, [bases, exponents])
    assert_powers(answer, bases, exponents, 2e-5)


@pytest.mark.parametrize(
    "lines",
    [
        "%m = math.absf %a : f32\n    %power = math.powf %m, %b",
        "%m = arith.mulf %a, %a : f32\n    %power = math.powf %m, %b",
        "%z = arith.constant 0.0 : f32\n    %m = arith.maximumf %a, %z : f32\n    %power = math.powf %m, %b",
        "%m = arith.constant 10000.0 : f32\n    %power = math.powf %m, %b",
        "%e = arith.constant 3.0 : f32\n    %power = math.powf %a, %e",
        "%e = arith.constant 0.3 : f32\n    %power = math.powf %a, %e",
    ],
    ids=["absolute value", "square", "rectified", "constant base", "cube", "fraction"],
)
def test_a_power_that_stock_computes_rightly_is_no_finding(tmp_path, lines):
    findings, _vmfb = compiled(tmp_path, PAGE.replace("%power = math.powf %a, %b", lines))
    assert list(findings) == []


def test_a_constant_exponent_that_is_not_on_the_list_is_a_finding(tmp_path):
    text = PAGE.replace(
        "%power = math.powf %a, %b", "%e = arith.constant 5.0 : f32\n    %power = math.powf %a, %e"
    )
    findings, vmfb = compiled(tmp_path, text)
    assert [finding.code for finding in findings] == ["FIS147"]
    x = np.resize(np.float32([-2, -1, 0, 1, 2]), SIZE)
    [answer] = run(vmfb, [x, x])
    np.testing.assert_allclose(answer, x**5, rtol=1e-5)


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
def test_a_vulkan_device_computes_them_too(tmp_path):
    findings, vmfb = compiled(tmp_path, PAGE, flags_for(find_target("vulkan")))
    assert [(one.code, one.severity.value) for one in findings] == [("FIS147", "repaired")]
    base = np.resize(np.float32([-2, -2, 0, -0.5, 2, -3, 1, 0]), SIZE)
    exponent = np.resize(np.float32([3, 2, 0, -3, 5, 0.5, 7, 2]), SIZE)
    [answer] = run(vmfb, [base, exponent], "vulkan")
    np.testing.assert_allclose(answer, power(base, exponent), rtol=1e-4)


def test_a_target_with_a_library_function_has_no_finding(tmp_path):
    findings, _vmfb = compiled(tmp_path, PAGE, flags_for(find_target("gfx942")))
    assert list(findings) == []


CONSTANT = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %base = arith.constant dense<[FIRST, 2.5, 3.0, 4.0]> : tensor<4xf32>
  %exponent = arith.constant dense<[5.0, 0.5, 7.0, 5.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%base, %exponent : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = math.powf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<4xf32>
  %r = linalg.map { arith.addf } ins(%x, %t : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
  return %r : tensor<4xf32>
}
"""


@pytest.mark.parametrize("target", ["llvm-cpu", "gfx942"])
def test_a_constant_is_evaluated_with_the_sign(tmp_path, target):
    """IREE evaluates it by its VM, which has the same expansion, for every target; a base that is positive is none."""
    findings, vmfb = compiled(tmp_path, CONSTANT.replace("FIRST", "-2.0"), flags_for(find_target(target)))
    assert [(one.code, one.severity.value) for one in findings] == [("FIS147", "repaired")]
    if target == "llvm-cpu":
        [answer] = run(vmfb, [np.zeros(4, np.float32)])
        np.testing.assert_allclose(answer, [-32, 2.5**0.5, 3**7, 4**5], rtol=1e-5)
    findings, _vmfb = compiled(tmp_path, CONSTANT.replace("FIRST", "2.0"), flags_for(find_target(target)))
    assert list(findings) == []
