"""FIS159: atan2 of two zeros or infinities, which stock makes NaN, is NumPy's after the repair, and twins stay silent."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
NUMBERS = np.float32([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-3, -50.0, 1e10, np.inf, -np.inf, np.nan])
Y, X = (part.ravel().copy() for part in np.meshgrid(NUMBERS, NUMBERS))
SIZE = len(X)
RTOL = {"f32": 1e-6, "f16": 1e-3}
DTYPE = {"f32": np.float32, "f16": np.float16}


def program(element: str, op: str = "math.atan2 %a, %b") -> str:
    return f"""
func.func @main(%y: tensor<{SIZE}x{element}>, %x: tensor<{SIZE}x{element}>) -> tensor<{SIZE}x{element}> {{
  %empty = tensor.empty() : tensor<{SIZE}x{element}>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%y, %x : tensor<{SIZE}x{element}>, tensor<{SIZE}x{element}>) outs(%empty : tensor<{SIZE}x{element}>) {{
  ^bb0(%a: {element}, %b: {element}, %_: {element}):
    %angle = {op} : {element}
    linalg.yield %angle : {element}
  }} -> tensor<{SIZE}x{element}>
  return %r : tensor<{SIZE}x{element}>
}}"""


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("element", DTYPE)
def test_every_pair_of_special_numbers_after_the_repair(tmp_path, runtime, element):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(element))
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert ("FIS159", "repaired") in [(f.code, f.severity.value) for f in report.findings]
    with np.errstate(over="ignore"):
        y, x = (one.astype(DTYPE[element]) for one in (Y, X))
    [answer] = run(output, [y, x], runtime)
    expected = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(answer.astype(np.float64), expected, rtol=RTOL[element], atol=1e-7)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(answer[numbers]), np.signbit(expected[numbers]))


def test_stock_is_wrong_and_keeps_every_bit_of_other_points(tmp_path):
    """Where this fails IREE has changed, and FIS159 is not needed any more."""
    source = tmp_path / "in.mlir"
    source.write_text(program("f32"))
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is None
    fissile.compile(source, tmp_path / "ours.vmfb", list(CPU))
    stock, ours = (run(tmp_path / f"{name}.vmfb", [Y, X])[0] for name in ("stock", "ours"))
    assert np.isnan(stock[(Y == 0) & (X == 0)]).all()
    other = (Y != 0) & (X != 0) & np.isfinite(Y) & np.isfinite(X)
    np.testing.assert_array_equal(stock[other], ours[other])


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (program("f32", "math.atan %a"), CPU),
        (program("f32"), ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942")),
    ],
    ids=("of one number", "a library function"),
)
def test_silent_twins(tmp_path, text, flags):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(text)
    assert not fissile.compile(source, ours, list(flags)).findings
    assert compile_stock(source, stock, flags) is None and ours.read_bytes() == stock.read_bytes()
