"""A call with an index of 64 bits whose lower 32 are inside is refused on every runtime: dispatches for Vulkan have 32-bit indices."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
X, F = np.ones(4, np.float32), np.arange(16, dtype=np.float32)
BODY = """
func.func @main(%x: tensor<4xf32>, %f: tensor<16xf32>, %n: tensor<4xi64>, %m: i64) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %o = arith.index_cast %m : i64 to index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
      iterator_types = ["parallel"]} ins(%x, %n : tensor<4xf32>, tensor<4xi64>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: i64, %out: f32):
    %i = linalg.index 0 : index
    COMPUTED
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
READ = "%q = tensor.extract %f[%at] : tensor<16xf32>\n%y = arith.addf %a, %q : f32"
SUM = f"%at = arith.addi %i, %o : index\n{READ}"
LOADED = f"%l = arith.index_cast %b : i64 to index\n%s = arith.addi %l, %i : index\n%at = arith.addi %s, %o : index\n{READ}"
LOOP = """
    %y = scf.for %k = %c0 to %c2 step %c1 iter_args(%sum = %a) -> f32 {
      %j = arith.addi %i, %o : index
      %p = arith.cmpi slt, %k, %c1 : index
      %t = scf.if %p -> index {
        scf.yield %j : index
      } else {
        %u = arith.addi %j, %k : index
        scf.yield %u : index
      }
      %q = tensor.extract %f[%t] : tensor<16xf32>
      %z = arith.addf %sum, %q : f32
      scf.yield %z : f32
    }"""


CARRIED = """
    %start = arith.addi %i, %o : index
    %end, %y = scf.for %k = %c0 to %c2 step %c1 iter_args(%t = %start, %sum = %a) -> (index, f32) {
      %q = tensor.extract %f[%t] : tensor<16xf32>
      %z = arith.addf %sum, %q : f32
      %u = arith.addi %t, %c1 : index
      scf.yield %u, %z : index, f32
    }"""


def sum_of(loaded, offset):
    return X + F[np.arange(4) + offset]


def with_loaded(loaded, offset):
    return X + F[np.arange(4) + loaded + offset]


def of_loop(loaded, offset):
    return X + F[np.arange(4) + offset] + F[np.arange(4) + offset + 1]


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(
    ("computed", "expected", "wrong"),
    [
        pytest.param(SUM, sum_of, [(0, 2**32 + 1), (0, -(2**32)), (0, 13)], id="sum"),
        pytest.param(LOADED, with_loaded, [(2**32, 1), (2**32 - 1, 1), (1, 2**32), (13, 1)], id="loaded"),
        pytest.param(LOOP, of_loop, [(0, 2**32 + 1), (0, -(2**32)), (0, 12)], id="loop"),
        pytest.param(CARRIED, of_loop, [(0, 2**32 + 1), (0, -(2**32)), (0, 12)], id="carried"),
    ],
)
def test_a_check_computes_indices_in_64_bits(tmp_path, runtime, computed, expected, wrong):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(BODY.replace("COMPUTED", computed))
    fissile.compile(source, output, FLAGS[runtime])
    signature = signatures_of_vmfb(output)["main"]
    [device] = runtimes.named([runtime])

    def call(loaded: int, offset: int):
        given = [X, F, np.array([loaded, 0, loaded, 0], np.int64), np.array(offset, np.int64)]
        return runtimes.run(output, signature, given, device)

    for loaded, offset in ((0, 0), (3, 8), (-2, 2), (0, 11)):
        if computed is not LOADED and loaded:
            continue
        answer = call(loaded, offset)
        assert isinstance(answer, list), answer
        np.testing.assert_array_equal(answer[0], expected(np.array([loaded, 0, loaded, 0]), offset))
    for loaded, offset in wrong:
        assert "FAILED_PRECONDITION" in str(call(loaded, offset)), (loaded, offset)
