"""Indices that the program computes itself: in bounds without a check, or not, from the ops that make them."""

from __future__ import annotations

import pytest
from storage_judged import judge, unproved

from fissile.pipelines.session import Session


@pytest.fixture(scope="module")
def session():
    with Session(
        ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    ) as opened:
        yield opened


IOTA = """%e8 = tensor.empty() : tensor<8xi64>
%iota = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e8 : tensor<8xi64>) {
^bb0(%o: i64):
  %k = linalg.index 0 : index
  %w = arith.index_cast %k : index to i64
  linalg.yield %w : i64
} -> tensor<8xi64>"""
EACH = """%f8 = tensor.empty() : tensor<8xf32>
%r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins({ids} : tensor<8xi64>) outs(%f8 : tensor<8xf32>) {{
^bb0(%p: i64, %o: f32):
  {body}
  %n = arith.index_cast %at : i64 to index
  %v = tensor.extract %x[%n] : tensor<{size}xf32>
  linalg.yield %v : f32
}} -> tensor<8xf32>"""
SAME = "%q = arith.constant 0 : i64\n%at = arith.addi %p, %q : i64"
HALF = """%q = arith.sitofp %p : i64 to f32
  %two = arith.constant 2.0 : f32
  %d = arith.divf %q, %two : f32
  %l = math.floor %d : f32
  %at = arith.fptosi %l : f32 to i64"""
CLAMPED = """%lo = arith.constant 0 : i64
  %hi = arith.constant 4 : i64
  %m = arith.maxsi %p, %lo : i64
  %at = arith.minsi %m, %hi : i64"""
FROM_THE_END = """%lo = arith.constant 0 : i64
  %n5 = arith.constant 5 : i64
  %neg = arith.cmpi slt, %p, %lo : i64
  %up = arith.addi %p, %n5 : i64
  %at = arith.select %neg, %up, %p : i64"""
REST = "%n5 = arith.constant 5 : i64\n%at = arith.remui %p, %n5 : i64"
FLOAT_CLAMP = """%q = arith.sitofp %p : i64 to f32
  %s = arith.constant 0.7 : f32
  %h = arith.constant -0.5 : f32
  %d = arith.mulf %q, %s : f32
  %g = arith.addf %d, %h : f32
  %z = arith.constant 0.0 : f32
  %m4 = arith.constant 4.0 : f32
  %a = arith.maximumf %g, %z : f32
  %b = arith.minimumf %a, %m4 : f32
  %at = arith.fptosi %b : f32 to i64"""
TABLE = "%t = arith.constant dense<[-5, -1, 0, 4, 3, 2, 1, 0]> : tensor<8xi64>"


@pytest.mark.parametrize(
    ("ids", "body", "size", "proved"),
    [
        (IOTA, SAME, 8, True),
        (IOTA, SAME, 7, False),
        (IOTA, HALF, 4, True),
        (IOTA, HALF, 3, False),
        (IOTA, FLOAT_CLAMP, 5, True),
        (IOTA, FLOAT_CLAMP, 4, False),
        ("", CLAMPED, 5, True),
        ("", CLAMPED, 4, False),
        ("", REST, 5, True),
        ("", REST, 4, False),
        ("", SAME, 5, False),
        (TABLE, FROM_THE_END, 5, True),
        (TABLE, FROM_THE_END, 4, False),
        (TABLE, SAME, 5, False),
    ],
)
def test_an_index_that_is_computed_needs_no_check(session, ids, body, size, proved):
    name = "%iota" if ids == IOTA else "%t" if ids == TABLE else "%ids"
    text = ids + "\n" + EACH.format(ids=name, body=body, size=size)
    _, report = judge(session, f"%x: tensor<{size}xf32>, %ids: tensor<8xi64>", text)
    assert (not unproved(report)) == proved


ARGMAX = """%z0 = arith.constant dense<{start}> : tensor<i64>
%m0 = arith.constant dense<0xFF800000> : tensor<f32>
%best:2 = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]}} ins(%s : tensor<8xf32>) outs(%m0, %z0 : tensor<f32>, tensor<i64>) {{
^bb0(%p: f32, %m: f32, %k: i64):
  %at = linalg.index 0 : index
  %w = arith.index_cast %at : index to i64
  %c = arith.cmpf ogt, %p, %m : f32
  %v = arith.select %c, %p, %m : f32
  %n = arith.select %c, %w, %k : i64
  linalg.yield %v, %n : f32, i64
}} -> (tensor<f32>, tensor<i64>)
%i = tensor.extract %best#1[] : tensor<i64>
%j = arith.index_cast %i : i64 to index
%r = tensor.extract %x[%j] : tensor<8xf32>"""


@pytest.mark.parametrize(("start", "proved"), [(0, True), (7, True), (8, False), (-1, False)])
def test_where_the_largest_stands_is_inside(session, start, proved):
    _, report = judge(session, "%x: tensor<8xf32>, %s: tensor<8xf32>", ARGMAX.format(start=start))
    assert (not unproved(report)) == proved


APART = """%e8 = tensor.empty() : tensor<8xi64>
%m8 = tensor.empty() : tensor<8xi1>
%bounded = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%ids : tensor<8xi64>) outs(%e8 : tensor<8xi64>) {{
^bb0(%p: i64, %o: i64):
  %low = arith.constant {low} : i64
  %high = arith.constant 4 : i64
  %a = arith.maxsi %p, %low : i64
  %b = arith.minsi %a, %high : i64
  linalg.yield %b : i64
}} -> tensor<8xi64>
%negative = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%bounded : tensor<8xi64>) outs(%m8 : tensor<8xi1>) {{
^bb0(%p: i64, %o: i1):
  %z = arith.constant 0 : i64
  %c = arith.cmpi slt, %p, %z : i64
  linalg.yield %c : i1
}} -> tensor<8xi1>
%from_end = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%bounded : tensor<8xi64>) outs(%e8 : tensor<8xi64>) {{
^bb0(%p: i64, %o: i64):
  %five = arith.constant 5 : i64
  %s = arith.addi %p, %five : i64
  linalg.yield %s : i64
}} -> tensor<8xi64>
%chosen = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, {map}, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]}} ins(%negative, %from_end, %bounded : tensor<8xi1>, tensor<8xi64>, tensor<8xi64>)
    outs(%e8 : tensor<8xi64>) {{
^bb0(%c: i1, %u: i64, %p: i64, %o: i64):
  %s = arith.select %c, %u, %p : i64
  linalg.yield %s : i64
}} -> tensor<8xi64>
%c1 = arith.constant 1 : index
%rows = tensor.expand_shape %chosen [[0, 1]] output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
%flat = tensor.collapse_shape %rows [[0, 1]] : tensor<8x1xi64> into tensor<8xi64>
"""
IN_ORDER, BACKWARDS = "affine_map<(i) -> (i)>", "affine_map<(i) -> (7 - i)>"


@pytest.mark.parametrize(
    ("low", "map_", "proved"),
    [(-5, IN_ORDER, True), (-6, IN_ORDER, False), (-5, BACKWARDS, False), (0, BACKWARDS, True)],
)
def test_an_index_that_several_ops_compute_is_known_at_one_point(session, low, map_, proved):
    """As ONNX's gathers come: which are negative, what they are from the end, the choice; only the same element counts."""
    text = APART.format(low=low, map=map_).replace("%c1 = arith.constant 1 : index\n", "")
    text += EACH.format(ids="%flat", body=SAME, size=5)
    _, report = judge(session, "%x: tensor<5xf32>, %ids: tensor<8xi64>", text)
    assert (not unproved(report)) == proved
