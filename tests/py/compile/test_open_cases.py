"""Two failures of one module whose repairs touch each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_source

SOURCE = Path(__file__).parent / "upsampled.mlir"
"""torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"), as torch.export writes it: 8x32x32 to 64x64."""
SIZE = 32


def upsampled(x: np.ndarray) -> np.ndarray:
    at = np.maximum((np.arange(2 * SIZE) + 0.5) / 2 - 0.5, 0)
    low = at.astype(int)
    high, part = np.minimum(low + 1, SIZE - 1), at - low
    rows = x[..., low, :] * (1 - part)[:, None] + x[..., high, :] * part[:, None]
    return rows[..., low] * (1 - part) + rows[..., high] * part


@pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)
def test_what_a_boundary_cut_off_is_repaired_where_another_repair_makes_it_fail(tmp_path):
    """The index of each row is cut off (a race), and computed by the same dispatch as that of an initialiser. That one has no code until it
    reads by element; the index is then a dispatch of its own, and fails in the same way."""
    output = tmp_path / "out.vmfb"
    report = fissile.compile(SOURCE, output, ["--iree-hal-target-device=vulkan"], check=False)
    assert {(f.code, f.severity.value) for f in report.findings} == {
        ("FIS104", "repaired"),
        ("FIS111", "repaired"),
    }
    [runtime] = runtimes.named(["vulkan"])
    x = np.random.default_rng(5).normal(size=(1, 8, SIZE, SIZE)).astype(np.float32)
    [found] = runtimes.run(output, signatures_of_source(SOURCE)["main"], [x], runtime)
    np.testing.assert_allclose(found, upsampled(x.astype(np.float64)), rtol=1e-5, atol=1e-5)
