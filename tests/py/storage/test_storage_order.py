"""A check comes before what it guards: on the program that IREE schedules, and in a call that violates it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from storage_sweep import FLAGS

from fissile.passes.analysis.program import check_order
from fissile.passes.analysis.program.check_order import overtaken_checks, unclamped_accesses
from fissile.passes.checks.storage.check_order import late_checks
from fissile.passes.remedies.storage import checks_first, held_loads
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


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_dispatch_is_submitted_before_its_check(session, name):
    module = scheduled(session, PROGRAMS[name])
    assert not overtaken_checks(module.op) and not unclamped_accesses(module.op)


def test_the_analysis_finds_a_check_that_stands_right_before_the_op(session, monkeypatch):
    monkeypatch.setattr(checks_first, "checks_first", lambda _checks: None)
    module = scheduled(session, PROGRAMS["a constant offset, in a loop"])
    assert overtaken_checks(module.op)
    assert {f.code for f in late_checks(module.op, ["main"])} == {"FIS208"} and not late_checks(
        module.op, ["other"]
    )
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
  %at = arith.andi %d, %c2 : index
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


RESHAPED = f"""func.func @main(%x: tensor<?xf32>, %j: index) -> tensor<?x?xf32> {{
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = {DOUBLED} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {BODY} -> tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %k = arith.ceildivui %c5, %m : index
  %never = arith.cmpi ult, %c3, %c0 : index
  %l = scf.if %never -> index {{ scf.yield %j : index }} else {{
    %o = tensor.dim %y, %c0 : tensor<?xf32>
    scf.yield %o : index }}
  %s = tensor.from_elements %k, %l : tensor<2xindex>
  %r = tensor.reshape %y(%s) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}}
"""
"""IREE submits the dispatch before the check of the reshape; it goes over all of %x and %y, whatever their length is."""
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
"""The dispatch that compares the indices %t with %n runs before the check of the slice: to it, %n is a number like any other."""


def early(module, monkeypatch) -> list[str]:
    """What is submitted before a check that may guard it, harmless or not."""
    with monkeypatch.context() as patch:
        patch.setattr(check_order, "stays_inside", lambda _command, _module: False)
        return [found.dispatch for found in overtaken_checks(module.op)]


@pytest.mark.parametrize("text", [RESHAPED, SCATTERED], ids=["reshaped", "scattered"])
def test_a_dispatch_that_stays_inside_its_bindings_may_run_before_a_check(session, monkeypatch, text):
    module = scheduled(session, text)
    assert early(module, monkeypatch) and not overtaken_checks(module.op)


def test_a_dispatch_that_reads_where_the_checked_value_says_may_not(session, monkeypatch):
    monkeypatch.setattr(checks_first, "checks_first", lambda _checks: None)
    (found,) = overtaken_checks(scheduled(session, SCATTERED).op)
    assert "elementwise" in found.dispatch and "," not in found.dispatch


LOADED = r"(dispatch.tensor.load %\w+, offsets = \[)0(\], sizes = \[)(%\w+)\]"
OUTSIDE = {
    "a load at an offset": (LOADED, r"\g<1>\3\g<2>\3]"),
    "a load with a stride": (r"(dispatch.tensor.load .*strides = \[)1", r"\g<1>2"),
    "a binding in the middle of its resource": (r"(ro %\w+\[)%c0 for", r"\1%c4 for"),
    "a short binding": (r"(wo %\w+\[%c0 for )%\w+\]", r"\1%c4]"),
    "a tensor in the middle of its binding": (
        r"c0 = arith.constant 0 (.*\n.*i64\n)",
        r"c0 = arith.constant 4 \1",
    ),
    "the halves of a size the other way round": (
        r"(\[%\w+\])\((%\w+), (%\w+) : i32, i32\)",
        r"\1(\3, \2 : i32, i32)",
    ),
    "a division that may trap": (
        r"(func.func .*%(\w+): i32\) \{\n)",
        r"\1 %trap = arith.divui %\2, %\2 : i32\n",
    ),
}
"""What is put in the place of what, in the program that IREE scheduled."""


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_may_access_anything_else_is_reported(session, name):
    text = str(scheduled(session, RESHAPED).op)
    changed, count = re.subn(*OUTSIDE[name], text)
    assert count and not overtaken_checks(session.parse_text(text).op)
    assert len(overtaken_checks(session.parse_text(changed).op)) == 1
