"""What each op must keep to, and what is decided about it: every case with a twin that is proved."""

from __future__ import annotations

import pytest
from fissile.passes.analysis.conditions import symbols
from fissile.passes.analysis.obligations import collect
from fissile.passes.checks.storage_fit import contract_of, findings_of, judge_storage
from fissile.pipelines.guard import guard
from fissile.pipelines.session import Session
from fissile.verdict import Answer
from storage_cases import CASES


@pytest.fixture(scope="module")
def session():
    with Session(
        ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    ) as opened:
        yield opened


CONSTANTS = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 3, 4, 8, 10, 16, 64))


def judge(session, arguments: str, body: str):
    """The report of one function that returns nothing."""
    text = (
        f"func.func @f({arguments}) {{\n{CONSTANTS}  %cst = arith.constant 0.0 : f32\n{body}\n  return\n}}\n"
    )
    module = session.parse_text(text)
    return module, judge_storage(module.op)


def unproved(report) -> list[str]:
    return [j.obligation.kind for j in report.judged if j.answer is not Answer.PROVED]


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
    sort = (
        "%r = iree_linalg_ext.sort dimension(0) outs(%x : {0}) {{\n^bb0(%a: f32, %b: f32):\n"
        "%c = arith.cmpf ogt, %a, %b : f32\niree_linalg_ext.yield %c : i1\n}} -> {0}"
    )
    _, report = judge(session, "%x: tensor<?xf32>", sort.format("tensor<?xf32>"))
    assert list(report.uncovered) == ["iree_linalg_ext.sort"]
    _, report = judge(session, "%x: tensor<8xf32>", sort.format("tensor<8xf32>"))
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


GUARDED = """%b = arith.cmpi sle, %n, %c4 : index
%a = arith.cmpi sge, %n, %c0 : index
%both = arith.andi %a, %b : i1
{around}"""
READ = "%r = tensor.extract_slice %x[0] [%n] [1] : tensor<4xf32> to tensor<?xf32>"


@pytest.mark.parametrize(
    ("fact", "trusted", "proved"),
    [
        (f'cf.assert %both, "small"\n{READ}', True, True),
        (f'cf.assert %both, "small"\n{READ}', False, False),
        (f'{READ}\ncf.assert %both, "too late"', True, False),
        (f"scf.if %both {{\n{READ}\n}}", True, True),
        (f"scf.if %both {{\n}} else {{\n{READ}\n}}", True, False),
        (f"scf.if %b {{\n{READ}\n}}", True, False),
        (f"scf.if %both {{\n}}\n{READ}", True, False),
    ],
)
def test_what_holds_where_the_op_runs_is_a_fact(session, fact, trusted, proved):
    text = f"func.func @f(%x: tensor<4xf32>, %n: index) {{\n{CONSTANTS}{GUARDED.format(around=fact)}\n  return\n}}\n"
    module = session.parse_text(text)
    report = judge_storage(module.op, trust_asserts=trusted)
    assert (not unproved(report)) == proved


def test_an_assumption_is_a_fact(session):
    body = "%n = util.assume.int %m<umin = 1, umax = 4> : index\n" + READ
    _, report = judge(session, "%x: tensor<4xf32>, %m: index", body)
    assert not unproved(report)
    _, report = judge(session, "%x: tensor<4xf32>, %m: index", body.replace("umax = 4", "umax = 5"))
    assert unproved(report)


def test_what_one_op_asks_for_is_a_fact_for_the_next(session):
    _, report = judge(session, "%x: tensor<4xf32>, %n: index", READ + "\n" + READ.replace("%r", "%q"))
    assert unproved(report) == ["tensor.extract_slice"]


def test_a_branch_that_always_fails_is_no_error_of_the_program(session):
    bad = "%q = tensor.extract_slice %x[%c4] [2] [1] : tensor<4xf32> to tensor<2xf32>"
    _, report = judge(session, "%x: tensor<4xf32>, %b: i1", f"scf.if %b {{\n{bad}\n}}")
    assert not report.having(Answer.REFUTED) and len(report.having(Answer.UNKNOWN)) == 1
    _, report = judge(session, "%x: tensor<4xf32>, %b: i1", bad)
    assert len(report.having(Answer.REFUTED)) == 1


def test_a_loop_keeps_the_shape_that_it_is_given(session):
    body = """%d = tensor.dim %x, %c0 : tensor<?xf32>
%t = scf.for %i = %c0 to %d step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
  %w = tensor.insert %cst into %a[%i] : tensor<?xf32>
  scf.yield %w : tensor<?xf32>
}
%r = tensor.extract_slice %t[0] [%d] [1] : tensor<?xf32> to tensor<?xf32>"""
    _, report = judge(session, "%x: tensor<?xf32>", body)
    assert not unproved(report)


def test_a_tile_loop_with_a_short_last_tile_is_proved(session):
    body = """%d = tensor.dim %x, %c0 : tensor<?xf32>
scf.for %i = %c0 to %d step %c4 {
  %left = arith.subi %d, %i : index
  %n = arith.minsi %left, %c4 : index
  %r = tensor.extract_slice %x[%i] [%n] [1] : tensor<?xf32> to tensor<?xf32>
}"""
    _, report = judge(session, "%x: tensor<?xf32>", body)
    assert not unproved(report)
    _, report = judge(
        session,
        "%x: tensor<?xf32>",
        body.replace("[%n]", "[4]").replace("to tensor<?xf32>\n}", "to tensor<4xf32>\n}"),
    )
    assert unproved(report)


PRIVATE = """func.func {visibility} @inner(%x: tensor<8xf32>, %n: index) {{
  %r = tensor.extract_slice %x[0] [%n] [1] : tensor<8xf32> to tensor<?xf32>
  return
}}
func.func @f(%x: tensor<8xf32>, %m: index) {{
  %a = arith.constant 4 : index
  %b = arith.constant {second} : index
  call @inner(%x, %a) : (tensor<8xf32>, index) -> ()
  call @inner(%x, {argument}) : (tensor<8xf32>, index) -> ()
  return
}}
"""


@pytest.mark.parametrize(
    ("visibility", "second", "argument", "proved"),
    [
        ("private", 8, "%b", True),
        ("private", 9, "%b", False),
        ("private", 8, "%m", False),
        ("", 8, "%b", False),
    ],
)
def test_what_all_calls_of_a_private_function_pass_is_a_fact(session, visibility, second, argument, proved):
    module = session.parse_text(PRIVATE.format(visibility=visibility, second=second, argument=argument))
    assert (not unproved(judge_storage(module.op))) == proved


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
            "tensor.extract_slice reads argument 1 elements from 0 on in dimension 0; its source has dim 0 of argument 0",
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
    from fissile.pipelines.guard import guard
    from fissile.pipelines.session import Session

    session = Session()

    def told(body: str) -> list[str]:
        module = session.parse_text(f"func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {{\n{body}\n}}")
        return [f.message for f in guard(module.op, "check").findings]

    (message,) = told("  %r = arith.addf %a, %b : tensor<?xf32>\n  return %r : tensor<?xf32>")
    assert "argument 1" in message and "argument 0" in message
    assert told("  %r = arith.addf %a, %a : tensor<?xf32>\n  return %r : tensor<?xf32>") == []
    assert told("  %s = math.exp %a : tensor<?xf32>\n  %r = arith.mulf %s, %a : tensor<?xf32>\n"
                "  return %r : tensor<?xf32>") == []
