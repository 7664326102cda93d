"""A dispatch that nothing repairs says what was tried and why it was not taken; a race says why threads share a value."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import fissile
from fissile.finding import Finding, Help, Severity
from fissile.passes.analysis.dispatch.fusion_groups import FusionGroup
from fissile.pipelines.repair.edits import CUT, Edit
from fissile.pipelines.repair.packing import _packed_finding
from fissile.pipelines.repair.repair_case import Case, Diagnosis
from fissile.pipelines.repair.reporting import MAX_REJECTED, RepairFindings

VULKAN = ("--iree-hal-target-device=vulkan",)
QUOTIENTS = """func.func @main(%x: tensor<3x66001xf32>) -> tensor<3xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x66001xf32>) outs(%f : tensor<3xf32>) {
  ^bb0(%i: f32, %o: f32): %d = arith.divf %o, %i : f32 linalg.yield %d : f32 } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
"""
FFT = """func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}
"""
DEPTHWISE = """func.func @main(%x: tensor<1x8x10x10xf32>, %w: tensor<8x3x3xf32>) -> tensor<1x8x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x8x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x8x10x10xf32>, tensor<8x3x3xf32>) outs(%start : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %r : tensor<1x8x8x8xf32>
}
"""


def findings(tmp_path, text: str) -> list[Finding]:
    source = tmp_path / "x.mlir"
    source.write_text(text)
    return list(fissile.compile(source, tmp_path / "x.vmfb", VULKAN, check=False).findings)


def tried(finding: Finding) -> list[str]:
    return [note for note in finding.notes if note.startswith("tried: ")]


def test_an_error_that_nothing_repairs_names_each_edit_and_what_it_left(tmp_path):
    [error] = [f for f in findings(tmp_path, QUOTIENTS) if f.severity is Severity.ERROR]
    [line] = tried(error)
    edit, _, why = line.partition("; not taken: ")
    assert "%r element by element" in edit and why.startswith(
        "FIS125 is left: one thread of the dispatch runs"
    )
    assert "\n" not in line


@pytest.mark.parametrize(
    ("text", "reason"),
    [(FFT, "a stage of an FFT updates pairs of a row in place"), (DEPTHWISE, "elements of a fill")],
)
def test_a_race_says_why_threads_share_and_a_repair_lists_no_trials(tmp_path, text, reason):
    races = [f for f in findings(tmp_path, text) if f.code == "FIS111"]
    assert races and all(f.severity is Severity.REPAIRED for f in races)
    assert all(any(reason in note for note in f.notes) for f in races)
    assert not any(tried(f) for f in races)


def case_of(*whys: str) -> Case:
    """A dispatch for which each op was cut off in vain, for the reasons ``whys``."""
    finding = Finding("FIS101", "too large")
    first = SimpleNamespace(finding=finding, failure=finding, dispatch=SimpleNamespace(tags=(0,), root=0))
    case = Case(first, [(0,)], iter(()))
    case.rejected = {(Edit(CUT, op),): why for op, why in enumerate(whys)}
    case.tried = list(case.rejected)
    return case


def reports_of(case: Case) -> RepairFindings:
    ops = [SimpleNamespace(name=f"%{op}", op="linalg.generic") for op in range(len(case.tried))]
    return RepairFindings(ops, None)


def test_trials_that_ended_alike_are_one_line_and_there_are_not_many():
    case = case_of("too large", "too large", "races")
    lines = tried(reports_of(case).not_repaired(case))
    assert len(lines) == 2 and "(and 1 more like it); not taken: too large" in lines[0]
    case = case_of(*(f"reason {n}" for n in range(MAX_REJECTED + 3)))
    notes = reports_of(case).not_repaired(case).notes
    assert (
        len(tried(reports_of(case).not_repaired(case))) == MAX_REJECTED
        and "3 other trials ended otherwise" in notes
    )
    case = case_of(*(f"reason {n}" for n in range(MAX_REJECTED + 1)))
    assert "1 other trial ended otherwise" in reports_of(case).not_repaired(case).notes


def test_what_the_edit_leaves_is_why_it_is_not_taken():
    case, edit = case_of(), (Edit(CUT, 0),)
    left = SimpleNamespace(
        finding=Finding("FIS106", "never ends"), dispatch=SimpleNamespace(tags=(0,), root=0)
    )
    case.reject(edit, Diagnosis((left,)))
    assert case.rejected == {edit: "FIS106 is left: never ends"}
    case.reject((Edit(CUT, 1),), Diagnosis())
    assert (Edit(CUT, 1),) not in case.rejected


def test_a_dispatch_that_iree_merges_with_a_failing_one_still_fails():
    """What is left of the two has the tags of the other."""
    case = case_of()
    failing = SimpleNamespace(
        finding=Finding("FIS104", "no code"), dispatch=SimpleNamespace(tags=(5, 6), root=5)
    )
    assert case.still_fails(
        Diagnosis((failing,), (FusionGroup((0, 1), "a body"), FusionGroup((5, 6), "a body")))
    )
    assert not case.still_fails(
        Diagnosis((failing,), (FusionGroup((0, 1), "a body"), FusionGroup((5, 6), "another")))
    )


def test_narrow_types_behind_another_failure_quote_stock():
    narrow = SimpleNamespace(
        ops=(0,),
        types=("f8E4M3FN",),
        in_place=False,
        help=lambda text: Help(text, "fissile-pack-narrow-storage", True),
    )
    first = Finding("FIS101", "the dispatch needs 70000 bytes", stock="uses 70000 bytes of shared memory")
    reported = _packed_finding(first, narrow)
    assert reported.code == "FIS104" and reported.stock_line().endswith("uses 70000 bytes of shared memory")
