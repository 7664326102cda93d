"""FIS104: quotients of 64 bits that IREE moves into dispatches, for Vulkan targets without 64-bit integers, are computed on the host."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

VULKAN = ("--iree-hal-target-device=vulkan",)
PROGRAM = """
func.func @main(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %n = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %l = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %i = arith.index_cast %n : index to i64
  %p = arith.addi %i, %c2 : i64
  %q = arith.DIVIDE %p, %c3 : i64
  %y = arith.muli %q, %c2 : i64
  %k = arith.minui %y, %i : i64
  %m = arith.index_cast %k : i64 to index
  %o = arith.subi %n, %m : index
  %z = arith.maxsi %o, %c0 : index
  %t = tensor.extract_slice %x[0, %m, 0] [%l, %z, 4] [1, 1, 1] : tensor<?x?x4xf32> to tensor<?x?x4xf32>
  return %t : tensor<?x?x4xf32>
}
"""


@pytest.mark.parametrize("divide", ["divui", "floordivsi", "ceildivsi"])
def test_the_last_part_of_a_dynamic_dimension(tmp_path, divide):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PROGRAM.replace("DIVIDE", divide))
    assert compile_stock(source, tmp_path / "stock.vmfb", VULKAN) is not None
    report = fissile.compile(source, output, [*VULKAN], check=False)
    [found] = [one for one in report.findings if one.code == "FIS104"]
    assert found.severity.value == "repaired" and not report.errors
    assert "no 64-bit arith." in found.message and found.helps[0].remedy == "fissile-hold-sizes"
    if any(runtime.name == "vulkan" for runtime in runtimes.present()):
        for size in (7, 12):
            x = np.arange(2 * size * 4, dtype=np.float32).reshape(2, size, 4)
            first = min(2 * ((size + 2) // 3 if divide != "ceildivsi" else -(-(size + 2) // 3)), size)
            [answer] = run(output, [x], "vulkan")
            np.testing.assert_array_equal(answer, x[:, first:])


@pytest.mark.parametrize(
    "flags, divide",
    [(CPU, "divui"), ((*VULKAN, "--iree-vulkan-target=rdna3"), "divui"), (VULKAN, "remui")],
    ids=["llvm-cpu", "with 64-bit integers", "not moved"],
)
def test_what_a_target_can_compute_stays_where_it_is(tmp_path, flags, divide):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(PROGRAM.replace("DIVIDE", divide))
    report = fissile.compile(source, ours, [*flags], check=False)
    assert "FIS104" not in [one.code for one in report.findings] and not report.errors
    assert compile_stock(source, stock, flags) is None


def test_check_says_what_compile_does(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(PROGRAM.replace("DIVIDE", "divui"))
    found = [one for one in fissile.check(source, ["vulkan"]).findings if one.code == "FIS104"]
    assert [one.severity.value for one in found] == ["error"]  # one cause, one finding
    assert "`fissile compile` applies it" in found[0].notes
