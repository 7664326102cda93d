"""FIS158: 64-bit shifts by 0 on targets without 64-bit integers, which stock gets wrong on lavapipe."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.runtimes import present

VULKAN = ("--iree-hal-target-device=vulkan",)
LAVAPIPE = pytest.mark.skipif("vulkan" not in {r.name for r in present()}, reason="no Vulkan device")
SIZE = 641
SHIFTS = {
    "shift_right_logical": lambda x, n: (x.view(np.uint64) >> n.astype(np.uint64)).view(np.int64),
    "shift_left": lambda x, n: x << n,
}
X = np.random.default_rng(3).integers(-(2**63), 2**63 - 1, SIZE)
N = np.arange(SIZE, dtype=np.int64) % 64


def program(name: str, amount: str = "%n", element: str = "i64") -> str:
    return f"""
func.func @main(%x: tensor<{SIZE}x{element}>, %n: tensor<{SIZE}x{element}>) -> tensor<{SIZE}x{element}> {{
  %c = stablehlo.constant dense<3> : tensor<{SIZE}x{element}>
  %r = stablehlo.{name} %x, {amount} : tensor<{SIZE}x{element}>
  return %r : tensor<{SIZE}x{element}>
}}"""


@LAVAPIPE
@pytest.mark.parametrize("name", SHIFTS)
def test_every_amount_after_the_repair(tmp_path, name):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(name))
    report = fissile.compile(source, output, list(VULKAN))
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS158", "repaired")]
    np.testing.assert_array_equal(run(output, [X, N], "vulkan")[0], SHIFTS[name](X, N))


@LAVAPIPE
@pytest.mark.parametrize("name", SHIFTS)
def test_stock_is_wrong_by_0(tmp_path, name):
    """Where this fails IREE has changed, and FIS158 is not needed any more."""
    (tmp_path / "in.mlir").write_text(program(name))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", VULKAN) is None
    [answer] = run(tmp_path / "stock.vmfb", [X, N], "vulkan")
    assert set(N[answer != SHIFTS[name](X, N)]) == {0}


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (program("shift_left", "%c"), VULKAN),
        (program("shift_right_arithmetic"), VULKAN),
        (program("shift_left", element="i32"), VULKAN),
        (program("shift_left"), (*VULKAN, "--iree-vulkan-target=rdna3")),
    ],
    ids=("by a constant", "with a sign", "of 32 bits", "a target with 64 bits"),
)
def test_silent_twins(tmp_path, text, flags):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(text)
    assert not fissile.compile(source, ours, list(flags)).findings
    assert compile_stock(source, stock, flags) is None and ours.read_bytes() == stock.read_bytes()
