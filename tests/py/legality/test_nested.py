"""Refused ops in loops and in functions that others call: each is found once, and nothing around it."""

from __future__ import annotations

from test_audit import audit, lines_of

LOOP = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> (tensor<4xf32>) {
    %b = stablehlo.custom_call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""
CALLED = """
func.func private @callee(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @there(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @callee(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @callee(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def found_in(tmp_path, text):
    status, findings = audit(tmp_path, text)
    return status, {(f["code"], f["subject"]): lines_of(f) for f in findings}


def test_a_loop_is_not_to_blame_for_what_is_in_it(tmp_path):
    assert found_in(tmp_path, LOOP) == (1, {("FIS407", "stablehlo.custom_call"): [7]})


def test_ops_in_a_function_that_others_call_are_found_once_and_its_callers_are_not_to_blame(tmp_path):
    planted = {("FIS406", "foo.bar"): [3], ("FIS407", "stablehlo.custom_call"): [4]}
    assert found_in(tmp_path, CALLED) == (1, planted)


def test_the_same_loop_and_calls_without_them_have_no_finding(tmp_path):
    healthy = "stablehlo.negate %{0} : tensor<4xf32>"
    loop = LOOP.replace(
        "stablehlo.custom_call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>", healthy.format("x")
    )
    calls = CALLED.replace(
        "stablehlo.custom_call @there(%0) : (tensor<4xf32>) -> tensor<4xf32>", healthy.format(0)
    ).replace('"foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>', healthy.format("a"))
    for text in (loop, calls):
        assert "custom_call" not in text and "foo" not in text
        assert found_in(tmp_path, text) == (0, {})
