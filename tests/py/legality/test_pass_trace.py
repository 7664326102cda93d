"""Which pass handles an op, and which one drops an op with an effect: read from what IREE prints, and from IREE itself."""

from __future__ import annotations

import json

import pytest
from programs import run_program

from fissile.passes.analysis.legality.pass_trace import read_trace

PRINTED = """\
// -----// IR Dump After First: first ('builtin.module' operation) //----- //
  %0 = a.one %x : f32
  %1 = a.two %0 : f32
  cf.assert %c, "kept"
  cf.assert %d, "stripped"
  cf.assert %e, "proved"
// -----// IR Dump After Second: second{a=1} ('func.func' operation: @f) //----- //
  %1 = a.two.three %0 : f32
  cf.assert %c, "kept"
  cf.assert %e, "proved"
// -----// IR Dump After CanonicalizerPass: canonicalize ('func.func' operation: @f) //----- //
  vm.cond_fail %c, "kept"
"""
EFFECTS = ['"kept"', '"stripped"', '"proved"']


def test_an_op_is_handled_by_the_first_pass_after_which_it_is_gone():
    trace = read_trace(PRINTED.splitlines(), ["a.one", "a.two", "a.two.three", "a.never"], [])
    assert trace.handled == {
        "a.one": "second",
        "a.two": "second",
        "a.two.three": "canonicalize",
        "a.never": "first",
    }


def test_an_effect_is_dropped_where_its_text_vanishes_and_nothing_was_proved():
    trace = read_trace(PRINTED.splitlines(), [], EFFECTS)
    assert trace.dropped == {'"stripped"': "second"} and trace.complete


def test_a_pass_that_fails_leaves_the_trace_incomplete():
    text = PRINTED + "// -----// IR Dump After Third Failed: third ('builtin.module' operation) //----- //\n"
    assert not read_trace(text.splitlines(), [], EFFECTS).complete


PROGRAM = """
func.func @main(%a: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c4 = arith.constant 4 : index
  %ok = arith.cmpi ule, %n, %c4 : index
  cf.assert %ok, "n is at most 4"
  %1 = stablehlo.abs %a : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%1 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.constant 1.0 : f32
    %p = arith.cmpf oge, %x, %z : f32
    cf.assert %p, "at least 1"
    %s = math.sqrt %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("words", "severity", "status"), [([], "warning", 0), (["--strict"], "error", 1)])
def test_an_assertion_in_a_dispatch_is_dropped_and_one_in_the_function_is_not(
    tmp_path, words, severity, status
):
    (tmp_path / "model.mlir").write_text(PROGRAM)
    done = run_program(
        ["fissile", "audit", tmp_path / "model.mlir", "--target=llvm-cpu", "--format=json", "-v", *words],
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    report = json.loads(done.stdout)
    [finding] = report["findings"]
    assert (finding["code"], finding["severity"], finding["subject"]) == ("FIS413", severity, "cf.assert")
    assert finding["places"][0]["line"] == 13 and '"at least 1" in linalg.generic' in finding["message"]
    assert "iree-util-strip-debug-ops" in finding["message"]
    [target] = report["facts"]["audit"]
    handled = {row["op"]: (row["count"], row["pass"]) for row in target["handled"]}
    assert handled["stablehlo.abs"] == (1, "iree-stablehlo-to-iree-input")
    assert handled["cf.assert"][0] == 2 and handled["math.sqrt"][0] == 1
