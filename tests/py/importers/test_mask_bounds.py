"""FIS219 of masks that are computed: those that leave something of every row, whatever the program is given, are left alone."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed
from hypothesis import given
from hypothesis import strategies as st
from iree.compiler import ir

import fissile
from fissile.passes.remedies.entry.masks.bounds import COMPARISONS, Bounds, compared
from fissile.passes.remedies.entry.masks.torch_bounds import TorchBounds
from fissile.passes.remedies.entry.torch.clear_masked_rows import ClearMaskedRows
from fissile.pipelines.numerics.build import compile_stock

HEAD = """
func.func @main(%q: !torch.vtensor<[1,2,4,8],f32>, %flag: !torch.vtensor<[4],i1>, %bias: !torch.vtensor<[4,4],f32>, %ids: !torch.vtensor<[4],si64>) -> !torch.vtensor<[1,2,4,8],f32> {
  %0 = torch.constant.int 0
  %1 = torch.constant.int 1
  %2 = torch.constant.int 2
  %4 = torch.constant.int 4
  %-1 = torch.constant.int -1
  %f32 = torch.constant.int 6
  %none = torch.constant.none
  %no = torch.constant.bool false
  %zero = torch.constant.float 0.0
  %one = torch.constant.float 1.0
  %inf = torch.constant.float 0xFFF0000000000000
  %least = torch.constant.float -3.4028234663852886E+38
  %square = torch.prim.ListConstruct %1, %1, %4, %4 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %matrix = torch.prim.ListConstruct %4, %4 : (!torch.int, !torch.int) -> !torch.list<int>
"""
TAIL = """
  %r = torch.aten.scaled_dot_product_attention %q, %q, %q, %mask, %zero, %no, %none, %no
    : !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, !torch.vtensor<[1,2,4,8],f32>, MASK, !torch.float, !torch.bool, !torch.none, !torch.bool -> !torch.vtensor<[1,2,4,8],f32>
  return %r : !torch.vtensor<[1,2,4,8],f32>
}
"""
CAUSAL = """
  %row = torch.aten.arange %4, %none, %none, %none, %no : !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[4],si64>
  %column = torch.aten.unsqueeze %row, %-1 : !torch.vtensor<[4],si64>, !torch.int -> !torch.vtensor<[4,1],si64>
  %past = torch.aten.le.Tensor %row, %column : !torch.vtensor<[4],si64>, !torch.vtensor<[4,1],si64> -> !torch.vtensor<[4,4],i1>
"""
STRICT = CAUSAL.replace("aten.le.", "aten.lt.")
SQUARED = "  %mask = torch.aten.view %whole, %square : !torch.vtensor<[4,4],f32>, !torch.list<int> -> !torch.vtensor<[1,1,4,4],f32>"
FILLED = (
    """
  %zeros = torch.aten.zeros %matrix, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4,4],f32>
  %future = torch.aten.logical_not %past : !torch.vtensor<[4,4],i1> -> !torch.vtensor<[4,4],i1>
  %whole = torch.aten.masked_fill.Scalar %zeros, %future, %inf : !torch.vtensor<[4,4],f32>, !torch.vtensor<[4,4],i1>, !torch.float -> !torch.vtensor<[4,4],f32>
"""
    + SQUARED
)
BOOLEAN = "  %mask = torch.aten.expand %past, %square, %no : !torch.vtensor<[4,4],i1>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,1,4,4],i1>"
EITHER = """
  %other = torch.aten.bitwise_or.Tensor %past, %flag : !torch.vtensor<[4,4],i1>, !torch.vtensor<[4],i1> -> !torch.vtensor<[4,4],i1>
""" + BOOLEAN.replace("%past", "%other")
BOTH = EITHER.replace("bitwise_or", "bitwise_and")
TRIANGLE = (
    """
  %full = torch.aten.full %matrix, %inf, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[4,4],f32>
  %whole = torch.aten.triu %full, DIAGONAL : !torch.vtensor<[4,4],f32>, !torch.int -> !torch.vtensor<[4,4],f32>
"""
    + SQUARED
)
PADDING = """
  %number = torch.aten.to.dtype %flag, %f32, %no, %no, %none : !torch.vtensor<[4],i1>, !torch.int, !torch.bool, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>
  %rest = torch.aten.rsub.Scalar %number, %one, %1 : !torch.vtensor<[4],f32>, !torch.float, !torch.int -> !torch.vtensor<[4],f32>
  %scaled = torch.aten.mul.Scalar %rest, LEAST : !torch.vtensor<[4],f32>, !torch.float -> !torch.vtensor<[4],f32>
  %mask = torch.aten.expand %scaled, %square, %no : !torch.vtensor<[4],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,1,4,4],f32>
"""
TABLE = """
  %table = torch.vtensor.literal(dense<[[0.1, -0.2, 0.3, NUMBER], [0.5, -0.6, 0.7, -0.8], [0.9, -1.0, 1.1, -1.2]]> : tensor<3x4xf32>) : !torch.vtensor<[3,4],f32>
  %whole = torch.aten.index_select %table, %0, %ids : !torch.vtensor<[3,4],f32>, !torch.int, !torch.vtensor<[4],si64> -> !torch.vtensor<[4,4],f32>
  %turned = torch.aten.transpose.int %whole, %0, %1 : !torch.vtensor<[4,4],f32>, !torch.int, !torch.int -> !torch.vtensor<[4,4],f32>
""" + SQUARED.replace("%whole", "%turned")
LEARNT = (
    """
  %near = torch.aten.sigmoid %bias : !torch.vtensor<[4,4],f32> -> !torch.vtensor<[4,4],f32>
  %least-of = torch.aten.where.ScalarOther %past, %near, %inf : !torch.vtensor<[4,4],i1>, !torch.vtensor<[4,4],f32>, !torch.float -> !torch.vtensor<[4,4],f32>
""".replace("%least-of", "%whole")
    + SQUARED
)

TRIL = np.tri(4, dtype=bool)
NEVER_EMPTY = {
    "causal": (CAUSAL + BOOLEAN, lambda flag, bias, ids: TRIL),
    "filled": (CAUSAL + FILLED, lambda flag, bias, ids: np.where(TRIL, 0, -np.inf)),
    "either": (CAUSAL + EITHER, lambda flag, bias, ids: TRIL | flag),
    "triangle": (TRIANGLE.replace("DIAGONAL", "%1"), lambda flag, bias, ids: np.where(TRIL, 0, -np.inf)),
    "padding": (PADDING.replace("LEAST", "%least"), lambda flag, bias, ids: np.where(flag, 0, -3.4e38)),
    "table": (TABLE.replace("NUMBER", "-0.4"), None),
    "learnt": (CAUSAL + LEARNT, lambda flag, bias, ids: np.where(TRIL, 1 / (1 + np.exp(-bias)), -np.inf)),
}
MAY_BE_EMPTY = {
    "strict": (STRICT + BOOLEAN, lambda flag, bias, ids: TRIL & ~np.eye(4, dtype=bool)),
    "both": (CAUSAL + BOTH, lambda flag, bias, ids: TRIL & flag),
    "diagonal": (
        TRIANGLE.replace("DIAGONAL", "%0"),
        lambda flag, bias, ids: np.where(TRIL & ~np.eye(4, dtype=bool), 0, -np.inf),
    ),
    "padding": (PADDING.replace("LEAST", "%inf"), None),
    "table": (TABLE.replace("NUMBER", "0xFF800000"), None),
    "argument": (SQUARED.replace("%whole", "%bias"), lambda flag, bias, ids: bias),
}


def _program(mask: str) -> str:
    element = "i1" if mask.rstrip().endswith("i1>") else "f32"
    return HEAD + mask + TAIL.replace("MASK", f"!torch.vtensor<[1,1,4,4],{element}>")


@cache
def _read(text: str) -> tuple[Bounds, bool]:
    """The bounds of the mask, and whether the remedy is for it."""
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        for op in module.body.operations[0].regions[0].blocks[0].operations:
            if op.operation.name == "torch.aten.scaled_dot_product_attention":
                return TorchBounds().of(op.operands[3]), ClearMaskedRows().fits(op.operation)
    raise AssertionError(text)


@pytest.mark.parametrize("name", NEVER_EMPTY)
def test_rows_of_which_something_is_left(name):
    assert not _read(_program(NEVER_EMPTY[name][0]))[1]


@pytest.mark.parametrize("name", MAY_BE_EMPTY)
def test_rows_of_which_nothing_may_be_left(name):
    assert _read(_program(MAY_BE_EMPTY[name][0]))[1]


@pytest.mark.parametrize(
    "mask, reference",
    [pair for table in (NEVER_EMPTY, MAY_BE_EMPTY) for pair in table.values() if pair[1] is not None],
)
@given(flag=st.lists(st.booleans(), min_size=4, max_size=4), seed=st.integers(0, 99))
def test_they_hold(mask, reference, flag, seed):
    found, _fits = _read(_program(mask))
    bias = np.random.default_rng(seed).standard_normal((4, 4)) * 9
    numbers = np.broadcast_to(reference(np.array(flag), bias, None), (1, 1, 4, 4)).astype(float)
    assert (found.low <= numbers).all() and (numbers <= found.high).all()


FINITE = st.sampled_from([-math.inf, -300.0, -2.0, -0.5, 0.0, 0.25, 1.0, 7.0, math.inf])


@given(ends=st.tuples(FINITE, FINITE, FINITE, FINITE), parts=st.tuples(*[st.floats(0, 1)] * 2))
def test_arithmetic_of_bounds(ends, parts):
    pairs = sorted(ends[:2]), sorted(ends[2:])
    numbers = []
    for (low, high), part in zip(pairs, parts, strict=True):
        low, high = max(low, -1e6), min(high, 1e6)
        numbers.append(min(max(low + part * (high - low), low), high) if low <= high else low)
    left, right = (Bounds.of(*pair) for pair in pairs)
    a, b = (min(max(number, pair[0]), pair[1]) for number, pair in zip(numbers, pairs, strict=True))
    if math.isinf(a) or math.isinf(b):
        return
    for made, number in ((left + right, a + b), (left * right, a * b), (-left, -a)):
        known = made.of_type("f64")
        assert known.low <= number + 1e-6 and number - 1e-6 <= known.high
    operators = {"eq": a == b, "ne": a != b, "ge": a >= b, "gt": a > b, "le": a <= b, "lt": a < b}
    assert set(operators) == set(COMPARISONS)
    for name, holds in operators.items():
        truth = compared(name, left, right)
        assert truth.low <= holds <= truth.high


def test_numbers_that_a_type_does_not_hold():
    assert Bounds.of(-3.4e38, 0).of_type("f16").low == -math.inf
    assert Bounds.of(-3.4e38, 0).of_type("f32").low == -3.4e38
    assert Bounds.of(-1, 5).of_type("ui8") == Bounds.of(-math.inf, math.inf)
    assert Bounds.of(-1, 5).of_type("si8") == Bounds.of(-1, 5)
    for unread in ("f8E4M3FN", "complex<f32>", "!torch.qint8"):
        assert Bounds.of(-1, 5).of_type(unread) == Bounds.of(-math.inf, math.inf)


@pytest.mark.parametrize("name", ["causal", "table"])
def test_such_a_program_is_stocks(tmp_path, name):
    (tmp_path / "main.mlir").write_text(_program(NEVER_EMPTY[name][0]))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS219" not in [one.code for one in report.findings]
    if name == "causal":
        assert compile_stock(tmp_path / "main.mlir", tmp_path / "stock.vmfb", CPU) is None
        assert (tmp_path / "stock.vmfb").read_bytes() == (tmp_path / "out.vmfb").read_bytes()


def test_a_computed_mask_with_an_empty_row_is_repaired(tmp_path):
    for name in ("main.mlir", "entered.mlir"):
        (tmp_path / name).write_text(_program(MAY_BE_EMPTY["strict"][0]))
    report = fissile.compile(tmp_path / "main.mlir", tmp_path / "out.vmfb", [*CPU])
    assert "FIS219" in [one.code for one in report.findings]
    query = np.random.default_rng(0).standard_normal((1, 2, 4, 8)).astype(np.float32)
    answers = all_computed(
        tmp_path, query, np.ones(4, bool), np.zeros((4, 4), np.float32), np.zeros(4, np.int64)
    )
    assert (answers[0][:, :, 0] == 0).all() and np.isfinite(answers[0]).all()
