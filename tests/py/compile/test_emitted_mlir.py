"""--emit-mlir: stock IREE takes the repaired module."""

from __future__ import annotations

import sys
from pathlib import Path

from programs import run_program
from small_programs import TARGETS, quantised_conv

BIN = Path(sys.executable).parent


def run(program, *words):
    return run_program(
        [BIN / program, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )


def test_emitted_mlir_is_plain_iree(tmp_path):
    source, emitted = tmp_path / "in.mlir", tmp_path / "repaired.mlir"
    source.write_text(quantised_conv())
    done = run(
        "fissile", "compile", *TARGETS["gfx942"], source, "-o", tmp_path / "a.vmfb", f"--emit-mlir={emitted}"
    )
    assert done.returncode == 0 and "fissile." not in emitted.read_text()
    again = run(
        "iree-compile",
        *TARGETS["gfx942"],
        "--compile-from=global-optimization",
        emitted,
        "-o",
        tmp_path / "b.vmfb",
    )
    assert again.returncode == 0, again.stderr[-500:]


INDEXED = """
func.func @main(%x: tensor<7x1023xi8>) -> tensor<7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<7x1023xi8>) outs(%f : tensor<7xf32>) {
  ^bb0(%v: i8, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = index.mul %i, %j
    %n = arith.index_cast %k : index to i32
    %m = arith.sitofp %n : i32 to f32
    %w = arith.sitofp %v : i8 to f32
    %p = arith.mulf %m, %w : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}
"""


def test_emitted_mlir_has_no_dialect_that_stock_does_not_read(tmp_path):
    """iree-compile makes ops of the index dialect (of a TOSA FFT), and does not read them."""
    source, emitted = tmp_path / "in.mlir", tmp_path / "repaired.mlir"
    source.write_text(INDEXED)
    done = run(
        "fissile", "compile", *TARGETS["vulkan"], source, "-o", tmp_path / "a.vmfb", f"--emit-mlir={emitted}"
    )
    assert done.returncode == 0 and "FIS110" in done.stderr, done.stderr
    again = run(
        "iree-compile",
        *TARGETS["vulkan"],
        "--compile-from=global-optimization",
        emitted,
        "-o",
        tmp_path / "b.vmfb",
    )
    assert again.returncode == 0, again.stderr[-500:]
