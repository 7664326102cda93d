"""Loops and branches with tensors among their results, and ops that make tensors: stock IREE crashes on them or refuses them; written otherwise they compute what they say."""

from __future__ import annotations

import json
from pathlib import Path

import built
import numpy as np
import pytest

from bench.programs.text.spelling import spelled
from fissile.cli.main import main
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.pipelines.compile.hooks.front_end import has_refused_ops
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_source
from fissile.pipelines.session import Session
from fissile.verdict import Answer

PROGRAM = spelled((Path(__file__).parent / "refused_on_the_host.mlir").read_text())
FOLDED = """
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %i = arith.constant 3 : index
  %r = scf.index_switch %i -> tensor<4xf32>
  case 0 { scf.yield %a : tensor<4xf32> }
  case 3 { scf.yield %b : tensor<4xf32> }
  default { scf.yield %a : tensor<4xf32> }
  return %r : tensor<4xf32>
}
"""
X = np.arange(8, dtype=np.float32) + 1


def test_each_kind_is_repaired_and_computes_what_it_says(tmp_path):
    source, output, report = tmp_path / "main.mlir", tmp_path / "out.vmfb", tmp_path / "report.json"
    source.write_text(PROGRAM)
    words = [
        "compile",
        str(source),
        *built.CPU,
        "-o",
        str(output),
        "--format=json",
        f"--report-file={report}",
    ]
    assert main(words) == 0
    findings = json.loads(report.read_text())["findings"]
    repaired = [f for f in findings if f["severity"] == "repaired"]
    assert {f["severity"] for f in findings} <= {"repaired", "note"}, findings
    assert {f["subject"] for f in repaired if f["code"] == "FIS421" and f["stock"]} == {
        "affine.for", "affine.if", "affine.parallel", "scf.forall", "scf.index_switch", "scf.parallel",
        "tensor.generate", "tensor.pad", "tensor.splat",
    }  # fmt: skip
    [runtime] = runtimes.named(["local-task"])
    signatures = signatures_of_source(source)

    def computed(function, *inputs):
        answer = runtimes.run(output, signatures[function], list(inputs), runtime)
        assert isinstance(answer, list), answer
        return answer[0]

    for selector, wanted in ((0, X + X), (3, X), (7, X * X), (1, X * X)):
        assert np.array_equal(computed("switch", np.array(selector, np.int32), X), wanted)
    # A thread reads the output as it was before the loop, whatever others have written.
    assert np.array_equal(computed("threads", X), np.tile(X[:4], 2) + X)
    assert np.array_equal(computed("reduction", X), 4 * X)
    assert np.array_equal(computed("affine_loop", X), 9 * X)
    assert np.array_equal(computed("affine_branch", np.array(0, np.int32), X), X)
    assert np.array_equal(computed("affine_branch", np.array(2, np.int32), X), X + X)
    assert computed("affine_reduction", X) == X.sum()
    three = np.array(3, np.int32)
    assert np.array_equal(computed("same_everywhere", three, np.array(2.5, np.float32)), np.full((3, 3), 2.5))
    places = 10 * np.arange(5)[:, None] + np.arange(4)
    assert np.array_equal(computed("by_place", three), places[:3])
    places[3:4, 1:3] = [[-1, -2]]
    assert np.array_equal(computed("border_by_place", np.array([[-1, -2]], np.int32), three), places)
    assert np.array_equal(computed("beside_a_dispatch", X[:4]), np.float32([1, 1, 6, 8]))


def test_what_iree_folds_away_is_none_of_it():
    session = Session(built.CPU)
    assert not has_refused_ops(session.parse_text(FOLDED))
    assert has_refused_ops(session.parse_text(PROGRAM))


@pytest.mark.parametrize(
    ("loop", "inside"),
    [
        ("affine.for %i = 0 to 8 {", True),
        ("affine.for %i = 0 to 9 {", False),
        (
            "affine.for %i = max affine_map<(d0) -> (d0, 0)>(%n) to min affine_map<(d0) -> (d0, 8)>(%n) {",
            True,
        ),
        ("scf.parallel (%j, %i) = (%zero, %zero) to (%n, %eight) step (%one, %one) {", True),
        ("scf.parallel (%i, %j) = (%zero, %zero) to (%n, %eight) step (%one, %one) {", False),
        ("scf.forall (%i) in (8) {", True),
    ],
)
def test_the_index_of_a_loop_is_between_its_bounds(loop, inside):
    session = Session(built.CPU)
    module = session.parse_text(f"""
func.func private @use(f32)
func.func @f(%x: tensor<8xf32>, %n: index) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  {loop}
    %v = tensor.extract %x[%i] : tensor<8xf32>
    func.call @use(%v) : (f32) -> ()
    {"scf.reduce" if "parallel" in loop else ""}
  }}
  return
}}
""")
    reads = [one for one in judge_storage(module.op).judged if one.obligation.kind == "tensor.extract"]
    assert reads and all(one.answer is Answer.PROVED for one in reads) == inside
