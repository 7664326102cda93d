"""A program whose functions call themselves is an error at once: IREE does not end on it, with tensors or with scalars."""

from __future__ import annotations

import pytest
from planted_faults import compile_here

from fissile.passes.analysis.program.call_cycles import call_cycles
from fissile.pipelines.session import Session

CPU = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
DIRECT = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
SCALAR = """
func.func private @g(%n: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %m = arith.subi %n, %c1 : i32
  %r = func.call @g(%m) : (i32) -> i32
  return %r : i32
}
func.func @main(%n: i32) -> i32 {
  %0 = call @g(%n) : (i32) -> i32
  return %0 : i32
}
"""
THROUGH_ANOTHER = """
func.func @f(%a: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %z = arith.cmpi sle, %n, %c0 : i32
  %r = scf.if %z -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    %q = func.call @g(%a, %n) : (tensor<4xf32>, i32) -> tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @g(%a: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %b = arith.addf %a, %a : tensor<4xf32>
  %q = func.call @f(%b, %n) : (tensor<4xf32>, i32) -> tensor<4xf32>
  return %q : tensor<4xf32>
}
"""
RESULT_UNUSED = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
NEVER_TAKEN = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant false
  %r = scf.if %c -> tensor<4xf32> {
    %0 = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""
NOT_CALLED = """
func.func private @h(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @h(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TWICE = """
func.func private @h(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @h(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @h(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


@pytest.fixture
def report(monkeypatch, tmp_path):
    def made(program: str, to: str):
        source = tmp_path / "in.mlir"
        source.write_text(program)
        argv = [*CPU, f"--compile-to={to}", str(source), "-o", str(tmp_path / "out.mlir")]
        return compile_here(monkeypatch, argv)

    return made


@pytest.mark.parametrize(
    ("program", "headline"),
    [
        (DIRECT, "@f does"),
        (SCALAR, "@g does"),
        (THROUGH_ANOTHER, "@f does through @g"),
        (RESULT_UNUSED, "@g does"),
    ],
    ids=["direct", "scalar", "through another", "result unused"],
)
def test_recursion_is_an_error(report, program, headline):
    found = report(program, "flow")
    assert [f.code for f in found.findings] == ["FIS145"] and found.exit_code == 1
    assert found.findings[0].message.endswith(headline) and found.findings[0].places


@pytest.mark.parametrize(
    "program", [NEVER_TAKEN, NOT_CALLED, TWICE], ids=["never taken", "not called", "twice"]
)
def test_calls_that_end_are_none(report, program):
    found = report(program, "flow")
    assert found.findings == () and found.exit_code == 0


def test_a_compile_that_ends_before_calls_are_followed_is_stocks(report):
    assert report(DIRECT, "abi").exit_code == 0


@pytest.mark.parametrize("start", ["input", "abi", "preprocessing"])
def test_a_compile_that_begins_later_says_the_same(monkeypatch, tmp_path, start):
    """Behind the phase of the hook that finds it."""
    session = Session(CPU)
    (tmp_path / "in.mlir").write_text(THROUGH_ANOTHER)
    module = session.parse(tmp_path / "in.mlir")
    session.run(module, start)
    (tmp_path / "later.mlir").write_text(module.text())
    argv = [*CPU, f"--compile-from={start}", str(tmp_path / "later.mlir"), "-o", str(tmp_path / "out.vmfb")]
    found = compile_here(monkeypatch, argv)
    assert [f.code for f in found.findings] == ["FIS145"] and found.exit_code == 1


def test_check_says_the_same(monkeypatch, tmp_path):
    from fissile.pipelines.check.entry import check

    (tmp_path / "in.mlir").write_text(THROUGH_ANOTHER)
    found = check(tmp_path / "in.mlir", ["llvm-cpu"], probe="never").findings
    assert [f.code for f in found] == ["FIS145"]


def test_the_audit_says_the_same(tmp_path):
    from fissile.pipelines.audit.entry import AuditJob, run_audit_here

    (tmp_path / "in.mlir").write_text(DIRECT)
    job = AuditJob(str(tmp_path / "in.mlir"), (("llvm-cpu", tuple(CPU)),))
    assert [f.code for f in run_audit_here(job).findings] == ["FIS145"]


def test_each_set_of_functions_is_one_cycle(tmp_path):
    """Three functions in a ring, and one that calls into it."""
    ring = "".join(
        f"func.func private @r{n}(%a: i32) -> i32 {{\n  %0 = call @r{(n + 1) % 3}(%a) : (i32) -> i32\n  return %0 : i32\n}}\n"
        for n in range(3)
    )
    (tmp_path / "in.mlir").write_text(
        ring + "func.func @main(%a: i32) -> i32 {\n  %0 = call @r1(%a) : (i32) -> i32\n  return %0 : i32\n}\n"
    )
    session = Session(CPU)
    (cycle,) = call_cycles(session.parse(tmp_path / "in.mlir").op)
    assert cycle.functions == ("r1", "r2", "r0") and len(cycle.places) == 3
