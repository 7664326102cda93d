"""FIS227: cube roots, arcs and log1p are NumPy's at their edges after the repair, and twins stay silent."""

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
    [0, 1e-30, 3e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.2999, 0.3, 0.5, 0.9, 0.999, 1, 1.0001, 1.5, 2.1, 10, 1e4, 1e19, 1e30, np.inf, np.nan]
)  # fmt: skip
X = np.concatenate([SIZES, -SIZES])
EXACT = {"cbrt": np.cbrt, "acos": np.arccos, "asin": np.arcsin, "log1p": np.log1p}
RTOL = {"f32": 3e-6, "f16": 1e-3}
ATOL = {"f32": 1e-37, "f16": 6.2e-5}
"""The smallest normal number: devices may take those below for 0."""
DTYPE = {"f32": np.float32, "f16": np.float16}
WRONG = {"local-task": ("cbrt",), "vulkan": tuple(EXACT)}


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
def test_edges_after_the_repair(tmp_path, runtime, element, name):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(name, element))
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    repaired = [f.code for f in report.findings if f.severity.value == "repaired" and f.code != "FIS110"]
    assert repaired == (["FIS227"] if name in WRONG[runtime] else [])
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


@pytest.mark.parametrize("runtime, name", [(one, name) for one in PRESENT for name in WRONG[one]])
def test_stock_is_wrong_there(tmp_path, runtime, name):
    """Where this fails IREE has changed, and FIS227 is not needed any more for that function."""
    source = tmp_path / "in.mlir"
    source.write_text(program(name))
    assert compile_stock(source, tmp_path / "stock.vmfb", FLAGS[runtime]) is None
    [answer] = run(tmp_path / "stock.vmfb", [X], runtime)
    right = np.allclose(answer, exact(name, X), rtol=1e-3, atol=0, equal_nan=True)
    if name != "asin":  # GLSL's asin is not defined outside of its range; lavapipe's is NaN there
        assert not right


@pytest.mark.parametrize(
    ("name", "flags"),
    [("exp", CPU), ("cbrt", ("--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"))],
    ids=("no edge", "a library function"),
)
def test_other_functions_and_targets_are_left_alone(tmp_path, name, flags):
    source = tmp_path / "in.mlir"
    source.write_text(program(name))
    assert fissile.compile(source, tmp_path / "out.vmfb", list(flags)).findings == ()


def test_a_cube_root_that_iree_evaluates_is_repaired(tmp_path):
    """Of a table, which it computes when it compiles."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text("""
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = util.unfoldable_constant dense<[0.0, 8.0]> : tensor<2xf32>
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %inverse = arith.divf %one, %c : tensor<2xf32>
  %root = math.cbrt %inverse : tensor<2xf32>
  %r = arith.addf %x, %root : tensor<2xf32>
  return %r : tensor<2xf32>
}""")
    report = fissile.compile(source, output, list(CPU))
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS227", "repaired")]
    np.testing.assert_allclose(run(output, [np.float32([1, 1])])[0], [np.inf, 1.5], rtol=1e-6)
