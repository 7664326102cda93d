"""A matmul that accumulates in bf16 has no vectors on Vulkan targets with 16-bit storage: its bf16 is read and written by its bits."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import fissile
from fissile.pipelines.numerics import runtimes

MATMUL = """
func.func @main(%a: tensor<16x32xbf16>, %b: tensor<32x16xbf16>, %c: tensor<16x16xbf16>) -> tensor<16x16xbf16> {
  %r = linalg.matmul ins(%a, %b : tensor<16x32xbf16>, tensor<32x16xbf16>) outs(%c : tensor<16x16xbf16>) -> tensor<16x16xbf16>
  return %r : tensor<16x16xbf16>
}
"""
AMPERE = ["--iree-hal-target-device=vulkan", "--iree-vulkan-target=ampere"]


def test_it_is_repaired_and_right(tmp_path):
    source, module = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(MATMUL)
    report = fissile.compile(source, module, AMPERE, check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [
        ("FIS104", "repaired")
    ] and module.exists()
    if "vulkan" not in {r.name for r in runtimes.present()}:
        pytest.skip("no Vulkan device answers here; it was compiled")
    rng = np.random.default_rng(0)
    # Small integers: every product and every partial sum is exact in bf16.
    values = [rng.integers(-2, 3, shape).astype(np.float32) for shape in ((16, 32), (32, 16), (16, 16))]
    names = []
    for number, array in enumerate(values):
        (tmp_path / f"{number}.bin").write_bytes(array.astype(ml_dtypes.bfloat16).tobytes())
        names.append(f"--input={'x'.join(map(str, array.shape))}xbf16=@{tmp_path}/{number}.bin")
    subprocess.run(
        [
            Path(sys.executable).parent / "iree-run-module",
            "--device=vulkan",
            f"--module={module}",
            *names,
            f"--output=@{tmp_path}/y.bin",
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    result = (
        np.frombuffer((tmp_path / "y.bin").read_bytes(), ml_dtypes.bfloat16)
        .reshape(16, 16)
        .astype(np.float32)
    )
    np.testing.assert_array_equal(result, values[0] @ values[1] + values[2])
