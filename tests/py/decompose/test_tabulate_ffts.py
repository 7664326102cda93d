"""FFT stages without tables: stock crashes over their factors or lets threads race; with tables they are NumPy's butterflies."""

import numpy as np
import pytest
from built import run

import fissile
from fissile.passes.remedies.decompose.tabulate_ffts import factors
from fissile.pipelines.numerics import runtimes

TARGETS = {
    "local-task": ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"],
    "vulkan": ["--iree-hal-target-device=vulkan"],
}


def stage_of(rows: int, size: int, stage: int) -> str:
    kind = f"tensor<{rows}x{size}xf32>"
    return f"""func.func @main(%x: {kind}, %y: {kind}) -> ({kind}, {kind}) {{
  %stage = arith.constant {stage} : index
  %r:2 = iree_linalg_ext.fft ins(%stage : index) outs(%x, %y : {kind}, {kind}) : {kind}, {kind}
  return %r#0, %r#1 : {kind}, {kind}
}}
"""


def butterflies(x, y, stage: int):
    block, (rows, size) = 1 << stage, x.shape
    z = (x + 1j * y.astype(np.float64)).reshape(rows, size // block, 2, block // 2)
    turned = np.exp(-2j * np.pi * np.arange(block // 2) / block) * z[:, :, 1]
    return np.stack([z[:, :, 0] + turned, z[:, :, 0] - turned], 2).reshape(rows, size)


@pytest.mark.parametrize("stage", [1, 2, 5])
def test_the_factors_are_roots_of_one(stage):
    real, imaginary = factors(stage)
    turns = np.exp(-2j * np.pi * np.arange(1 << stage - 1) / (1 << stage))
    np.testing.assert_allclose(np.array(real) + 1j * np.array(imaginary), turns, atol=1e-15)


@pytest.mark.parametrize(
    ("target", "rows", "size", "stage"),
    [("local-task", 4, 8, 2), ("vulkan", 4, 8, 2), ("vulkan", 1, 64, 3), ("vulkan", 2, 16, 1)],
)
def test_a_stage_is_right(tmp_path, target, rows, size, stage):
    if target not in {r.name for r in runtimes.present()}:
        pytest.skip(f"no device for {target} answers here")
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(stage_of(rows, size, stage))
    report = fissile.compile(source, output, TARGETS[target], check=False)
    [done] = report.findings
    assert (done.severity.value, done.code) in {("repaired", "FIS107"), ("repaired", "FIS111")}
    assert "table of factors" in str(done.helps)
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((rows, size)).astype(np.float32) for _ in range(2))
    real, imaginary = run(output, [x, y], target)
    np.testing.assert_allclose(real + 1j * imaginary, butterflies(x, y, stage), atol=1e-6)
