"""FIS196: the remainder of the lowest integer, which stock gives the wrong sign on lavapipe."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.runtimes import present

VULKAN = ("--iree-hal-target-device=vulkan",)
LAVAPIPE = pytest.mark.skipif("vulkan" not in {r.name for r in present()}, reason="no Vulkan device")
LOWEST, LARGEST = -(2**31), 2**31 - 1
NUMBERS = np.int32([LOWEST, LOWEST + 1, -7, -1, 1, 3, 4, 5, 1 << 30, LARGEST])
PAIRS = [(a, b) for a in (*NUMBERS, np.int32(0)) for b in NUMBERS if (a, b) != (LOWEST, -1)]
PAIRS += PAIRS[: -len(PAIRS) % 64]  # SPIR-V computes such a size with vectors
X, Y = (np.int32(side) for side in zip(*PAIRS, strict=True))


def program(*body: str) -> str:
    lines = "\n    ".join(body)
    return f"""\
func.func @main(%x: tensor<{len(X)}xi32>, %y: tensor<{len(X)}xi32>) -> tensor<{len(X)}xi32> {{
  %empty = tensor.empty() : tensor<{len(X)}xi32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x, %y : tensor<{len(X)}xi32>, tensor<{len(X)}xi32>) outs(%empty : tensor<{len(X)}xi32>) {{
  ^bb0(%a: i32, %b: i32, %_: i32):
    {lines}
    linalg.yield %c : i32
  }} -> tensor<{len(X)}xi32>
  return %r : tensor<{len(X)}xi32>
}}
"""


ANY = program("%c = arith.remsi %a, %b : i32")
BY_THREE = program("%three = arith.constant 3 : i32", "%c = arith.remsi %a, %three : i32")
BY_FOUR = program("%four = arith.constant -4 : i32", "%c = arith.remsi %a, %four : i32")
SHIFTED = program(
    "%one = arith.constant 1 : i32",
    "%half = arith.shrsi %a, %one : i32",
    "%c = arith.remsi %half, %b : i32",
)
BY_MASK = program(
    "%mask = arith.constant 255 : i32", "%low = arith.andi %a, %mask : i32", "%c = arith.remsi %low, %b : i32"
)


def fmod(a: np.ndarray, b) -> np.ndarray:
    return np.fmod(a.astype(np.int64), b).astype(np.int32)


@LAVAPIPE
@pytest.mark.parametrize(("text", "wanted"), [(ANY, fmod(X, Y)), (BY_THREE, fmod(X, 3))])
def test_it_is_repaired_and_right(tmp_path, text, wanted):
    source, output, stock = (tmp_path / name for name in ("in.mlir", "out.vmfb", "stock.vmfb"))
    source.write_text(text)
    [finding] = fissile.compile(source, output, list(VULKAN)).findings
    assert (finding.code, finding.severity.value) == ("FIS196", "repaired")
    assert "fissile-sign-remainders{ops=0}" in str(finding.helps)
    np.testing.assert_array_equal(run(output, [X, Y], "vulkan")[0], wanted)
    # Where this fails IREE has changed, and FIS196 is not needed any more.
    assert compile_stock(source, stock, VULKAN) is None
    wrong = run(stock, [X, Y], "vulkan")[0] != wanted
    assert wrong.any() and (X[wrong] == LOWEST).all()


@LAVAPIPE
@pytest.mark.parametrize(
    ("text", "wanted"), [(BY_FOUR, fmod(X, -4)), (SHIFTED, fmod(X >> 1, Y)), (BY_MASK, fmod(X & 255, Y))]
)
def test_what_is_right_stays(tmp_path, text, wanted):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    assert not fissile.compile(source, output, list(VULKAN)).findings
    np.testing.assert_array_equal(run(output, [X, Y], "vulkan")[0], wanted)


def test_llvm_is_right(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(ANY)
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    assert not fissile.compile(source, output, [*flags, "--iree-llvmcpu-target-cpu=generic"]).findings
    np.testing.assert_array_equal(run(output, [X, Y])[0], fmod(X, Y))
