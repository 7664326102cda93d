"""FIS217: constant kernels of depthwise convolutions, narrower than the result: NumPy's numbers after the repair, and twins stay silent."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
KERNEL = np.array([[[[1, -2]]], [[[3, 4]]], [[[-5, 6]]]])
DTYPE = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f16": np.float16, "f32": np.float32}


def program(given: str, result: str, kernel: str = "") -> str:
    """``kernel``: what computes %kernel of %bytes, the constant; empty: it is the constant."""
    values = KERNEL.tolist() if given.startswith("i") else KERNEL.astype(float).tolist()
    constant = f"stablehlo.constant dense<{values}> : tensor<3x1x1x2x{given}>"
    made = f"%bytes = {constant}\n  %kernel = {kernel}" if kernel else f"%kernel = {constant}"
    return f"""
func.func @main(%x: tensor<1x5x5x2x{given}>) -> tensor<1x3x5x2x{result}> {{
  {made}
  %r = stablehlo.convolution(%x, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}}
      {{batch_group_count = 1 : i64, feature_group_count = 2 : i64}}
      : (tensor<1x5x5x2x{given}>, tensor<3x1x1x2x{given}>) -> tensor<1x3x5x2x{result}>
  return %r : tensor<1x3x5x2x{result}>
}}"""


def image(given: str) -> np.ndarray:
    return np.random.default_rng(5).integers(-9, 10, (1, 5, 5, 2)).astype(DTYPE[given])


def expected(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.int64)
    return sum(x[:, row : row + 3] * KERNEL[row, 0, 0] for row in range(3))


def codes(report) -> list[str]:
    return [f"{one.code} {one.severity.value}" for one in report.findings]


SAME = "stablehlo.reshape %bytes : (tensor<3x1x1x2xi8>) -> tensor<3x1x1x2xi8>"


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(
    ("given", "result", "kernel"),
    [("i8", "i32", ""), ("i16", "i32", ""), ("f16", "f32", ""), ("i8", "i32", SAME)],
    ids=("i8", "i16", "f16", "reshaped"),
)
def test_numbers_after_the_repair(tmp_path, runtime, given, result, kernel):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(given, result, kernel))
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert "FIS217 repaired" in codes(report) and not report.errors
    x = image(given)
    [answer] = run(output, [x], runtime)
    np.testing.assert_array_equal(answer, expected(x).astype(DTYPE[result]))


def test_stock_reads_other_bytes(tmp_path):
    """Where this fails IREE has changed, and FIS217 is not needed any more."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program("i8", "i32"))
    assert compile_stock(source, output, CPU) is None
    [answer] = run(output, [image("i8")])
    assert (answer != expected(image("i8"))).any()


def test_a_kernel_that_is_no_constant_is_rejected_by_stock(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(program("i8", "i32", "stablehlo.optimization_barrier %bytes : tensor<3x1x1x2xi8>"))
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is not None
    assert codes(fissile.compile(source, tmp_path / "out.vmfb", list(CPU))) == ["FIS421 repaired"]


def test_a_kernel_of_the_results_elements_stays_as_it_is(tmp_path):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(program("i32", "i32"))
    assert not fissile.compile(source, ours, list(CPU)).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()
