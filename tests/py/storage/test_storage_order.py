"""A check comes before what it guards: on the program that IREE schedules, and in a call that violates it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checked_schedule import programs_out_of_order
from storage_sweep import FLAGS

from fissile.passes.analysis.program.check_order import overtaken_checks, unclamped_accesses
from fissile.passes.remedies.storage import held_loads
from fissile.passes.remedies.storage.order import checks_first
from fissile.passes.remedies.storage.order.scheduled_checks import bring_back
from fissile.pipelines.compile.hooks.guard import GUARDED_AT, guard
from fissile.pipelines.session import Session

DOUBLED = """linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
      iterator_types = ["parallel"]}"""
BODY = "{ ^bb0(%p: f32, %o: f32): %q = arith.addf %p, %p : f32 linalg.yield %q : f32 }"
START = """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %b = tensor.empty() : tensor<4xf32>
"""
HEAD = "func.func @main(%n: index, %x: tensor<4xf32>, %t: tensor<2xi32>) -> tensor<?xf32> {\n" + START
WRITE = f"""  %g = {DOUBLED} ins(%x : tensor<4xf32>) outs(%b : tensor<4xf32>) {BODY} -> tensor<4xf32>
  %r = tensor.insert_slice %g into INTO[%far] [4] [1] : tensor<4xf32> into tensor<?xf32>
"""
READ = """  %v = tensor.extract %t[AT] : tensor<2xi32>
  %far = arith.index_cast %v : i32 to index
"""
PROGRAMS = {
    "the offset is an element": HEAD
    + READ.replace("AT", "%c0")
    + WRITE.replace("INTO", "%f")
    + "  return %r : tensor<?xf32>\n}\n",
    "the offset is an element that is read after the producer": HEAD
    + WRITE.replace("INTO", "%f").replace("  %r", READ.replace("AT", "%c0") + "  %r")
    + "  return %r : tensor<?xf32>\n}\n",
    "offsets are elements, in a loop": HEAD
    + "  %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %f) -> tensor<?xf32> {\n"
    + READ.replace("AT", "%i")
    + WRITE.replace("INTO", "%a")
    + "  scf.yield %r : tensor<?xf32> }\n  return %l : tensor<?xf32>\n}\n",
}
IN_A_LOOP = (
    HEAD
    + f"""  %far = arith.constant FAR : index
  %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %f) -> tensor<?xf32> {{
    %m = affine.min affine_map<(d0) -> (1, 2 - d0)>(%i)
    %s = tensor.extract_slice %x[%i] [%m] [1] : tensor<4xf32> to tensor<?xf32>
    %d = tensor.empty(%m) : tensor<?xf32>
    %g = {DOUBLED} ins(%s : tensor<?xf32>) outs(%d : tensor<?xf32>) {BODY} -> tensor<?xf32>
    %r = tensor.insert_slice %g into %a[%far] [%m] [1] : tensor<?xf32> into tensor<?xf32>
    scf.yield %r : tensor<?xf32> }}
  return %l : tensor<?xf32>
}}
"""
)
FAR = 400_000_000
PROGRAMS["a constant offset, in a loop"] = IN_A_LOOP.replace("FAR", "4")
PROGRAMS["a constant offset far away, in a loop"] = IN_A_LOOP.replace("FAR", str(FAR))


@pytest.fixture(scope="module")
def session():
    with Session(FLAGS["local-task"]) as opened:
        yield opened


def scheduled(session, text: str):
    module = session.run(session.parse_text(text), GUARDED_AT)
    assert guard(module.op).asserts
    return session.run(module, "stream")


def brought_back(session, text: str):
    module = session.run(session.parse_text(text), GUARDED_AT)
    guarded = guard(module.op)
    session.run(module, "stream")
    bring_back(module.op, guarded.contract)
    return module.op


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_dispatch_is_submitted_before_its_check(session, name):
    module = scheduled(session, PROGRAMS[name])
    assert not overtaken_checks(module.op) and not unclamped_accesses(module.op)


def test_the_analysis_finds_a_check_that_stands_right_before_the_op(session, monkeypatch):
    monkeypatch.setattr(checks_first, "checks_first", lambda _checks: None)
    module = scheduled(session, PROGRAMS["a constant offset, in a loop"])
    assert overtaken_checks(module.op)
    assert overtaken_checks(
        scheduled(session, PROGRAMS["the offset is an element that is read after the producer"]).op
    )


def test_the_analysis_finds_an_offset_that_the_dispatch_loads_itself(session, monkeypatch):
    monkeypatch.setattr(held_loads, "held_loads", lambda _extents, _conditions: [])
    assert unclamped_accesses(scheduled(session, PROGRAMS["the offset is an element"]).op)


def called(path: Path, n: int, indices: list[int], folder: Path) -> tuple[int, str, np.ndarray | None]:
    """A call in a process of its own: its exit status, what it reports, and the result."""
    output = folder / "output.npy"
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("iree-run-module")),
            f"--module={path}",
            "--device=local-task",
            "--function=main",
            f"--input={n}",
            "--input=4xf32=1 2 3 4",
            f"--input=2xi32={indices[0]} {indices[1]}",
            f"--output=@{output}",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={"MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"},
    )
    return done.returncode, done.stderr, np.load(output) if done.returncode == 0 else None


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_violating_call_ends_with_its_sentence_and_writes_nothing(session, tmp_path, name):
    module = session.run(session.parse_text(PROGRAMS[name]), GUARDED_AT)
    guard(module.op)
    path = tmp_path / "guarded.vmfb"
    session.write(session.run(module, "end"), path)
    code, printed, result = called(path, 8, [0, 0], tmp_path)
    if "far away" not in name:
        assert code == 0 and result.shape == (8,), printed
    for n, far in ((2, FAR), (8, 9), (8, FAR)):
        if "constant" in name and n == 8:
            continue
        code, printed, _ = called(path, n, [far, far], tmp_path)
        assert code == 1 and "FAILED_PRECONDITION; @main:" in printed, (code, printed)


SIZE_OF_A_PRODUCT = f"""func.func @main(%x: tensor<?xf32>, %n: index, %w: tensor<4xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %k = arith.remui %n, %c2 : index
  %s = tensor.extract_slice %x[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
  %e = tensor.empty(%k) : tensor<?xf32>
  %y = {DOUBLED} ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) {BODY} -> tensor<?xf32>
  %d = tensor.dim %y, %c0 : tensor<?xf32>
  %at = arith.xori %d, %n : index
  %b = tensor.empty() : tensor<4xf32>
  %g = {DOUBLED} ins(%w : tensor<4xf32>) outs(%b : tensor<4xf32>) {BODY} -> tensor<4xf32>
  %v = tensor.extract %g[%c2] : tensor<4xf32>
  %r = tensor.insert %v into %y[%at] : tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""


def test_the_size_of_a_product_does_not_hold_its_check_back(monkeypatch):
    def late() -> list[str]:
        with Session(FLAGS["local-task"]) as session:
            module = session.run(session.parse_text(SIZE_OF_A_PRODUCT), GUARDED_AT)
            assert guard(module.op).asserts
            session.run(module, "stream")
            return [found.message for found in overtaken_checks(module.op)]

    assert not late()
    monkeypatch.setattr(checks_first, "sizes_by_terms", lambda _extents, _check: None)
    assert late()


SCATTERED = f"""func.func @main(%x: tensor<5xf32>, %k: tensor<?xi32>, %t: tensor<3x1xi32>, %u: tensor<3xf32>)
    -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0 : i32
  %h = scf.while (%i = %c0) : (index) -> index {{
    %v = tensor.extract %k[%i] : tensor<?xi32>
    %go = arith.cmpi slt, %v, %z : i32
    scf.condition(%go) %i : index
  }} do {{
  ^bb0(%i: index):
    %j = arith.addi %i, %c1 : index
    scf.yield %j : index
  }}
  %n = arith.subi %c5, %h : index
  %e = tensor.empty() : tensor<5xf32>
  %y = {DOUBLED} ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) {BODY} -> tensor<5xf32>
  %s = tensor.extract_slice %y[%h] [%n] [1] : tensor<5xf32> to tensor<?xf32>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %t : tensor<3xf32>, tensor<3x1xi32>) outs(%s : tensor<?xf32>) {{
  ^bb0(%a: f32, %b: f32):
    iree_linalg_ext.yield %a : f32
  }} -> tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""
"""The dispatch that compares the indices %t with %n knows all that the check of the slice compares."""


CALLED_AFTER_A_SCATTER = """func.func private @tail(%w: tensor<?xi64>, %k: index) -> tensor<?xi64> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %w, %c0 : tensor<?xi64>
  %n = arith.subi %d, %k : index
  %s = tensor.extract_slice %w[%k] [%n] [1] : tensor<?xi64> to tensor<?xi64>
  return %s : tensor<?xi64>
}
func.func @main(%x: tensor<?xi64>, %t: tensor<2x1xi64>, %u: tensor<2xi64>, %k: index) -> tensor<?xi64> {
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true)
    ins(%u, %t : tensor<2xi64>, tensor<2x1xi64>) outs(%x : tensor<?xi64>) {
  ^bb0(%a: i64, %b: i64):
    iree_linalg_ext.yield %a : i64
  } -> tensor<?xi64>
  %s = func.call @tail(%r, %k) : (tensor<?xi64>, index) -> tensor<?xi64>
  return %s : tensor<?xi64>
}
"""
"""Inlining puts the check of the slice behind the scatter, whose dispatch is computed from the same size."""


@pytest.mark.parametrize("text", [SCATTERED, CALLED_AFTER_A_SCATTER], ids=["in a function", "in a callee"])
def test_a_check_behind_a_dispatch_goes_before_it(session, monkeypatch, text):
    monkeypatch.setattr(checks_first, "checks_first", lambda _checks: None)
    module = scheduled(session, text)
    before, changes = str(module.op), []
    bring_back(module.op, ["other"], lambda: changes.append(1))
    assert overtaken_checks(module.op) and str(module.op) == before and not changes, "no check of fissile's"
    bring_back(module.op, ["main", "tail"], lambda: changes.append(1))
    assert changes == [1] and not overtaken_checks(module.op) and module.op.verify()
    bring_back(module.op, ["main", "tail"], lambda: changes.append(1))
    assert changes == [1], "a schedule in order is not changed"


NEGATIVE_PAD = """func.func @main(%x: tensor<?x7xf32>, %b: i1, %n: index) -> tensor<?x9xf32> {
  %z = arith.constant 7.0 : f32
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x7xf32>
  %e = tensor.empty(%d) : tensor<?x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x7xf32>) outs(%e : tensor<?x7xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x7xf32>
  %k = scf.if %b -> (index) {
    scf.yield %n : index
  } else {
    %f = tensor.dim %y, %c0 : tensor<?x7xf32>
    scf.yield %f : index
  }
  %r = tensor.pad %y low[1, 1] high[%k, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x7xf32> to tensor<?x9xf32>
  return %r : tensor<?x9xf32>
}
"""
"""A call with one row and a padding of -3: the result has -1 rows, and IREE's runtime allocates -36 bytes, with a header, which are few."""


def test_no_memory_is_allocated_before_its_check(session, tmp_path):
    module = scheduled(session, NEGATIVE_PAD)
    assert "stream.resource.alloca" in {late.dispatch for late in overtaken_checks(module.op)}
    assert not overtaken_checks(brought_back(session, NEGATIVE_PAD))
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(NEGATIVE_PAD)
    command = [str(Path(sys.executable).with_name("fissile")), "compile", *FLAGS["local-task"]]
    subprocess.run([*command, str(source), "-o", str(output)], check=True, capture_output=True, timeout=300)
    run = [
        str(Path(sys.executable).with_name("iree-run-module")),
        f"--module={output}",
        "--device=local-task",
    ]
    values = ["--function=main", "--input=1x7xf32=1", "--input=1", "--input=-3"]
    done = subprocess.run(
        [*run, *values], capture_output=True, text=True, timeout=300, env={"MALLOC_PERTURB_": "165"}
    )
    assert done.returncode == 1 and "FAILED_PRECONDITION; @main: tensor.pad pads" in done.stderr


def test_the_drawn_programs_out_of_order_are_told_by_name(session, monkeypatch):
    texts = {
        f"s{number}": text.replace("@main", f"@s{number}").replace("@tail", f"@s{number}_tail")
        for number, text in enumerate(
            (
                CALLED_AFTER_A_SCATTER,
                PROGRAMS["the offset is an element"],
                PROGRAMS["a constant offset, in a loop"],
            )
        )
    }
    whole = "\n".join(texts.values())
    assert not programs_out_of_order(session, brought_back(session, whole), texts, "s")
    monkeypatch.setattr(checks_first, "checks_first", lambda _checks: None)
    monkeypatch.setattr(held_loads, "held_loads", lambda _extents, _conditions: [])
    found = programs_out_of_order(session, scheduled(session, whole).op, texts, "s")
    assert {"s0", "s1"} <= found.keys()
    assert "submitted before it" in found["s0"] and "not bounded" in found["s1"]


def test_the_command_brings_checks_back(session, tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(CALLED_AFTER_A_SCATTER)
    command = [
        str(Path(sys.executable).with_name("fissile")),
        "compile",
        *FLAGS["local-task"],
        "--compile-to=stream",
    ]
    subprocess.run([*command, str(source), "-o", str(output)], check=True, capture_output=True, timeout=300)
    module = session.parse_text(output.read_text())
    assert "tensor.extract_slice reads" in str(module.op) and not overtaken_checks(module.op)
