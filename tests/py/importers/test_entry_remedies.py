"""Torch ops that IREE does not lower, written with others: what stock refuses enters, and computes what NumPy does."""

from __future__ import annotations

import json

import numpy as np
import pytest
from entered_programs import all_computed, compiled, computed, entered, filled

from fissile.cli.main import main
from fissile.passes.remedies.entry.rename_torch_ops import _NAMES
from fissile.pipelines.session import Session

AND = """
func.func @main(%a: !torch.vtensor<[],i1>, %b: !torch.vtensor<[4],i1>) -> !torch.vtensor<[4],i1> {
  %0 = torch.aten.__and__.Tensor %a, %b : !torch.vtensor<[],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4],i1>
  return %0 : !torch.vtensor<[4],i1>
}
"""
XOR = """
func.func @main(%a: !torch.vtensor<[4],si64>, %b: !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64> {
  %0 = torch.operator "torch.aten.__xor__.Tensor"(%a, %b) : (!torch.vtensor<[4],si64>, !torch.vtensor<[4],si64>) -> !torch.vtensor<[4],si64>
  return %0 : !torch.vtensor<[4],si64>
}
"""
DIFF = """
func.func @main(%a: !torch.vtensor<[3,8],ELEMENT>, %p: !torch.vtensor<[3,2],ELEMENT>) -> !torch.vtensor<[3,SIZE],ELEMENT> {
  %n = torch.constant.int TIMES
  %dim = torch.constant.int -1
  %none = torch.constant.none
  %0 = torch.operator "torch.aten.diff"(%a, %n, %dim, %p, %none) : (!torch.vtensor<[3,8],ELEMENT>, !torch.int, !torch.int, !torch.vtensor<[3,2],ELEMENT>, !torch.none) -> !torch.vtensor<[3,SIZE],ELEMENT>
  return %0 : !torch.vtensor<[3,SIZE],ELEMENT>
}
"""
LOSS = """
func.func @main(%x: !torch.vtensor<[6,4],f32>, %t: !torch.vtensor<[6],si64>, %w: !torch.vtensor<[4],f32>) -> !torch.vtensor<[SHAPE],f32> {
  %reduction = torch.constant.int REDUCTION
  %ignored = torch.constant.int -100
  %smoothing = torch.constant.float SMOOTHING
  %0 = torch.aten.cross_entropy_loss %x, %t, %w, %reduction, %ignored, %smoothing : !torch.vtensor<[6,4],f32>, !torch.vtensor<[6],si64>, !torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.float -> !torch.vtensor<[SHAPE],f32>
  return %0 : !torch.vtensor<[SHAPE],f32>
}
"""
BITCAST = """
func.func @main(%a: !torch.vtensor<[4],si32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.operator "onnx.BitCast"(%a) {torch.onnx.to = 1 : si64} : (!torch.vtensor<[4],si32>) -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
"""
STEP = """
func.func @main(%x: !torch.vtensor<[2,3],f32>, %h: !torch.vtensor<[2,4],f32>, %c: !torch.vtensor<[2,4],f32>, %w: !torch.vtensor<[ROWS,3],f32>, %u: !torch.vtensor<[ROWS,4],f32>, %b: !torch.vtensor<[ROWS],f32>) -> RESULTS {
  %none = torch.constant.none
  CELL
  return RETURNED : RESULTS
}
"""
STATE = "!torch.vtensor<[2,4],f32>"
SIDES = "!torch.vtensor<[2,3],f32>, HIDDEN, !torch.vtensor<[ROWS,3],f32>, !torch.vtensor<[ROWS,4],f32>, !torch.vtensor<[ROWS],f32>, !torch.none"
ATTENTION = """
func.func @main(%q: !torch.vtensor<[2,3,QUERIES,8],f32>, %k: !torch.vtensor<[2,3,5,8],f32>, %v: !torch.vtensor<[2,3,5,8],f32>, %m: !torch.vtensor<[MASK],i1>) -> !torch.vtensor<[2,3,QUERIES,8],f32> {
  %p = torch.constant.float 0.0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.scaled_dot_product_attention %q, %k, %v, %m, %p, %false, %none, %false : !torch.vtensor<[2,3,QUERIES,8],f32>, !torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[2,3,5,8],f32>, !torch.vtensor<[MASK],i1>, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[2,3,QUERIES,8],f32>
  return %0 : !torch.vtensor<[2,3,QUERIES,8],f32>
}
"""
RECIPROCAL = """
func.func @main(%a: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.aten.reciprocal %a : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
"""
CHECKED = """
#id = affine_map<(d0) -> (d0)>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %known = arith.cmpf une, %in, %zero : f32
    cf.assert %known, "a rate must not be 0"
    %r = arith.divf %one, %in : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
ADD = """
func.func @main(%a: !torch.vtensor<[4],f32>, %b: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %one = torch.constant.int 1
  %0 = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.int -> !torch.vtensor<[4],f32>
  return %0 : !torch.vtensor<[4],f32>
}
"""


def test_and_is_bitwise_and(tmp_path):
    entered(tmp_path, AND, "aten.__and__.Tensor", "fissile-rename-torch-ops")
    b = np.array([True, False, True, False])
    for a in (True, False):
        assert np.array_equal(computed(tmp_path, np.array(a), b).astype(bool), a & b)


def test_an_operator_without_an_op_gets_that_of_its_function(tmp_path):
    entered(tmp_path, XOR, "aten.__xor__.Tensor", "fissile-rename-torch-ops")
    a, b = np.array([1, 2, -3, 7]), np.array([5, -6, 7, 7])
    assert np.array_equal(computed(tmp_path, a, b), a ^ b)


def test_bitcast_keeps_every_bit(tmp_path):
    entered(tmp_path, BITCAST, "onnx.BitCast", "fissile-decompose-bitcast")
    bits = np.array([0x3F800000, -0x80000000, 0x7FC00001, 1], np.int64).astype(np.int32)
    assert np.array_equal(computed(tmp_path, bits).view(np.int32), bits)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_diff_with_what_is_prepended(tmp_path, times):
    text = filled(DIFF, ELEMENT="si64", TIMES=times, SIZE=10 - times)
    entered(tmp_path, text, "aten.diff", "fissile-decompose-diff")
    random = np.random.default_rng(0)
    a, p = random.integers(-99, 99, (3, 8)), random.integers(-99, 99, (3, 2))
    assert np.array_equal(computed(tmp_path, a, p), np.diff(a, times, prepend=p))


def test_diff_of_booleans_is_where_they_are_not_equal(tmp_path):
    entered(tmp_path, filled(DIFF, ELEMENT="i1", TIMES=1, SIZE=9), "aten.diff", "fissile-decompose-diff")
    random = np.random.default_rng(1)
    a, p = random.integers(0, 2, (3, 8)).astype(bool), random.integers(0, 2, (3, 2)).astype(bool)
    assert np.array_equal(computed(tmp_path, a, p).astype(bool), np.diff(a, prepend=p))


@pytest.mark.parametrize(("reduction", "shape"), [(0, "6"), (1, ""), (2, "")])
def test_cross_entropy_with_weights_and_an_ignored_row(tmp_path, reduction, shape):
    text = filled(LOSS, SHAPE=shape, REDUCTION=reduction, SMOOTHING="0.0")
    entered(tmp_path, text, "aten.cross_entropy_loss", "fissile-decompose-nll-loss")
    random = np.random.default_rng(2)
    x, w = random.standard_normal((6, 4)).astype(np.float32), random.random(4).astype(np.float32)
    t = np.array([0, 3, -100, 1, 1, 2])
    wide = x.astype(np.float64)
    scores = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    kept = t != -100
    weights = np.where(kept, w[np.where(kept, t, 0)], 0.0)
    losses = -scores[np.arange(6), np.where(kept, t, 0)] * weights
    expected = [losses, losses.sum() / weights.sum(), losses.sum()][reduction]
    np.testing.assert_allclose(computed(tmp_path, x, t, w), expected, rtol=1e-5)


def step(name, gates, states=1):
    """A step of ``name``, and its inputs: the state's parts are as many as its results."""
    hidden, made = (
        (("%hc", "!torch.list<vtensor>") if states == 2 else ("%h", STATE)),
        ", ".join([STATE] * states),
    )
    text = f'%r:{states} = torch.operator "torch.{name}"(%x, {hidden[0]}, %w, %u, %b, %none) : ({SIDES}) -> ({made})'
    if states == 2:
        text = f"%hc = torch.prim.ListConstruct %h, %c : ({STATE}, {STATE}) -> !torch.list<vtensor>\n  {text}"
    random = np.random.default_rng(3)
    shapes = (2, 3), (2, 4), (2, 4), (4 * gates, 3), (4 * gates, 4), (4 * gates,)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    returned = ", ".join(f"%r#{k}" for k in range(states))
    results = made if states == 1 else f"({made})"
    text = STEP.replace("CELL", text).replace("-> RESULTS {", f"-> {results} {{")
    return filled(text, HIDDEN=hidden[1], RETURNED=returned, RESULTS=made, ROWS=4 * gates), inputs


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_a_step_of_an_lstm(tmp_path):
    text, inputs = step("aten.lstm_cell", 4, states=2)
    entered(tmp_path, text, "aten.lstm_cell", "fissile-decompose-recurrent-cells")
    x, h, c, w, u, b = (one.astype(np.float64) for one in inputs)
    taken, kept, new, shown = np.split(x @ w.T + b + h @ u.T, 4, axis=1)
    cell = sigmoid(kept) * c + sigmoid(taken) * np.tanh(new)
    for made, expected in zip(
        all_computed(tmp_path, *inputs), (sigmoid(shown) * np.tanh(cell), cell), strict=True
    ):
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-5)


def test_a_step_of_a_gru(tmp_path):
    text, inputs = step("aten.gru_cell", 3)
    entered(tmp_path, text, "aten.gru_cell", "fissile-decompose-recurrent-cells")
    x, h, _c, w, u, b = (one.astype(np.float64) for one in inputs)
    new, old = np.split(x @ w.T + b, 3, axis=1), np.split(h @ u.T, 3, axis=1)
    reset, update = sigmoid(new[0] + old[0]), sigmoid(new[1] + old[1])
    expected = (1 - update) * np.tanh(new[2] + reset * old[2]) + update * h
    np.testing.assert_allclose(computed(tmp_path, *inputs), expected, rtol=1e-4, atol=1e-5)


def test_a_cell_whose_sizes_do_not_fit_is_left_alone(tmp_path):
    text, _inputs = step("aten.gru_cell", 4)
    status, findings = compiled(tmp_path, text)
    assert status == 1 and [f["severity"] for f in findings] == ["error"]


def test_a_mask_with_fewer_dimensions_than_the_query(tmp_path):
    text = filled(ATTENTION, QUERIES=1, MASK="1,5")
    name, beside = "aten.scaled_dot_product_attention", ("FIS219",)  # the mask may leave nothing of a row
    entered(tmp_path, text, name, "fissile-expand-attention-masks", beside)
    random = np.random.default_rng(4)
    q, k, v = (random.standard_normal((2, 3, n, 8)).astype(np.float32) for n in (1, 5, 5))
    mask = np.array([[True, True, False, True, False]])
    scores = np.where(mask, q.astype(np.float64) @ k.swapaxes(2, 3) / np.sqrt(8), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(computed(tmp_path, q, k, v, mask), expected, rtol=1e-4, atol=1e-5)


def test_the_reciprocal_of_zero_is_what_torch_says(tmp_path):
    """IREE's import asserts that nothing is 0.0, in a body, where stock drops it: no check of fissile's may fail there."""
    status, findings = compiled(tmp_path, RECIPROCAL)
    assert status == 0 and findings == []
    (tmp_path / "entered.mlir").write_text(RECIPROCAL)
    a = np.array([0.0, 2.0, -0.0, np.inf], np.float32)
    assert computed(tmp_path, a).tolist() == [np.inf, 0.5, -np.inf, 0.0]


def test_an_assert_of_the_program_is_still_checked(tmp_path):
    _status, findings = compiled(tmp_path, CHECKED)
    assert [f["code"] for f in findings] == ["FIS202"]


def test_what_stock_lowers_is_not_touched(tmp_path):
    status, findings = compiled(tmp_path, ADD)
    assert status == 0 and findings == []


@pytest.mark.parametrize("mode", ["off", "suggest"])
def test_nothing_is_written_where_repairs_are_not_wanted(tmp_path, mode):
    status, findings = compiled(tmp_path, AND, f"--repair={mode}")
    assert status == 1 and not (tmp_path / "out.vmfb").exists()
    assert {f["code"] for f in findings} == {"FIS421"} and {f["severity"] for f in findings} == {"error"}


def test_an_op_without_equivalent_is_named_with_the_way_out(tmp_path):
    text = XOR.replace("aten.__xor__.Tensor", "aten.lstm.input")
    status, findings = compiled(tmp_path, text)
    [finding] = findings
    assert status == 1 and finding["subject"] == "aten.lstm.input"
    assert finding["places"][0]["line"] == 3 and any("decomposition_table" in n for n in finding["notes"])


def test_an_op_that_changes_a_tensor_in_place_is_functionalised(tmp_path):
    """That way out comes before a decomposition of the op."""
    text = XOR.replace("aten.__xor__.Tensor", "aten.index_copy_")
    status, [finding] = compiled(tmp_path, text)
    ways = [note for note in finding["notes"] if note.startswith("way out")]
    assert status == 1 and "run_decompositions({})" in ways[0] and "decomposition_table" in ways[1]


def test_check_says_that_compile_would_rewrite_it(tmp_path):
    (tmp_path / "main.mlir").write_text(AND)
    report = tmp_path / "check.json"
    words = ["check", str(tmp_path / "main.mlir"), "--target=llvm-cpu", "--probe=never"]
    assert main([*words, "--format=json", f"--report-file={report}"]) == 1
    [finding] = json.loads(report.read_text())["findings"]
    assert finding["code"] == "FIS421" and any("fissile compile" in note for note in finding["notes"])


def test_every_name_is_one_of_an_op_that_the_dialect_has_or_is_left_alone():
    context = Session().context
    known = [name for name in _NAMES.values() if context.is_registered_operation(f"torch.{name}")]
    assert len(known) >= len(_NAMES) - 1, set(_NAMES.values()) - set(known)


SQUEEZE = """
func.func @main(%x: !torch.vtensor<[1,5,1,3],si64>) -> !torch.vtensor<[5,3],si64> {
  %first = torch.constant.int 0
  %other = torch.constant.int -2
  %kept = torch.constant.int 1
  %dims = torch.prim.ListConstruct %first, %kept, %other : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.operator "torch.aten.squeeze.dims"(%x, %dims) : (!torch.vtensor<[1,5,1,3],si64>, !torch.list<int>) -> !torch.vtensor<[5,3],si64>
  return %0 : !torch.vtensor<[5,3],si64>
}
"""
BILINEAR = """
func.func @main(%x: !torch.vtensor<[1,1,4,6],f32>) -> !torch.vtensor<[1,1,8,12],f32> {
  %none = torch.constant.none
  %corners = torch.constant.bool CORNERS
  %two = torch.constant.float 2.0
  %scales = torch.prim.ListConstruct %two, %two : (!torch.float, !torch.float) -> !torch.list<float>
  %0 = torch.aten.upsample_bilinear2d.vec %x, %none, %corners, %scales : !torch.vtensor<[1,1,4,6],f32>, !torch.none, !torch.bool, !torch.list<float> -> !torch.vtensor<[1,1,8,12],f32>
  return %0 : !torch.vtensor<[1,1,8,12],f32>
}
"""


def test_several_dimensions_are_squeezed_and_one_of_another_size_stays(tmp_path):
    entered(tmp_path, SQUEEZE, "aten.squeeze.dims", "fissile-decompose-squeeze")
    x = np.arange(15).reshape(1, 5, 1, 3)
    assert np.array_equal(computed(tmp_path, x), x.reshape(5, 3))


@pytest.mark.parametrize("corners", [True, False])
def test_bilinear_upsampling_is_what_pytorch_defines(tmp_path, corners):
    text = filled(BILINEAR, CORNERS=str(corners).lower())
    entered(tmp_path, text, "aten.upsample_bilinear2d.vec", "fissile-rewrite-upsampling")
    x = np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32)

    def along_rows(rows):
        size = len(rows)
        made = np.arange(2 * size)
        at = made * (size - 1) / (2 * size - 1) if corners else np.maximum((made + 0.5) / 2 - 0.5, 0)
        low = np.floor(at).astype(int)
        part = (at - low)[:, None]
        return rows[low] * (1 - part) + rows[np.minimum(low + 1, size - 1)] * part

    expected = along_rows(along_rows(x.astype(np.float64)).T).T
    np.testing.assert_allclose(computed(tmp_path, x[None, None])[0, 0], expected, rtol=1e-5, atol=1e-6)
