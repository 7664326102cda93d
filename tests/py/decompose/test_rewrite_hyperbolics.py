"""FIS193: hyperbolic functions of which stock loses digits are NumPy's after the repair, and twins stay silent."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
SIZES = np.float32(
    [0, 1e-30, 1e-10, 1e-6, 1e-4, 1e-2, 0.3, 0.5, 0.9, 0.999, 1, 1.0001, 1.5, 2, 5, 10, 50, 79, 81, 88, 89, 100, 4097, 1e4, 1e8, 2e9, 1e19, 1e30]
    + [np.inf, np.nan]
)  # fmt: skip
X = np.concatenate([SIZES, -SIZES])
EXACT = {
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}
RTOL = {"f32": 1e-5, "f16": 1e-3}
ATOL = {"f32": 1e-37, "f16": 6.2e-5}
"""The smallest normal number: devices may take those below for 0."""
DTYPE = {"f32": np.float32, "f16": np.float16}


def program(name: str, element: str = "f32") -> str:
    tensor = f"tensor<{len(X)}x{element}>"
    return f"""
func.func @main(%x: {tensor}) -> {tensor} {{
  %r = math.{name} %x : {tensor}
  return %r : {tensor}
}}"""


def exact(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return EXACT[name](x.astype(np.float64)).astype(x.dtype)


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("element", DTYPE)
@pytest.mark.parametrize("name", EXACT)
def test_small_and_large_numbers_after_the_repair(tmp_path, runtime, element, name):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(name, element))
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    assert ("FIS193", "repaired") in [(f.code, f.severity.value) for f in report.findings]
    with np.errstate(over="ignore"):
        x = X.astype(DTYPE[element])
    [answer] = run(output, [x], runtime)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(
            answer.astype(np.float64),
            exact(name, x).astype(np.float64),
            rtol=RTOL[element],
            atol=ATOL[element],
        )


@pytest.mark.parametrize("name", EXACT)
def test_stock_loses_digits(tmp_path, name):
    """Where this fails IREE has changed, and FIS193 is not needed any more for that function."""
    source = tmp_path / "in.mlir"
    source.write_text(program(name))
    assert compile_stock(source, tmp_path / "stock.vmfb", CPU) is None
    [answer] = run(tmp_path / "stock.vmfb", [X])
    assert not np.allclose(answer, exact(name, X), rtol=1e-3, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("name", "flags"),
    [("tanh", CPU), ("asinh", ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"))],
    ids=("accurate", "a library function"),
)
def test_silent_twins(tmp_path, name, flags):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(program(name))
    assert not fissile.compile(source, ours, list(flags)).findings
    assert compile_stock(source, stock, flags) is None and ours.read_bytes() == stock.read_bytes()
