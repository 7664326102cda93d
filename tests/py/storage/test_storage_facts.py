"""What a program makes sure of where an op runs, and what the proof of its sizes takes from that."""

from __future__ import annotations

import pytest
from storage_judged import CONSTANTS, READ, judge, unproved

from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.pipelines.session import Session
from fissile.verdict import Answer


@pytest.fixture(scope="module")
def session():
    with Session(
        ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    ) as opened:
        yield opened


GUARDED = """%b = arith.cmpi sle, %n, %c4 : index
%a = arith.cmpi sge, %n, %c0 : index
%both = arith.andi %a, %b : i1
{around}"""


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


@pytest.mark.parametrize(
    ("cast", "start", "proved"),
    [
        ("arith.extui", -4, True),
        ("arith.extui", -5, False),
        ("arith.index_castui", -4, True),
        ("arith.extsi", -4, False),
        ("arith.index_cast", 0, True),
        ("arith.index_cast", -1, False),
    ],
)
def test_a_condition_is_1_or_less_than_0_as_a_number(session, cast, start, proved):
    """An index from the end, as the import writes it: 4 more where it is less than 0, here in a loop; signed it is 4 less."""
    wide = "index" if "index" in cast else "i64"
    bodies = f"""%start = arith.constant {start} : index
scf.for %i = %start to %c4 step %c1 {{
  %below = arith.cmpi slt, %i, %c0 : index
  %one = {cast} %below : i1 to {wide}
  {"%number = arith.index_cast %one : i64 to index" if wide == "i64" else "%number = arith.addi %one, %c0 : index"}
  %more = arith.muli %number, %c4 : index
  %at = arith.addi %i, %more : index
  %q = tensor.extract_slice %x[%at] [1] [1] : tensor<4xf32> to tensor<1xf32>
}}"""
    _, report = judge(session, "%x: tensor<4xf32>", bodies)
    assert (not unproved(report)) == proved


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


WHILE = """%k, %r = scf.while (%i = %c0, %a = %c0) : (index, index) -> (index, index) {{
  %p = arith.cmpi {below}, %i, %n : index
  scf.condition(%p) %i, %a : index, index
}} do {{
^bb0(%i: index, %a: index):
  %s = tensor.extract_slice %x[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
  %j = arith.addi %i, %c{step} : index
  scf.yield %j, %a : index, index
}}"""


@pytest.mark.parametrize(
    ("below", "step", "proved"),
    [("slt", 1, True), ("ult", 1, True), ("sle", 1, False), ("slt", 4, True), ("ne", 1, False)],
)
def test_what_a_while_has_tested_is_a_fact(session, below, step, proved):
    body = "%n = tensor.dim %x, %c0 : tensor<?xf32>\n" + WHILE.format(below=below, step=step)
    _, report = judge(session, "%x: tensor<?xf32>", body)
    assert (not unproved(report)) == proved


def test_a_call_gives_back_the_shape_that_its_function_makes(session):
    text = """func.func private @grown(%x: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %r = tensor.pad %x low[0] high[2] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %cK = arith.constant K : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %y = call @grown(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %m = arith.addi %n, %cK : index
  %r = tensor.extract_slice %y[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}"""
    for more, proved in ((2, True), (3, False)):
        module = session.parse_text(text.replace("K", str(more)))
        assert (not unproved(judge_storage(module.op))) == proved
