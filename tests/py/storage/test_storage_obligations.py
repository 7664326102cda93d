"""What each op must keep to, and what is decided about it: every case with a twin that is proved."""

from __future__ import annotations

import pytest
from storage_cases import CASES
from storage_judged import READ, judge, unproved

from fissile.passes.analysis.bounds.conditions import symbols
from fissile.passes.analysis.storage.obligations import collect
from fissile.passes.checks.storage.storage_fit import contract_of, findings_of
from fissile.pipelines.compile.hooks.guard import guard
from fissile.pipelines.session import Session
from fissile.verdict import Answer


@pytest.fixture(scope="module")
def session():
    with Session(
        ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    ) as opened:
        yield opened


@pytest.mark.parametrize("kind", CASES)
def test_an_op_that_may_not_fit_is_not_proved(session, kind):
    arguments, body, _, _ = CASES[kind]
    module, report = judge(session, arguments, body)
    assert kind in unproved(report), module.text()
    assert not report.uncovered


@pytest.mark.parametrize("kind", CASES)
def test_its_twin_that_fits_is_proved(session, kind):
    _, _, arguments, body = CASES[kind]
    _, report = judge(session, arguments, body)
    assert not unproved(report), [j.sentence for j in report.judged if j.answer is not Answer.PROVED]
    assert not report.uncovered


def test_the_indices_of_a_scatter_are_never_taken_on_trust(session):
    _, report = judge(
        session,
        "%u: tensor<4xf32>, %i: tensor<4x1xi32>, %z: tensor<?xf32>",
        "%r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) "
        "ins(%u, %i : tensor<4xf32>, tensor<4x1xi32>) outs(%z : tensor<?xf32>) {\n"
        "^bb0(%a: f32, %b: f32):\niree_linalg_ext.yield %a : f32\n} -> tensor<?xf32>",
    )
    assert unproved(report) == ["iree_linalg_ext.scatter"]


def test_a_structured_op_without_maps_is_told_only_with_dynamic_shapes(session):
    pack = "%r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %y : {0} -> {1}"
    _, report = judge(
        session, "%x: tensor<?xf32>, %y: tensor<?x2xf32>", pack.format("tensor<?xf32>", "tensor<?x2xf32>")
    )
    assert list(report.uncovered) == ["linalg.pack"]
    (finding,) = findings_of(report, asserted=True)
    assert finding.code == "FIS204"
    _, report = judge(
        session, "%x: tensor<4xf32>, %y: tensor<2x2xf32>", pack.format("tensor<4xf32>", "tensor<2x2xf32>")
    )
    assert not report.uncovered


@pytest.mark.parametrize(("out", "proved"), [("%x", True), ("%y", False)])
def test_a_softmax_has_one_shape(session, out, proved):
    _, report = judge(
        session,
        "%x: tensor<?x?xf32>, %y: tensor<?x?xf32>",
        f"%r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs({out} : tensor<?x?xf32>) "
        "-> tensor<?x?xf32>",
    )
    assert (not unproved(report)) == proved and not report.uncovered


def test_what_stands_in_a_dispatch_region_is_asserted_before_it(session):
    text = """func.func @f(%x: tensor<8xf32>, %n: index) -> tensor<?xf32> {
  %r = flow.dispatch.region -> (tensor<?xf32>{%n}) {
    %s = tensor.extract_slice %x[0] [%n] [1] : tensor<8xf32> to tensor<?xf32>
    flow.return %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
"""
    module = session.parse_text(text)
    result = guard(module.op)
    asm = module.text()
    assert [f.code for f in result.findings] == ["FIS202"] and asm.index("cf.assert") < asm.index(
        "flow.dispatch.region"
    )


def test_a_size_that_never_fits_is_refuted_with_the_sizes(session):
    _, report = judge(
        session,
        "%x: tensor<4xf32>, %n: index",
        "%m = arith.maxsi %n, %c8 : index\n"
        "%r = tensor.extract_slice %x[0] [%m] [1] : tensor<4xf32> to tensor<?xf32>",
    )
    (finding,) = [f for f in findings_of(report, asserted=True) if f.code == "FIS201"]
    assert (
        finding.subject == "@f"
        and "reads max(8, " in finding.message
        and "its source has 4" in finding.message
    )
    (judged,) = report.having(Answer.REFUTED)
    assert judged.decision.values


def test_a_constant_slice_that_never_fits_is_refuted_without_a_solver(session):
    _, report = judge(
        session,
        "%x: tensor<?xf32>",
        "%a = tensor.extract_slice %x[0] [4] [1] : tensor<?xf32> to tensor<4xf32>\n"
        "%n = arith.addi %c4, %c1 : index\n"
        "%r = tensor.extract_slice %a[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>",
    )
    (judged,) = report.having(Answer.REFUTED)
    assert judged.decision.verdict.tier == "constants"


def test_an_op_that_no_rule_knows_is_told_only_with_dynamic_shapes(session):
    op = '"unknown.op"(%x) : ({0}) -> ({0})'
    session.context.allow_unregistered_dialects = True
    _, report = judge(session, "%x: tensor<?xf32>", op.format("tensor<?xf32>"))
    assert [f.code for f in findings_of(report, asserted=True)] == ["FIS204"]
    _, report = judge(session, "%x: tensor<4xf32>", op.format("tensor<4xf32>"))
    assert not findings_of(report, asserted=True)


def test_the_contract_lists_what_is_unproved_once(session):
    _, report = judge(
        session,
        "%x: tensor<?xf32>, %n: index",
        READ.replace("4xf32", "?xf32") + "\n" + READ.replace("%r", "%q").replace("4xf32", "?xf32"),
    )
    assert contract_of(report) == {
        "f": (
            "tensor.extract_slice reads (argument 1) elements from 0 on in dimension 0; they must be inside argument 0",
        )
    }


def test_collecting_leaves_the_module_alone(session):
    module, _ = judge(session, "%x: tensor<?xf32>, %n: index", READ.replace("4xf32", "?xf32"))
    before = module.text(locations=True)
    collected = collect(module.op)
    assert collected.obligations and all(symbols(o.condition) for o in collected.obligations)
    assert module.text(locations=True) == before


def test_elementwise_ops_on_tensors_keep_a_shape_and_ask_for_one():
    """`arith.addf` on tensors: the result has the operands' size, and two dynamic operands must have one."""
    session = Session()

    def reported(body: str) -> list[str]:
        module = session.parse_text(
            f"func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {{\n{body}\n}}"
        )
        return [f.message for f in guard(module.op, "check").findings]

    (message,) = reported("  %r = arith.addf %a, %b : tensor<?xf32>\n  return %r : tensor<?xf32>")
    assert "argument 1" in message and "argument 0" in message
    assert reported("  %r = arith.addf %a, %a : tensor<?xf32>\n  return %r : tensor<?xf32>") == []
    assert (
        reported(
            "  %s = math.exp %a : tensor<?xf32>\n  %r = arith.mulf %s, %a : tensor<?xf32>\n"
            "  return %r : tensor<?xf32>"
        )
        == []
    )
