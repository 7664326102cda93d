"""Whole dispatches: the code that IREE generates for each kind of GPU, run in NumPy, computes what the dispatch says; and what it finds."""

from __future__ import annotations

import pytest
from small_programs import TARGETS

from fissile.cli import opt
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.failures.narrow.unsigned_products import UnsignedProducts
from fissile.passes.failures.threads.lost_partials import LostPartials
from fissile.passes.failures.threads.private_sharing import PrivateSharing
from fissile.passes.failures.threads.unwritten_reads import UnwrittenReads
from fissile.pipelines.session import Session
from fissile.pipelines.simulation.simulation import simulate

FLAGS = TARGETS | {
    "gfx1100": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx1100"],
    "gfx1201": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx1201"],
    "sm_80": ["--iree-hal-target-device=cuda", "--iree-cuda-target=sm_80"],
}
GPUS = ("gfx942", "gfx1100", "gfx1201", "sm_80", "vulkan")
DEQUANTISED = """\
func.func @f(%a: tensor<128x256xf16>, %b: tensor<256x64xi8>, %s: tensor<64xf16>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<256x64xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%b, %s : tensor<256x64xi8>, tensor<64xf16>) outs(%wide : tensor<256x64xf16>) {
  ^bb0(%x: i8, %y: f16, %o: f16):
    %z = arith.sitofp %x : i8 to f16
    %w = arith.mulf %z, %y : f16
    linalg.yield %w : f16
  } -> tensor<256x64xf16>
  %empty = tensor.empty() : tensor<128x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
  %r = linalg.matmul ins(%a, %d : tensor<128x256xf16>, tensor<256x64xf16>) outs(%start : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
"""
SOFTMAX = """\
func.func @f(%x: tensor<33x1000xf32>) -> tensor<33x1000xf32> {
  %empty = tensor.empty() : tensor<33x1000xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<33x1000xf32>) outs(%empty : tensor<33x1000xf32>) -> tensor<33x1000xf32>
  return %r : tensor<33x1000xf32>
}
"""
DYNAMIC = """\
func.func @f(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %start: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x64xf32>, tensor<64x?xf32>) outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
CONVOLUTION = """\
func.func @f(%x: tensor<1x18x18x3xi8>, %w: tensor<3x3x3x16xi8>) -> tensor<1x16x16x16xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<1x16x16x16xi32>
  %start = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x16x16x16xi32>) -> tensor<1x16x16x16xi32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x18x18x3xi8>, tensor<3x3x3x16xi8>) outs(%start : tensor<1x16x16x16xi32>) -> tensor<1x16x16x16xi32>
  return %r : tensor<1x16x16x16xi32>
}
"""


def simulated(text, target):
    session = Session(FLAGS[target])
    module = session.run(session.parse_text(text, "in.mlir"), "executable-configurations")
    return [simulate(dispatch) for dispatch in dispatches(module.op)]


@pytest.mark.parametrize("target", GPUS)
@pytest.mark.parametrize("text", [DEQUANTISED, SOFTMAX, DYNAMIC, CONVOLUTION])
def test_right_code_is_found_right(text, target):
    found = simulated(text, target)
    assert {(one.verdict, one.faults) for one in found} == {("right", ())}, found


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (PrivateSharing.fails, "sm_80", "992 of them NaN"),  # as many were wrong on an H100
        (LostPartials.fails, "sm_80", "values (100.0%) differ"),
        (UnsignedProducts.fails, "gfx942", "differ by at most"),
        (UnsignedProducts.fails, "gfx1100", "differ by at most"),
    ],
)
def test_wrong_code_is_found_wrong(text, target, said):
    (found,) = simulated(text, target)
    assert found.verdict == "wrong" and said in found.detail


@pytest.mark.parametrize("failure", [PrivateSharing, LostPartials, UnsignedProducts, UnwrittenReads])
def test_the_repaired_program_is_right(tmp_path, failure):
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    before.write_text(failure.fails)
    passes = f"--pass-pipeline=builtin.module({failure.repaired_by},fissile-lower-boundaries)"
    assert opt.main([str(before), passes, "-o", str(after)]) == 0
    assert {one.verdict for one in simulated(before.read_text(), failure.target)} == {"wrong"}
    assert {(one.verdict, one.faults) for one in simulated(after.read_text(), failure.target)} == {
        ("right", ())
    }


def test_a_race_in_workgroup_memory_is_a_fault():
    from fissile.passes.failures.threads.workgroup_race import WorkgroupRace

    found = simulated(WorkgroupRace.fails, "vulkan")
    assert any("since the last barrier" in fault for one in found for fault in one.faults), found


def test_an_op_that_is_not_known_is_no_answer():
    (found, *_rest) = simulated(SORT, "gfx942")
    assert found.verdict == "unknown" and "op iree_linalg_ext." in found.detail


SORT = """\
func.func @f(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %r = iree_linalg_ext.sort dimension(1) outs(%x : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %less : i1
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}
"""
