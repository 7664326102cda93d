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
    pack = "%r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [2] into %y : {0} -> {1}"
    _, report = judge(session, "%x: tensor<?xf32>, %y: tensor<?x2xf32>", pack.format("tensor<?xf32>", "tensor<?x2xf32>"))
    assert list(report.uncovered) == ["linalg.pack"]
    (finding,) = findings_of(report, asserted=True)
    assert finding.code == "FIS204"
    _, report = judge(session, "%x: tensor<4xf32>, %y: tensor<2x2xf32>", pack.format("tensor<4xf32>", "tensor<2x2xf32>"))
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
            "tensor.extract_slice reads argument 1 elements from 0 on in dimension 0; its source has (the length of argument 0)",
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


IOTA = """%e8 = tensor.empty() : tensor<8xi64>
%iota = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e8 : tensor<8xi64>) {
^bb0(%o: i64):
  %k = linalg.index 0 : index
  %w = arith.index_cast %k : index to i64
  linalg.yield %w : i64
} -> tensor<8xi64>"""
EACH = """%f8 = tensor.empty() : tensor<8xf32>
%r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins({ids} : tensor<8xi64>) outs(%f8 : tensor<8xf32>) {{
^bb0(%p: i64, %o: f32):
  {body}
  %n = arith.index_cast %at : i64 to index
  %v = tensor.extract %x[%n] : tensor<{size}xf32>
  linalg.yield %v : f32
}} -> tensor<8xf32>"""
SAME = "%q = arith.constant 0 : i64\n%at = arith.addi %p, %q : i64"
HALF = """%q = arith.sitofp %p : i64 to f32
  %two = arith.constant 2.0 : f32
  %d = arith.divf %q, %two : f32
  %l = math.floor %d : f32
  %at = arith.fptosi %l : f32 to i64"""
CLAMPED = """%lo = arith.constant 0 : i64
  %hi = arith.constant 4 : i64
  %m = arith.maxsi %p, %lo : i64
  %at = arith.minsi %m, %hi : i64"""
FROM_THE_END = """%lo = arith.constant 0 : i64
  %n5 = arith.constant 5 : i64
  %neg = arith.cmpi slt, %p, %lo : i64
  %up = arith.addi %p, %n5 : i64
  %at = arith.select %neg, %up, %p : i64"""
REST = "%n5 = arith.constant 5 : i64\n%at = arith.remui %p, %n5 : i64"
FLOAT_CLAMP = """%q = arith.sitofp %p : i64 to f32
  %s = arith.constant 0.7 : f32
  %h = arith.constant -0.5 : f32
  %d = arith.mulf %q, %s : f32
  %g = arith.addf %d, %h : f32
  %z = arith.constant 0.0 : f32
  %m4 = arith.constant 4.0 : f32
  %a = arith.maximumf %g, %z : f32
  %b = arith.minimumf %a, %m4 : f32
  %at = arith.fptosi %b : f32 to i64"""
TABLE = "%t = arith.constant dense<[-5, -1, 0, 4, 3, 2, 1, 0]> : tensor<8xi64>"


@pytest.mark.parametrize(
    ("ids", "body", "size", "proved"),
    [
        (IOTA, SAME, 8, True),
        (IOTA, SAME, 7, False),
        (IOTA, HALF, 4, True),
        (IOTA, HALF, 3, False),
        (IOTA, FLOAT_CLAMP, 5, True),
        (IOTA, FLOAT_CLAMP, 4, False),
        ("", CLAMPED, 5, True),
        ("", CLAMPED, 4, False),
        ("", REST, 5, True),
        ("", REST, 4, False),
        ("", SAME, 5, False),
        (TABLE, FROM_THE_END, 5, True),
        (TABLE, FROM_THE_END, 4, False),
        (TABLE, SAME, 5, False),
    ],
)
def test_an_index_that_is_computed_needs_no_check(session, ids, body, size, proved):
    name = "%iota" if ids == IOTA else "%t" if ids == TABLE else "%ids"
    text = ids + "\n" + EACH.format(ids=name, body=body, size=size)
    _, report = judge(session, f"%x: tensor<{size}xf32>, %ids: tensor<8xi64>", text)
    assert (not unproved(report)) == proved


ARGMAX = """%z0 = arith.constant dense<{start}> : tensor<i64>
%m0 = arith.constant dense<0xFF800000> : tensor<f32>
%best:2 = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]}} ins(%s : tensor<8xf32>) outs(%m0, %z0 : tensor<f32>, tensor<i64>) {{
^bb0(%p: f32, %m: f32, %k: i64):
  %at = linalg.index 0 : index
  %w = arith.index_cast %at : index to i64
  %c = arith.cmpf ogt, %p, %m : f32
  %v = arith.select %c, %p, %m : f32
  %n = arith.select %c, %w, %k : i64
  linalg.yield %v, %n : f32, i64
}} -> (tensor<f32>, tensor<i64>)
%i = tensor.extract %best#1[] : tensor<i64>
%j = arith.index_cast %i : i64 to index
%r = tensor.extract %x[%j] : tensor<8xf32>"""


@pytest.mark.parametrize(("start", "proved"), [(0, True), (7, True), (8, False), (-1, False)])
def test_where_the_largest_stands_is_inside(session, start, proved):
    _, report = judge(session, "%x: tensor<8xf32>, %s: tensor<8xf32>", ARGMAX.format(start=start))
    assert (not unproved(report)) == proved


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
    ("below", "step", "proved"), [("slt", 1, True), ("ult", 1, True), ("sle", 1, False), ("slt", 4, True), ("ne", 1, False)]
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


APART = """%e8 = tensor.empty() : tensor<8xi64>
%m8 = tensor.empty() : tensor<8xi1>
%bounded = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%ids : tensor<8xi64>) outs(%e8 : tensor<8xi64>) {{
^bb0(%p: i64, %o: i64):
  %low = arith.constant {low} : i64
  %high = arith.constant 4 : i64
  %a = arith.maxsi %p, %low : i64
  %b = arith.minsi %a, %high : i64
  linalg.yield %b : i64
}} -> tensor<8xi64>
%negative = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%bounded : tensor<8xi64>) outs(%m8 : tensor<8xi1>) {{
^bb0(%p: i64, %o: i1):
  %z = arith.constant 0 : i64
  %c = arith.cmpi slt, %p, %z : i64
  linalg.yield %c : i1
}} -> tensor<8xi1>
%from_end = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%bounded : tensor<8xi64>) outs(%e8 : tensor<8xi64>) {{
^bb0(%p: i64, %o: i64):
  %five = arith.constant 5 : i64
  %s = arith.addi %p, %five : i64
  linalg.yield %s : i64
}} -> tensor<8xi64>
%chosen = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, {map}, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]}} ins(%negative, %from_end, %bounded : tensor<8xi1>, tensor<8xi64>, tensor<8xi64>)
    outs(%e8 : tensor<8xi64>) {{
^bb0(%c: i1, %u: i64, %p: i64, %o: i64):
  %s = arith.select %c, %u, %p : i64
  linalg.yield %s : i64
}} -> tensor<8xi64>
%c1 = arith.constant 1 : index
%rows = tensor.expand_shape %chosen [[0, 1]] output_shape [8, 1] : tensor<8xi64> into tensor<8x1xi64>
%flat = tensor.collapse_shape %rows [[0, 1]] : tensor<8x1xi64> into tensor<8xi64>
"""
IN_ORDER, BACKWARDS = "affine_map<(i) -> (i)>", "affine_map<(i) -> (7 - i)>"


@pytest.mark.parametrize(
    ("low", "map_", "proved"), [(-5, IN_ORDER, True), (-6, IN_ORDER, False), (-5, BACKWARDS, False), (0, BACKWARDS, True)]
)
def test_an_index_that_several_ops_compute_is_known_at_one_point(session, low, map_, proved):
    """As ONNX's gathers come: which are negative, what they are from the end, the choice; only the same element counts."""
    text = APART.format(low=low, map=map_).replace("%c1 = arith.constant 1 : index\n", "")
    text += EACH.format(ids="%flat", body=SAME, size=5)
    _, report = judge(session, "%x: tensor<5xf32>, %ids: tensor<8xi64>", text)
    assert (not unproved(report)) == proved
