"""FFT rows whose last stage is larger than a stack or workgroup memory, of which the program reads one part only."""

from __future__ import annotations

import built
import numpy as np
import pytest

import fissile
from fissile.finding import Severity

POINTS = 16384
TEXT = f"""func.func @main(%r: tensor<{POINTS}xf32>, %i: tensor<{POINTS}xf32>) -> tensor<{POINTS}xf32> {{
  %x = stablehlo.complex %r, %i : tensor<{POINTS}xcomplex<f32>>
  %c = stablehlo.fft %x, type = FFT, length = [{POINTS}] : (tensor<{POINTS}xcomplex<f32>>) -> tensor<{POINTS}xcomplex<f32>>
  %p = stablehlo.imag %c : (tensor<{POINTS}xcomplex<f32>>) -> tensor<{POINTS}xf32>
  return %p : tensor<{POINTS}xf32>
}}
"""
KEPT = "fissile-use-results"


def passes_of(finding) -> str:
    return " ".join(text for row in finding.helps for name, text in row.facts if name == "pass")


def test_a_long_row_that_stock_refuses_on_the_stack_is_right(tmp_path):
    source, output = tmp_path / "fft.mlir", tmp_path / "fft.vmfb"
    source.write_text(TEXT)
    found = fissile.compile(source, output, built.CPU).findings
    [repaired] = [f for f in found if f.code == "FIS102"]
    assert repaired.severity is Severity.REPAIRED and KEPT in passes_of(repaired)
    draw = np.random.default_rng(0)
    real, imaginary = (draw.standard_normal(POINTS).astype(np.float32) for _ in range(2))
    [answer] = built.run(output, [real, imaginary])
    expected = np.fft.fft(real.astype(np.float64) + 1j * imaginary).imag
    assert np.abs(answer - expected).max() < 1e-3 * np.abs(expected).max()


@pytest.mark.slow
def test_and_in_workgroup_memory(tmp_path):
    source = tmp_path / "fft.mlir"
    source.write_text(TEXT)
    found = fissile.compile(source, tmp_path / "fft.vmfb", ("--iree-hal-target-device=vulkan",)).findings
    assert not [f for f in found if f.severity is Severity.ERROR]
    [repaired] = [f for f in found if f.code == "FIS101"]
    assert KEPT in passes_of(repaired) and "fissile-set-lowering" in passes_of(repaired)
