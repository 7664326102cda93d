"""Ops of PyTorch on whole tensors that index, select, search, contract and accumulate, written with ops that IREE lowers."""

from __future__ import annotations

import built
import numpy as np
import pytest
from entered_programs import all_computed, compiled, written

import fissile
from fissile.pipelines.compile.hooks import front_end
from fissile.pipelines.session import Session

DRAWN = np.random.default_rng(9)
NAN, INFINITY = np.nan, np.inf


def entered_with(tmp_path, text, remedy, *ops):
    """Compiles ``text``, of which ``ops`` and no others are to be reported as repaired by ``remedy``."""
    status, findings = compiled(tmp_path, text, "--guard=off")
    assert status == 0, findings
    repaired = [finding for finding in findings if finding["code"] == "FIS421"]
    assert [finding["severity"] for finding in repaired] == ["repaired"] * len(ops), findings
    assert {finding["subject"] for finding in repaired} == set(ops)
    assert {finding["helps"][0]["remedy"] for finding in repaired} == {remedy}
    module = Session(built.CPU).parse_text(text)
    front_end.rewritten(module, "")
    (tmp_path / "entered.mlir").write_text(module.text())


def test_elements_by_two_indices(tmp_path):
    """Neighbouring dimensions with others before and behind, and two that are apart; negative indices count from the end."""
    text = """
func.func @main(%x: !torch.vtensor<[?,?,?,3],f32>, %i: !torch.vtensor<[?],si64>, %j: !torch.vtensor<[?],si64>) -> (!torch.vtensor<[?,?,3],f32>, !torch.vtensor<[?,?,3],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %none = torch.constant.none
  %l = torch.prim.ListConstruct %none, %i, %j : (!torch.none, !torch.vtensor<[?],si64>, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %r = torch.aten.index.Tensor %x, %l : !torch.vtensor<[?,?,?,3],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,?,3],f32>
  %m = torch.prim.ListConstruct %i, %none, %j : (!torch.vtensor<[?],si64>, !torch.none, !torch.vtensor<[?],si64>) -> !torch.list<optional<vtensor>>
  %s = torch.aten.index.Tensor %x, %m : !torch.vtensor<[?,?,?,3],f32>, !torch.list<optional<vtensor>> -> !torch.vtensor<[?,?,3],f32>
  return %r, %s : !torch.vtensor<[?,?,3],f32>, !torch.vtensor<[?,?,3],f32>
}
"""
    entered_with(tmp_path, text, "fissile-index-merged-dims", "aten.index.Tensor")
    x = DRAWN.normal(size=(4, 4, 6, 3)).astype(np.float32)
    i, j = np.array([0, -1, 2, 3, -4]), np.array([5, 0, -6, -1, 2])
    middle, apart = all_computed(tmp_path, x, i, j)
    np.testing.assert_array_equal(middle, x[:, i, j])
    np.testing.assert_array_equal(apart, x[i, :, j])


def test_slices_by_an_index(tmp_path):
    """Of a slice that is named twice both are added; a filled one may be named from the end."""
    text = """
func.func @main(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?],si64>, %v: !torch.vtensor<[?,3],f32>, %o: !torch.vtensor<[2],si32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %alpha = torch.constant.float 0.5
  %value = torch.constant.int 7
  %a = torch.operator "torch.aten.index_add"(%x, %0, %i, %v, %alpha) : (!torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?],si64>, !torch.vtensor<[?,3],f32>, !torch.float) -> !torch.vtensor<[?,3],f32>
  %b = torch.operator "torch.aten.index_fill.int_Scalar"(%x, %1, %o, %value) : (!torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[2],si32>, !torch.int) -> !torch.vtensor<[?,3],f32>
  return %a, %b : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>
}
"""
    entered_with(tmp_path, text, "fissile-scatter-slices", "aten.index_add", "aten.index_fill.int_Scalar")
    x, v = (DRAWN.normal(size=(rows, 3)).astype(np.float32) for rows in (5, 4))
    i, columns = np.array([1, 3, 1, 0]), np.int32([-1, 0])
    added, filled_in = all_computed(tmp_path, x, i, v, columns)
    wanted = x.copy()
    np.add.at(wanted, i, v / 2)
    np.testing.assert_allclose(added, wanted, rtol=1e-6)
    wanted = x.copy()
    wanted[:, columns] = 7
    np.testing.assert_array_equal(filled_in, wanted)


def test_reduced_slices(tmp_path):
    """Without what was there; a slice that is not named stays."""
    text = """
func.func @main(%x: !torch.vtensor<[?,3],f32>, %i: !torch.vtensor<[?],si64>, %v: !torch.vtensor<[?,3],f32>) -> (!torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %0 = torch.constant.int 0
  %mean = torch.constant.str "mean"
  %amax = torch.constant.str "amax"
  %no = torch.constant.bool false
  %c = torch.operator "torch.aten.index_reduce"(%x, %0, %i, %v, %mean, %no) : (!torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?],si64>, !torch.vtensor<[?,3],f32>, !torch.str, !torch.bool) -> !torch.vtensor<[?,3],f32>
  %d = torch.operator "torch.aten.index_reduce"(%x, %0, %i, %v, %amax, %no) : (!torch.vtensor<[?,3],f32>, !torch.int, !torch.vtensor<[?],si64>, !torch.vtensor<[?,3],f32>, !torch.str, !torch.bool) -> !torch.vtensor<[?,3],f32>
  return %c, %d : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>
}
"""
    entered_with(tmp_path, text, "fissile-scatter-slices", "aten.index_reduce")
    x, v = (DRAWN.normal(size=(rows, 3)).astype(np.float32) for rows in (5, 4))
    i = np.array([1, 3, 1, 0])
    for found, reduced in zip(all_computed(tmp_path, x, i, v), (np.mean, np.max), strict=True):
        wanted = x.copy()
        for row in set(i):
            wanted[row] = reduced(v[i == row], axis=0)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_copied_slices(tmp_path):
    text = """
func.func @main(%x: !torch.vtensor<[2,5],f16>, %i: !torch.vtensor<[3],si64>, %v: !torch.vtensor<[2,3],f16>) -> !torch.vtensor<[2,5],f16> {
  %1 = torch.constant.int 1
  %a = torch.operator "torch.aten.index_copy"(%x, %1, %i, %v) : (!torch.vtensor<[2,5],f16>, !torch.int, !torch.vtensor<[3],si64>, !torch.vtensor<[2,3],f16>) -> !torch.vtensor<[2,5],f16>
  return %a : !torch.vtensor<[2,5],f16>
}
"""
    entered_with(tmp_path, text, "fissile-scatter-slices", "aten.index_copy")
    x, v = (DRAWN.normal(size=(2, columns)).astype(np.float16) for columns in (5, 3))
    i = np.array([4, 0, 2])
    wanted = x.copy()
    wanted[:, i] = v
    np.testing.assert_array_equal(all_computed(tmp_path, x, i, v)[0], wanted)


def test_medians_and_others_in_order(tmp_path):
    text = """
func.func @main(%x: !torch.vtensor<[?,6],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>, !torch.vtensor<[?,1],f32>, !torch.vtensor<[?,1],si64>, !torch.vtensor<[],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %dim = torch.constant.int 1
  %k = torch.constant.int 5
  %no = torch.constant.bool false
  %yes = torch.constant.bool true
  %m:2 = torch.operator "torch.aten.median.dim"(%x, %dim, %no) : (!torch.vtensor<[?,6],f32>, !torch.int, !torch.bool) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>)
  %v, %i = torch.aten.kthvalue %x, %k, %dim, %yes : !torch.vtensor<[?,6],f32>, !torch.int, !torch.int, !torch.bool -> !torch.vtensor<[?,1],f32>, !torch.vtensor<[?,1],si64>
  %a = torch.operator "torch.aten.median"(%x) : (!torch.vtensor<[?,6],f32>) -> !torch.vtensor<[],f32>
  return %m#0, %m#1, %v, %i, %a : !torch.vtensor<[?],f32>, !torch.vtensor<[?],si64>, !torch.vtensor<[?,1],f32>, !torch.vtensor<[?,1],si64>, !torch.vtensor<[],f32>
}
"""
    entered_with(tmp_path, text, "fissile-select-ordered", "aten.median.dim", "aten.median", "aten.kthvalue")
    x = np.float32([[3, 1, 2, 6, 5, 4], [1, NAN, 0, INFINITY, 2, NAN], [5, 4, -INFINITY, 1, INFINITY, 9]])
    median, where, fifth, there, whole = all_computed(tmp_path, x)
    np.testing.assert_array_equal(median, np.float32([3, NAN, 4]))
    np.testing.assert_array_equal(where, [0, 1, 1])
    # NaN is behind infinity.
    np.testing.assert_array_equal(fifth, np.float32([[5], [NAN], [9]]))
    np.testing.assert_array_equal(there, [[4], [1], [5]])
    assert np.isnan(whole)
    assert all_computed(tmp_path, x[::2])[4] == 4


def test_modes(tmp_path):
    text = """
func.func @main(%x: !torch.vtensor<[2,6],si64>) -> (!torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>) {
  %dim = torch.constant.int -1
  %no = torch.constant.bool false
  %m:2 = torch.operator "torch.aten.mode"(%x, %dim, %no) : (!torch.vtensor<[2,6],si64>, !torch.int, !torch.bool) -> (!torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>)
  return %m#0, %m#1 : !torch.vtensor<[2],si64>, !torch.vtensor<[2],si64>
}
"""
    entered_with(tmp_path, text, "fissile-select-ordered", "aten.mode")
    values, indices = all_computed(tmp_path, np.array([[4, 1, 4, 1, 0, 9], [5, 5, 5, 2, 2, 2]]))
    np.testing.assert_array_equal(values, [1, 2])
    np.testing.assert_array_equal(indices, [3, 5])


def test_positions_in_sorted_sequences(tmp_path):
    text = """
func.func @main(%s: !torch.vtensor<[?],f32>, %v: !torch.vtensor<[?],f32>, %t: !torch.vtensor<[2,4],f32>, %w: !torch.vtensor<[2,?],f32>) -> (!torch.vtensor<[?],si64>, !torch.vtensor<[?],si32>, !torch.vtensor<[2,?],si64>, !torch.vtensor<[],si64>) attributes {torch.assume_strict_symbolic_shapes} {
  %no = torch.constant.bool false
  %yes = torch.constant.bool true
  %none = torch.constant.none
  %one = torch.constant.int 1
  %side = torch.constant.str "right"
  %a = torch.operator "torch.aten.searchsorted.Tensor"(%s, %v, %no, %no, %none, %none) : (!torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>, !torch.bool, !torch.bool, !torch.none, !torch.none) -> !torch.vtensor<[?],si64>
  %b = torch.aten.bucketize.Tensor %v, %s, %yes, %yes : !torch.vtensor<[?],f32>, !torch.vtensor<[?],f32>, !torch.bool, !torch.bool -> !torch.vtensor<[?],si32>
  %c = torch.operator "torch.aten.searchsorted.Tensor"(%t, %w, %no, %no, %side, %none) : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[2,?],f32>, !torch.bool, !torch.bool, !torch.str, !torch.none) -> !torch.vtensor<[2,?],si64>
  %d = torch.operator "torch.aten.bucketize.Scalar"(%one, %s, %no, %no) : (!torch.int, !torch.vtensor<[?],f32>, !torch.bool, !torch.bool) -> !torch.vtensor<[],si64>
  return %a, %b, %c, %d : !torch.vtensor<[?],si64>, !torch.vtensor<[?],si32>, !torch.vtensor<[2,?],si64>, !torch.vtensor<[],si64>
}
"""
    entered_with(
        tmp_path,
        text,
        "fissile-search-sorted",
        "aten.searchsorted.Tensor",
        "aten.bucketize.Tensor",
        "aten.bucketize.Scalar",
    )
    s, v = np.float32([-1, 0, 1, 1, 3]), np.float32([1, NAN, -INFINITY, 0.5, INFINITY, 3])
    t = np.sort(DRAWN.normal(size=(2, 4)), axis=1).astype(np.float32)
    w = np.concatenate([t[:, 1:3], DRAWN.normal(size=(2, 3)).astype(np.float32)], axis=1)
    left, right, rows, one = all_computed(tmp_path, s, v, t, w)
    np.testing.assert_array_equal(left, np.searchsorted(s, v))
    np.testing.assert_array_equal(right, np.searchsorted(s, v, "right"))
    assert right.dtype == np.int32 and one == 2
    for row in range(2):
        np.testing.assert_array_equal(rows[row], np.searchsorted(t[row], w[row], "right"))


def test_contracted_dims(tmp_path):
    text = """
func.func @main(%x: !torch.vtensor<[?,4,3],f32>, %y: !torch.vtensor<[6,3,2,?],f32>, %z: !torch.vtensor<[5],f32>) -> (!torch.vtensor<[4,6,2],f32>, !torch.vtensor<[?,4,3,5],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %last = torch.constant.int -1
  %a = torch.prim.ListConstruct %2, %0 : (!torch.int, !torch.int) -> !torch.list<int>
  %b = torch.prim.ListConstruct %1, %last : (!torch.int, !torch.int) -> !torch.list<int>
  %r = torch.operator "torch.aten.tensordot"(%x, %y, %a, %b) : (!torch.vtensor<[?,4,3],f32>, !torch.vtensor<[6,3,2,?],f32>, !torch.list<int>, !torch.list<int>) -> !torch.vtensor<[4,6,2],f32>
  %n = torch.prim.ListConstruct : () -> !torch.list<int>
  %s = torch.operator "torch.aten.tensordot"(%x, %z, %n, %n) : (!torch.vtensor<[?,4,3],f32>, !torch.vtensor<[5],f32>, !torch.list<int>, !torch.list<int>) -> !torch.vtensor<[?,4,3,5],f32>
  return %r, %s : !torch.vtensor<[4,6,2],f32>, !torch.vtensor<[?,4,3,5],f32>
}
"""
    entered_with(tmp_path, text, "fissile-contract-dims", "aten.tensordot")
    x, y, z = (DRAWN.normal(size=shape).astype(np.float32) for shape in ((5, 4, 3), (6, 3, 2, 5), (5,)))
    two, none = all_computed(tmp_path, x, y, z)
    np.testing.assert_allclose(two, np.tensordot(x, y, ([2, 0], [1, 3])), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(none, np.tensordot(x, z, 0), rtol=1e-6)


def test_trapezoids(tmp_path):
    text = """
func.func @main(%y: !torch.vtensor<[2,?,3],f32>, %x: !torch.vtensor<[?],f32>, %i: !torch.vtensor<[2,4],si64>) -> (!torch.vtensor<[2,3],f32>, !torch.vtensor<[2,?,3],f32>, !torch.vtensor<[2],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %1 = torch.constant.int 1
  %dx = torch.constant.float 0.5
  %a = torch.operator "torch.aten.trapezoid.x"(%y, %x, %1) : (!torch.vtensor<[2,?,3],f32>, !torch.vtensor<[?],f32>, !torch.int) -> !torch.vtensor<[2,3],f32>
  %b = torch.operator "torch.aten.cumulative_trapezoid.dx"(%y, %dx, %1) : (!torch.vtensor<[2,?,3],f32>, !torch.float, !torch.int) -> !torch.vtensor<[2,?,3],f32>
  %c = torch.operator "torch.aten.trapz.dx"(%i, %dx, %1) : (!torch.vtensor<[2,4],si64>, !torch.float, !torch.int) -> !torch.vtensor<[2],f32>
  return %a, %b, %c : !torch.vtensor<[2,3],f32>, !torch.vtensor<[2,?,3],f32>, !torch.vtensor<[2],f32>
}
"""
    ops = ("aten.trapezoid.x", "aten.cumulative_trapezoid.dx", "aten.trapz.dx")
    entered_with(tmp_path, text, "fissile-sum-trapezoids", *ops)
    y, x = DRAWN.normal(size=(2, 6, 3)).astype(np.float32), np.float32([0, 1, 1.5, 4, 4, 7])
    i = np.array([[1, 2, 3, 4], [0, -7, 5, 1]])
    whole, running, integers = all_computed(tmp_path, y, x, i)
    pairs = y[:, 1:] + y[:, :-1]
    np.testing.assert_allclose(whole, (pairs * np.diff(x)[:, None]).sum(1) / 2, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(running, pairs.cumsum(1) / 4, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(integers, (i[:, 1:] + i[:, :-1]).sum(1) / 4)


def test_logarithms_of_sums(tmp_path):
    text = """
func.func @main(%x: !torch.vtensor<[?,4],f32>) -> (!torch.vtensor<[?],f32>, !torch.vtensor<[1,1],f32>) attributes {torch.assume_strict_symbolic_shapes} {
  %1 = torch.constant.int -1
  %no = torch.constant.bool false
  %yes = torch.constant.bool true
  %d = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
  %a = torch.aten.logsumexp %x, %d, %no : !torch.vtensor<[?,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?],f32>
  %all = torch.prim.ListConstruct : () -> !torch.list<int>
  %b = torch.aten.logsumexp %x, %all, %yes : !torch.vtensor<[?,4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,1],f32>
  return %a, %b : !torch.vtensor<[?],f32>, !torch.vtensor<[1,1],f32>
}
"""
    entered_with(tmp_path, text, "fissile-sum-exponentials", "aten.logsumexp")
    x = np.float32([[0, 1, 2, 3], [200, 201, -5, 200], [-INFINITY] * 4, [0, INFINITY, 1, 2], [0, NAN, 1, 2]])
    rows, _whole = all_computed(tmp_path, x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(rows, np.logaddexp.reduce(x, 1), rtol=1e-5)
    _rows, whole = all_computed(tmp_path, x[:3])
    np.testing.assert_allclose(whole, [[np.logaddexp.reduce(x[:3], None)]], rtol=1e-5)


def test_running_maxima_and_minima(tmp_path):
    """Of equal elements the last is given, and of NaN too."""
    text = """
func.func @main(%x: !torch.vtensor<[?,?],f32>, %i: !torch.vtensor<[4,2],si32>) -> (!torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],si64>, !torch.vtensor<[4,2],si32>, !torch.vtensor<[4,2],si64>) attributes {torch.assume_strict_symbolic_shapes} {
  %0 = torch.constant.int 0
  %1 = torch.constant.int -1
  %a:2 = torch.operator "torch.aten.cummax"(%x, %1) : (!torch.vtensor<[?,?],f32>, !torch.int) -> (!torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],si64>)
  %b:2 = torch.operator "torch.aten.cummin"(%i, %0) : (!torch.vtensor<[4,2],si32>, !torch.int) -> (!torch.vtensor<[4,2],si32>, !torch.vtensor<[4,2],si64>)
  return %a#0, %a#1, %b#0, %b#1 : !torch.vtensor<[?,?],f32>, !torch.vtensor<[?,?],si64>, !torch.vtensor<[4,2],si32>, !torch.vtensor<[4,2],si64>
}
"""
    entered_with(tmp_path, text, "fissile-scan-extremes", "aten.cummax", "aten.cummin")
    x = np.float32([[1, 3, 3, 2, 5], [-INFINITY, -INFINITY, 0, NAN, INFINITY], [NAN, 1, NAN, 2, 3]])
    i = np.int32([[4, -3], [4, 2], [1, -3], [2, 0]])
    largest, reached, smallest, first = all_computed(tmp_path, x, i)
    np.testing.assert_array_equal(largest, np.maximum.accumulate(x, 1))
    np.testing.assert_array_equal(reached, [[0, 1, 2, 2, 4], [0, 1, 2, 3, 3], [0, 0, 2, 2, 2]])
    np.testing.assert_array_equal(smallest, np.minimum.accumulate(i, 0))
    np.testing.assert_array_equal(first, [[0, 0], [1, 0], [2, 2], [2, 2]])


@pytest.mark.parametrize("element, dtype", [("si8", np.int8), ("ui8", np.uint8), ("i1", np.bool_)])
def test_a_copy_of_narrow_elements(tmp_path, element, dtype):
    """The cache of a quantised model."""
    written(
        tmp_path,
        f"""func.func @main(%x: !torch.vtensor<[6,4],{element}>, %i: !torch.vtensor<[2],si64>, %v: !torch.vtensor<[2,4],{element}>) -> !torch.vtensor<[6,4],{element}> {{
  %0 = torch.constant.int 0
  %a = torch.operator "torch.aten.index_copy"(%x, %0, %i, %v) : (!torch.vtensor<[6,4],{element}>, !torch.int, !torch.vtensor<[2],si64>, !torch.vtensor<[2,4],{element}>) -> !torch.vtensor<[6,4],{element}>
  return %a : !torch.vtensor<[6,4],{element}>
}}
""",
    )
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*built.CPU])
    assert ("FIS421", "repaired") in [(one.code, one.severity.value) for one in report.findings]
    random = np.random.default_rng(3)
    x, v = (random.integers(0, 2, shape).astype(dtype) for shape in ((6, 4), (2, 4)))
    [got] = all_computed(tmp_path, x, np.array([4, 1]), v)
    x[[4, 1]] = v
    np.testing.assert_array_equal(got.view(dtype), x)
