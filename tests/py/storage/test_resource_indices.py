"""Indices in a constant whose elements stand in a resource of the module, as an exporter of PyTorch writes every tensor."""

from __future__ import annotations

import numpy as np
import pytest

from fissile.passes.analysis.bounds import constant_elements
from fissile.passes.analysis.bounds.constant_elements import array_of
from fissile.pipelines.compile.hooks.guard import guard
from fissile.pipelines.session import Session


def _program(indices: list[int], element: str = "i64") -> str:
    data = np.array(indices, {"i64": "<i8", "i32": "<i4", "i8": "i1"}[element]).tobytes().hex()
    count = len(indices)
    return f"""
func.func @main(%x: tensor<8xf32>) -> tensor<{count}xf32> {{
  %at = arith.constant dense_resource<at> : tensor<{count}x{element}>
  %e = tensor.empty() : tensor<{count}xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%at : tensor<{count}x{element}>) outs(%e : tensor<{count}xf32>) {{
  ^bb0(%i: {element}, %o: f32):
    %n = arith.index_cast %i : {element} to index
    %v = tensor.extract %x[%n] : tensor<8xf32>
    linalg.yield %v : f32
  }} -> tensor<{count}xf32>
  return %r : tensor<{count}xf32>
}}
{{-# dialect_resources: {{ builtin: {{ at: "0x08000000{data}" }} }} #-}}
"""


def _codes(text: str) -> list[str]:
    return [one.code for one in guard(Session().parse_text(text).op).findings]


@pytest.mark.parametrize("element", ["i64", "i32", "i8"])
def test_indices_inside_need_no_check_and_others_have_one(element):
    assert _codes(_program([0, 7, 3, 3], element)) == []
    assert _codes(_program([0, 8, 3, 3], element)) == ["FIS202"]
    assert _codes(_program([0, -1, 3, 3], element)) == ["FIS202"]


def _global(indices: list[int], mutable: str = "", more: str = "") -> str:
    text = _program(indices).replace(
        "%at = arith.constant dense_resource<at> :", "%at = util.global.load @at :"
    )
    count = len(indices)
    return f"util.global private {mutable} @at = dense_resource<at> : tensor<{count}xi64>\n{more}{text}"


STORED = """
util.initializer {
  %c = arith.constant dense<9> : tensor<4xi64>
  util.global.store %c, @at : tensor<4xi64>
  util.return
}
"""


def test_indices_in_a_global_that_never_changes_are_read():
    assert _codes(_global([0, 7, 3, 3])) == []
    assert _codes(_global([0, 8, 3, 3])) == ["FIS202"]
    assert _codes(_global([0, 7, 3, 3], "mutable")) == ["FIS202"]
    assert _codes(_global([0, 7, 3, 3], more=STORED)) == ["FIS202"]


def test_a_large_one_is_checked_when_it_runs(monkeypatch):
    monkeypatch.setattr(constant_elements, "LARGEST_RESOURCE", 31)
    assert _codes(_program([0, 7, 3, 3])) == ["FIS202"]


@pytest.mark.parametrize(
    ("element", "numbers"),
    [
        ("f32", [0.5, -2.0]),
        ("f16", [0.5, -2.0]),
        ("i16", [-3, 300]),
        ("i1", [True, False]),
        ("index", [1, 1 << 40]),
    ],
)
def test_elements_are_read_as_their_type(element, numbers):
    dtype = {"f32": "<f4", "f16": "<f2", "i16": "<i2", "i1": "?", "index": "<i8"}[element]
    held = np.array(numbers, dtype)
    text = (
        f"func.func @f() -> tensor<2x{element}> {{\n  %0 = arith.constant dense_resource<at> : tensor<2x{element}>\n  return %0 : tensor<2x{element}>\n}}\n"
        f'{{-# dialect_resources: {{ builtin: {{ at: "0x08000000{held.tobytes().hex()}" }} }} #-}}'
    )
    module = Session().parse_text(text).op
    constant = module.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations[0].operation
    found = array_of(constant)
    assert found is not None and found.tolist() == numbers


_SCATTERED = """
func.func @main(%k: tensor<6x1xi64>, %x: tensor<6xf32>, %y: tensor<ROWSx4xf32>) -> tensor<ROWSx4xf32> {
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %e = tensor.empty() : tensor<6x1xi64>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<6x1xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %r = arith.remui %i, %c3 : index
    %n = arith.index_cast %r : index to i64
    linalg.yield %n : i64
  } -> tensor<6x1xi64>
  %columns = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%k : tensor<6x1xi64>) outs(%e : tensor<6x1xi64>) {
  ^bb0(%n: i64, %o: i64):
    %m = arith.remui %n, %four : i64
    linalg.yield %m : i64
  } -> tensor<6x1xi64>
  %both = tensor.empty() : tensor<6x2xi64>
  %f = linalg.fill ins(%zero : i64) outs(%both : tensor<6x2xi64>) -> tensor<6x2xi64>
  %one = tensor.insert_slice %rows into %f[0, 0] [6, 1] [1, 1] : tensor<6x1xi64> into tensor<6x2xi64>
  %two = tensor.insert_slice %columns into %one[0, 1] [6, 1] [1, 1] : tensor<6x1xi64> into tensor<6x2xi64>
  %s = iree_linalg_ext.scatter dimension_map = [0, 1] unique_indices(false) ins(%x, %two : tensor<6xf32>, tensor<6x2xi64>) outs(%y : tensor<ROWSx4xf32>) {
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  } -> tensor<ROWSx4xf32>
  return %s : tensor<ROWSx4xf32>
}
"""


@pytest.mark.parametrize("rows, codes", [(3, []), (2, ["FIS202"])])
def test_a_position_in_the_last_dimension_tells_which_slice_it_is(rows, codes):
    """Rows are below 3 and columns below 4, and both stand in one tensor of indices."""
    assert _codes(_SCATTERED.replace("ROWS", str(rows))) == codes
