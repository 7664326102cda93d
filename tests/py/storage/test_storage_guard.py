"""The storage guard on whole programs: what it changes, what it leaves alone, and what a caller gets."""

from __future__ import annotations

import iree.runtime as rt
import numpy as np
import pytest
from hypothesis import Phase
from storage_oracle import Program, Tensor, Violation
from storage_sweep import FLAGS, Sweep

import fissile
from fissile.errors import UsageError
from fissile.finding import Severity
from fissile.passes.analysis.storage import smt
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard, strips_asserts
from fissile.pipelines.numerics.runtimes import present
from fissile.pipelines.session import Session


@pytest.fixture(scope="module")
def session():
    with Session(FLAGS["local-task"]) as opened:
        yield opened


@pytest.fixture(scope="module")
def sweep():
    return Sweep("local-task")


DOUBLE = """  %c0 = arith.constant 0 : index
  %d = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>], iterator_types = ["parallel"]}
      ins(%y : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
"""
INSERT = "  %r = tensor.insert_slice %z into %f[0] [%d] [1] : tensor<?xf32> into tensor<10xf32>\n"
UNPROVED = f"""func.func @main(%y: tensor<?xf32>, %f: tensor<10xf32>) -> tensor<10xf32> {{
{DOUBLE}{INSERT}  return %r : tensor<10xf32>
}}
"""
PROVED = f"""func.func @main(%y: tensor<?xf32>) -> tensor<?xf32> {{
{DOUBLE}  return %z : tensor<?xf32>
}}
"""
REFUTED = """func.func @main(%f: tensor<10xf32>, %n: index) -> tensor<?xf32> {
  %c11 = arith.constant 11 : index
  %m = arith.maxsi %n, %c11 : index
  %r = tensor.extract_slice %f[0] [%m] [1] : tensor<10xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def guarded(session, text: str, mode: str = "assert", **options):
    module = session.run(session.parse_text(text), GUARDED_AT)
    before = module.text(locations=True)
    result = guard(module.op, mode, **options)
    return module, result, before


def compiled(session, text: str, path, mode: str | None) -> bytes:
    module = session.parse_text(text)
    if mode is not None:
        session.run(module, GUARDED_AT)
        guard(module.op, mode)
    session.run(module, "end")
    session.write(module, path)
    return path.read_bytes()


@pytest.mark.parametrize(("text", "mode"), [(UNPROVED, "off"), (UNPROVED, "check"), (PROVED, "assert")])
def test_where_nothing_is_asserted_the_output_is_stocks_to_the_byte(session, tmp_path, text, mode):
    stock = compiled(session, text, tmp_path / "stock.vmfb", None)
    assert compiled(session, text, tmp_path / "guarded.vmfb", mode) == stock


def test_an_assert_changes_the_output(session, tmp_path):
    stock = compiled(session, UNPROVED, tmp_path / "stock.vmfb", None)
    assert compiled(session, UNPROVED, tmp_path / "guarded.vmfb", "assert") != stock


@pytest.mark.parametrize(
    ("text", "mode", "changed", "codes"),
    [
        (PROVED, "assert", False, []),
        (UNPROVED, "assert", True, [("FIS202", Severity.NOTE)]),
        (UNPROVED, "check", False, [("FIS202", Severity.WARNING)]),
        (UNPROVED, "off", False, []),
        (REFUTED, "assert", False, [("FIS201", Severity.ERROR)]),
        (REFUTED, "check", False, [("FIS201", Severity.ERROR)]),
    ],
)
def test_what_is_told_and_what_is_changed(session, text, mode, changed, codes):
    module, result, before = guarded(session, text, mode)
    assert [(f.code, f.severity) for f in result.findings] == codes
    assert result.changed == changed == (module.text(locations=True) != before)
    assert module.op.operation.verify()


def test_the_contract_is_the_same_in_check_and_assert(session):
    _, checked, _ = guarded(session, UNPROVED, "check")
    _, asserted, _ = guarded(session, UNPROVED, "assert")
    assert checked.contract == asserted.contract and list(checked.contract) == ["main"]


def test_asserts_that_an_option_strips_are_told_and_not_made(session):
    module, result, before = guarded(session, UNPROVED, asserts_stripped=True)
    assert {f.code for f in result.findings} == {"FIS202", "FIS203"} and not result.changed
    assert module.text(locations=True) == before
    (stripped,) = [f.message for f in result.findings if f.code == "FIS203"]
    assert stripped.endswith(" removes the run-time checks that 1 size needs")
    _, result, _ = guarded(session, PROVED, asserts_stripped=True)
    assert not result.findings


def test_a_precondition_that_nothing_checks_is_no_overrun(session):
    _, result, _ = guarded(session, REQUIRED_N, asserts_stripped=True)
    [found] = [f for f in result.findings if f.code == "FIS202"]
    assert "not checked at run time: a call that violates it goes on as if it held" in found.notes


REQUIRED_N = """
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c3 = arith.constant 3 : index
  %ok = arith.cmpi ult, %n, %c3 : index
  "fissile.require"(%ok) {message = "n is below 3"} : (i1) -> ()
  %r = math.sqrt %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("flags", "strips"),
    [
        ([], False),
        (["--iree-opt-strip-assertions"], True),
        (["--iree-opt-strip-assertions=true"], True),
        (["--iree-opt-strip-assertions", "--iree-opt-strip-assertions=false"], False),
    ],
)
def test_whether_flags_strip_asserts(flags, strips):
    assert strips_asserts(flags) == strips


def test_an_unknown_mode_is_refused(session):
    with pytest.raises(UsageError, match="unknown guard mode 'assrt'"):
        guarded(session, PROVED, "assrt")


def test_without_a_solver_the_guard_says_so_where_it_matters(session, monkeypatch):
    session.context.allow_unregistered_dialects = True
    odd = """func.func @main(%x: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.muli %n, %c2 : index
  %b = arith.cmpi ne, %m, %c7 : index
  "fissile.require"(%b) {message = "not seven"} : (i1) -> ()
  return
}
"""
    _, result, _ = guarded(session, odd)
    assert not result.findings
    monkeypatch.setattr(smt, "available", lambda: False)
    _, result, _ = guarded(session, odd)
    assert {f.code for f in result.findings} == {"FIS202", "FIS206"}
    # A call that breaks it was found by trying: no solver could prove it.
    _, result, _ = guarded(session, UNPROVED)
    assert [f.code for f in result.findings] == ["FIS202"]
    _, result, _ = guarded(session, PROVED)
    assert not result.findings


def test_equal_conditions_are_asserted_once_and_before_everything_else(session):
    again = INSERT.replace("%r", "%u") + INSERT.replace("%f", "%u")
    module, result, _ = guarded(session, UNPROVED.replace(INSERT, again))
    assert result.asserts == 1
    text = module.text()
    assert text.count("cf.assert") == 1 and text.index("cf.assert") < text.index("linalg.generic")


def test_a_condition_of_a_loop_is_asserted_before_it(session):
    body = """  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %t = scf.for %i = %c0 to %d step %c1 iter_args(%a = %f) -> (tensor<10xf32>) {
    %w = tensor.insert %one into %a[%i] : tensor<10xf32>
    scf.yield %w : tensor<10xf32>
  }
"""
    module, result, _ = guarded(session, UNPROVED.replace(INSERT, body).replace("return %r", "return %t"))
    text = module.text()
    assert result.asserts == 1 and text.index("cf.assert") < text.index("scf.for")


PAST_THE_END = """func.func private @past(%y: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c4 = arith.constant 4 : index
  %r = tensor.extract_slice %y[%c4] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func private @hands_on(%f: tensor<2xf32>) -> tensor<?xf32> {
  %c2 = arith.constant 2 : index
  %g = tensor.cast %f : tensor<2xf32> to tensor<?xf32>
  %r = func.call @past(%g, %c2) : (tensor<?xf32>, index) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @main(%f: tensor<2xf32>, %y: tensor<?xf32>, %b: i1) -> tensor<?xf32> {
  CALL
  return %r : tensor<?xf32>
}
"""
CALL = "func.call @hands_on(%f) : (tensor<2xf32>) -> tensor<?xf32>"
IN_A_BRANCH = f"""%r = scf.if %b -> (tensor<?xf32>) {{
    %s = {CALL}
    scf.yield %s : tensor<?xf32>
  }} else {{
    scf.yield %y : tensor<?xf32>
  }}"""


@pytest.mark.parametrize(("call", "code"), [(f"%r = {CALL}", "FIS201"), (IN_A_BRANCH, "FIS202")])
def test_what_a_private_function_always_breaks_refutes_a_program_that_is_certain_to_call_it(
    session, call, code
):
    """The slice of @past is known to be past the end from its only call; it is an error only if that call is made."""
    text = PAST_THE_END.replace("CALL", call)
    module = session.run(session.parse_text(text), GUARDED_AT)
    assert [f.code for f in guard(module.op).findings] == [code]


def test_the_branch_that_breaks_no_bound_runs_and_the_other_is_refused(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PAST_THE_END.replace("CALL", IN_A_BRANCH))
    fissile.compile(source, output, FLAGS["local-task"])
    module = rt.load_vm_flatbuffer_file(str(output), driver="local-sync")
    two, three = np.ones(2, np.float32), np.arange(3, dtype=np.float32)
    assert np.array_equal(module.main(two, three, 0).to_host(), three)
    with pytest.raises(RuntimeError, match="FAILED_PRECONDITION; @past"):
        module.main(two, three, 1)


def test_a_require_is_proved_away_or_asserted(session):
    session.context.allow_unregistered_dialects = True
    text = """func.func @main(%n: index) -> index {
  %c4 = arith.constant 4 : index
  %m = arith.minsi %n, %c4 : index
  %b = arith.cmpi sle, %m, %c4 : index
  "fissile.require"(%b) {message = "m is at most 4"} : (i1) -> ()
  %a = arith.cmpi sle, %n, %c4 : index
  "fissile.require"(%a) {message = "n is at most 4"} : (i1) -> ()
  return %m : index
}
"""
    module, result, _ = guarded(session, text)
    assert '"fissile.require"(' not in module.text() and module.text().count("cf.assert") == 1
    assert result.contract == {"main": ("fissile.require: n is at most 4",)}


ONNX = """func.func @lookup(%table: !torch.vtensor<[?,4],f32>, %rows: !torch.vtensor<[?],si64>)
    -> !torch.vtensor<[?,4],f32> attributes {torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64,
    torch.onnx_meta.producer_name = "", torch.onnx_meta.producer_version = ""} {
  %r = torch.operator "onnx.Gather"(%table, %rows) {torch.onnx.axis = 0 : si64}
      : (!torch.vtensor<[?,4],f32>, !torch.vtensor<[?],si64>) -> !torch.vtensor<[?,4],f32>
  return %r : !torch.vtensor<[?,4],f32>
}
"""


def test_an_onnx_program_is_guarded_behind_the_front_ends_own_abi(session):
    """Its sizes come from hal.buffer_view.dim, its function's name has a suffix, its indices may
    count from the end."""
    module, result, _ = guarded(session, ONNX)
    assert list(result.contract) == ["lookup"] and result.elementwise == result.asserts == 1
    assert "every element of" in result.contract["lookup"][0] and module.op.operation.verify()


# -- end to end ---------------------------------------------------------------------------------------------


def insert_program(limit: int) -> Program:
    """The oracle of UNPROVED, except that it takes ``limit`` for the capacity."""
    program = Program()
    program.arguments = [("%y", "tensor<?xf32>"), ("%f", "tensor<10xf32>")]

    def run(v: dict) -> None:
        if len(v["%y"]) > limit:
            raise Violation
        kept = min(len(v["%y"]), 10)
        v["%r"] = v["%f"].copy()
        v["%r"][:kept] = v["%y"][:kept] * 2

    program.steps, program.result = [run], Tensor("%r", (10,))
    program.lines = (DOUBLE + INSERT).splitlines()
    program.calls = [
        {"%y": np.arange(n, dtype=np.float32), "%f": np.full(10, 7, np.float32)} for n in (0, 9, 10, 11, 4096)
    ]
    return program


def test_the_first_element_past_the_capacity_is_caught(sweep):
    """11 elements into 10, not 16, not a page: and the inputs are as they were (Sweep compares them)."""
    sweep.check(insert_program(10))


@pytest.mark.parametrize("limit", [9, 11])
def test_the_sweep_notices_a_guard_that_is_off_by_one(sweep, limit):
    program = insert_program(limit)
    program.calls = [{"%y": np.ones(n, np.float32), "%f": np.zeros(10, np.float32)} for n in (10, 11)]
    with pytest.raises(AssertionError, match="not caught|false alarm|does not break it"):
        sweep.check(program)


def test_random_programs_keep_to_the_oracle(sweep):
    """The first programs of `python -m bench.storage.storage_sweep`."""
    sweep.run(30, calls=5, phases=(Phase.generate,))
    assert sweep.counts["calls that violate, caught"] > 20
    assert sweep.counts["calls that are legal, same numbers"] > 20


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device answers")
def test_a_violating_call_fails_on_vulkan_too():
    program = insert_program(10)
    program.calls = program.calls[1:4]
    Sweep("vulkan").check(program)
