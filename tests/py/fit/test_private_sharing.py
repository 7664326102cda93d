"""FIS186: private memory that is read where other threads have written, on the targets whose code does so, and a twin that does not."""

from __future__ import annotations

import pytest
from reported_codes import codes

from fissile.passes.failures.threads.private_sharing import PrivateSharing

POOL = """\
func.func @main(%x: !torch.vtensor<[3,3,12,14],f32>) -> !torch.vtensor<[3,3,3,3],f32> {
  %three = torch.constant.int 3
  %size = torch.prim.ListConstruct %three, %three : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.aten.adaptive_avg_pool2d %x, %size : !torch.vtensor<[3,3,12,14],f32>, !torch.list<int> -> !torch.vtensor<[3,3,3,3],f32>
  return %r : !torch.vtensor<[3,3,3,3],f32>
}
"""
# Each thread reads the row that it has written: two sums of a row, and their quotient.
ROWS = """\
func.func @main(%x: tensor<64x16xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %both:2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x16xf32>) outs(%start, %start : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%a: f32, %p: f32, %q: f32):
    %s = arith.addf %p, %a : f32
    %t = arith.mulf %a, %a : f32
    %u = arith.addf %q, %t : f32
    linalg.yield %s, %u : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  %r = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%both#0, %both#1 : tensor<64xf32>, tensor<64xf32>) outs(%rows : tensor<64xf32>) {
  ^bb0(%s: f32, %u: f32, %o: f32):
    %q = arith.divf %s, %u : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "target"), [(PrivateSharing.fails, "gfx942"), (POOL, "sm_80"), (POOL, "gfx1100")]
)
def test_a_boundary_stores_the_results_before_others_read_them(tmp_path, text, target):
    assert codes(tmp_path, text, target) == ["FIS186"]


@pytest.mark.parametrize(("text", "target"), [(PrivateSharing.fails, "vulkan"), (ROWS, "sm_80")])
def test_workgroup_memory_and_rows_of_one_thread_are_not_concerned(tmp_path, text, target):
    assert "FIS186" not in codes(tmp_path, text, target)
