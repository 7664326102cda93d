"""Globals that IREE schedules loads and stores of in another order (FIS183), or fuses as it schedules them (FIS184)."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from drawn_globals import ARGUMENT, Drawn

import fissile
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_vmfb

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
T = "tensor<16xf32>"


def greatest(value: str) -> str:
    """%p: the greatest element of ``value``, which the host reads, is less than 100."""
    return f"""
    %abs = math.absf {value} : {T}
    %empty = tensor.empty() : tensor<f32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
    %most = linalg.reduce {{arith.maximumf}} ins(%abs : {T}) outs(%init : tensor<f32>) dimensions = [0]
    %read = tensor.extract %most[] : tensor<f32>
    %p = arith.cmpf olt, %read, %hundred : f32"""


HEAD = f"""
util.global private mutable @count = dense<7> : tensor<i32>
func.func @main(%x: {T}) -> ({T}, tensor<i32>) {{
  %none = arith.constant dense<0> : tensor<i32>
  %once = arith.constant dense<1> : tensor<i32>
  %three = arith.constant 3 : i32
  %zero = arith.constant 0.0 : f32
  %hundred = arith.constant 100.0 : f32
  %ones = arith.constant dense<1.0> : {T}
  util.global.store %none, @count : tensor<i32>
"""
TAIL = f"""
  %count = util.global.load @count : tensor<i32>
  return %r, %count : {T}, tensor<i32>
}}
"""
COUNT = """
    %n = util.global.load @count : tensor<i32>
    %more = arith.addi %n, %once : tensor<i32>
    util.global.store %more, @count : tensor<i32>"""
LOOP = f"""
  %r = scf.while (%y = START) : ({T}) -> {T} {{
    %yx = arith.addf %y, %x : {T}{greatest("%yx")}
    %held = util.global.load @count : tensor<i32>
    %number = tensor.extract %held[] : tensor<i32>
    %q = arith.cmpi slt, %number, %three : i32
    %pq = arith.andi %p, %q : i1
    scf.condition(%pq) %y : {T}
  }} do {{
  ^bb0(%y: {T}):
    %twice = arith.addf %y, %y : {T}{COUNT}
    scf.yield %twice : {T}
  }}"""
BRANCH = f"""{greatest("%x")}
  %r = scf.if %p -> {T} {{{COUNT}
    %twice = arith.addf %x, %x : {T}
    scf.yield %twice : {T}
  }} else {{
    scf.yield %x : {T}
  }}"""
COUNTED = {
    "branch": (HEAD + BRANCH + TAIL, 2.0, 1),
    "loop that starts with the argument": (HEAD + LOOP.replace("START", "%x") + TAIL, 8.0, 3),
    "loop that starts with a constant": (HEAD + LOOP.replace("START", "%ones") + TAIL, 8.0, 3),
}


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", COUNTED)
def test_the_device_decides_how_often_it_is_stored(tmp_path, case, runtime):
    text, element, count = COUNTED[case]
    report, (result, counted) = compiled(tmp_path, text, runtime, np.ones(16, np.float32))
    scheduled = [f.severity.value for f in report.findings if "IREE schedules" in f.message]
    assert scheduled and set(scheduled) == {"repaired"}
    np.testing.assert_array_equal(result, np.full(16, element, np.float32))
    assert counted == count


@pytest.mark.parametrize("case", ["branch"])
def test_not_repaired_it_is_withheld(tmp_path, case):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(COUNTED[case][0])
    report = fissile.compile(source, output, [*CPU, "--repair=off"], check=False)
    assert ("FIS183", "error") in {(f.code, f.severity.value) for f in report.findings}
    assert report.exit_code == 1 and not output.exists()


SEEDS = (0, 2, 3, 6, 9, 11, 14, 16, 19, 22, 25, 29, 37, 40, 45, 48)
OVERWRITTEN = (17, 46)
"""Two stores into a global, without a load between, change places."""
FORWARDED = (34, 51, 84, 104, 105, 109, 144)
"""A load has what another path of the program stores."""
MERGED = (80, 133, 256, 275, 283)
"""A load behind a store becomes the one before it."""
FUSED_WITH_CONSTANT = (1, 28, 58, 88)
"""IREE refuses these."""


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("seed", (*SEEDS, *OVERWRITTEN, *FORWARDED, *MERGED, *FUSED_WITH_CONSTANT))
def test_drawn_programs_compute_what_numpy_does(tmp_path, seed, runtime):
    program = Drawn(seed)
    report, results = compiled(tmp_path, program.text, runtime, ARGUMENT)
    assert {f.code for f in report.findings} <= {"FIS175", "FIS183", "FIS184"}
    assert {f.severity.value for f in report.findings} == {"repaired"}
    for got, wanted in zip(results, program.results(), strict=True):
        np.testing.assert_array_equal(got, wanted)


FOLLOWED = f"""
util.global private mutable @g = dense<1.0> : {T}
func.func private @order() attributes {{noinline}} {{
  %c = arith.constant true
  %d = util.optimization_barrier %c : i1
  return
}}
func.func @main(%x: {T}) -> ({T}, {T}) {{
  %zero = arith.constant 0.0 : f32
  %hundred = arith.constant 100.0 : f32
  %d = arith.addf %x, %x : {T}{greatest("%d")}
  func.call @order() : () -> ()
  scf.if %p {{
    util.global.store %d, @g : {T}
  }}
  func.call @order() : () -> ()
  %g = util.global.load @g : {T}
  %s = arith.addf %g, %x : {T}
  return %s, %g : {T}, {T}
}}
"""


@pytest.mark.parametrize("runtime", PRESENT)
def test_what_a_branch_stores_is_not_followed_past_it(tmp_path, runtime):
    report, (total, held) = compiled(tmp_path, FOLLOWED, runtime, np.full(16, 200, np.float32))
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS184", "repaired")]
    np.testing.assert_array_equal(held, np.ones(16, np.float32))
    np.testing.assert_array_equal(total, np.full(16, 201, np.float32))


def test_what_a_branch_stores_is_withheld_without_repair(tmp_path):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(FOLLOWED)
    report = fissile.compile(source, output, [*CPU, "--repair=off"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS184", "error")]
    assert not output.exists()


def test_stock_follows_it(tmp_path):
    """Fails when IREE fixes it: `fissile-hide-stored-values` can go then."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(FOLLOWED)
    assert compile_stock(source, output, CPU) is None
    [device] = runtimes.named(["local-task"])
    argument = np.full(16, 200, np.float32)
    _total, held = runtimes.run(output, signatures_of_vmfb(output)["main"], [argument], device)
    np.testing.assert_array_equal(held, np.full(16, 400, np.float32))


def test_a_load_that_has_it_in_any_case_stays(tmp_path):
    """The branch is no branch: what is stored is what is loaded."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    text = FOLLOWED.replace("  scf.if %p {\n  ", "").replace(
        "@g : tensor<16xf32>\n  }", "@g : tensor<16xf32>"
    )
    assert "scf.if" not in text
    source.write_text(text)
    assert not fissile.compile(source, output, list(CPU)).findings


STORED_IN_A_CALL = """
util.global private mutable @g = dense<0.0> : tensor<16xf32>
util.func private @add(%x: tensor<16xf32>) attributes {inlining_policy = #util.inline.never} {
  %a = util.global.load @g : tensor<16xf32>
  %s = arith.addf %a, %x : tensor<16xf32>
  util.global.store %s, @g : tensor<16xf32>
  util.return
}
util.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  util.call @add(%x) : (tensor<16xf32>) -> ()
  util.call @add(%x) : (tensor<16xf32>) -> ()
  %c = util.global.load @g : tensor<16xf32>
  util.return %c : tensor<16xf32>
}
"""


def test_what_a_call_stores_is_not_followed_either(tmp_path):
    """Behind a barrier IREE does not know the size of what the global holds, and loads that as well: no use of the tensor."""
    report, [held] = compiled(tmp_path, STORED_IN_A_CALL, "local-task", np.full(16, 3, np.float32))
    assert not report.findings
    np.testing.assert_array_equal(held, np.full(16, 6, np.float32))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    assert (tmp_path / "stock.vmfb").read_bytes() == (tmp_path / "out.vmfb").read_bytes()


@pytest.mark.parametrize("seed", [8, 13, 15])
def test_what_stock_does_rightly_stays(tmp_path, seed):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(Drawn(seed).text)
    assert not fissile.compile(source, ours, [*CPU, "--guard=off"]).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


def compiled(folder, text, runtime, argument):
    source, output = folder / "in.mlir", folder / "out.vmfb"
    source.write_text(text)
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    [device] = runtimes.named([runtime])
    return report, runtimes.run(output, signatures_of_vmfb(output)["main"], [argument], device)
