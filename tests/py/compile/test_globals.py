"""Globals whose loads and stores IREE moves across a loop or a branch (FIS183), or that it takes for another global (FIS184)."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU

import fissile
from bench.control_flow.__main__ import RIGHT, called
from bench.control_flow.program import Call
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {"local-task": CPU, "vulkan": ("--iree-hal-target-device=vulkan",)}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
T = "tensor<4xi32>"
GLOBALS = f"""
util.global private mutable @g = dense<3> : {T}
util.global private mutable @h = dense<7> : {T}
"""
SAVE = f"util.global.store %w, @g : {T}"


def function(body: str, result: str = "%r") -> str:
    return f"""{GLOBALS}
func.func @main(%x: {T}, %y: {T}, %n: index) -> {T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %p = arith.cmpi eq, %n, %c2 : index
  %w = arith.muli %x, %y : {T}
{body}
  return {result} : {T}
}}"""


class Program:
    """``text``, and what NumPy computes for it, as the programs of bench.control_flow: ``step`` is given what the globals hold."""

    SHAPE = (4,)

    def __init__(self, text, step):
        self.text, self._step = text, step

    def results(self, calls):
        held = {"g": np.full(4, 3, np.int32), "h": np.full(4, 7, np.int32)}
        return [[self._step(held, call)] for call in calls]


def saved(held, call: Call) -> np.ndarray:
    """@g is the product, if n is 2."""
    if call.n == 2:
        held["g"] = call.x0 * call.x1
    return held["g"]


def saved_again(held, call: Call) -> np.ndarray:
    held["g"] = call.x0
    return saved(held, call)


def read_in_loop(held, call: Call) -> np.ndarray:
    """The sum of @g, which is %x, twice."""
    held["g"] = call.x0
    return 2 * held["g"] if call.n == 2 else call.x1


def last(held, call: Call) -> np.ndarray:
    before, held["g"] = held["g"], held["h"]
    held["h"] = held["h"] + call.x0
    return before


def split(held, call: Call) -> np.ndarray:
    """@h, which is stored with @g unless n is 2."""
    before = held["h"]
    if call.n != 2:
        held["h"] = call.x0 + call.x1
    return before


def reset(held, _call: Call) -> np.ndarray:
    before, held["g"] = held["g"], np.array([5, 6, 5, 6], np.int32)
    return before


BRANCH = f"""  scf.if %p {{
    {SAVE}
  }}"""
LOOP = f"""  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> ({T}) {{
    %v = util.global.load @g : {T}
    %b = arith.addi %a, %v : {T}
    scf.yield %b : {T}
  }}"""
LOAD = f"  %r = util.global.load @g : {T}"
WRONG = {
    "loaded behind a branch that stores it": ("FIS183", Program(function(f"{BRANCH}\n{LOAD}"), saved)),
    "stored before a branch that stores it": (
        "FIS183",
        Program(function(f"  util.global.store %x, @g : {T}\n{BRANCH}\n{LOAD}"), saved_again),
    ),
    "stored before a loop that loads it": (
        "FIS183",
        Program(
            function(
                f"  %zero = arith.constant dense<0> : {T}\n  util.global.store %x, @g : {T}\n{LOOP}\n"
                f"  util.global.store %y, @g : {T}"
            ),
            read_in_loop,
        ),
    ),
    "another global is stored in it": (
        "FIS184",
        Program(
            function(
                f"{LOAD}\n  %n0 = util.global.load @h : {T}\n  util.global.store %n0, @g : {T}\n"
                f"  %s = arith.addi %n0, %x : {T}\n  util.global.store %s, @h : {T}"
            ),
            last,
        ),
    ),
    "it is stored with another one but in a branch": (
        "FIS184",
        Program(
            function(
                f"""  %r = util.global.load @h : {T}
  %z = arith.addi %x, %y : {T}
  scf.if %p {{
    {SAVE}
  }} else {{
    util.global.store %z, @g : {T}
    util.global.store %z, @h : {T}
  }}"""
            ).replace("dense<3>", "dense<7>")
            + f"""
func.func @set(%x: {T}) -> {T} {{
  %g = util.global.load @g : {T}
  util.global.store %x, @g : {T}
  util.global.store %x, @h : {T}
  return %g : {T}
}}""",
            split,
        ),
    ),
    "a constant is stored in it": (
        "FIS184",
        Program(
            function(
                f"{LOAD}\n  %five = arith.constant dense<[5, 6, 5, 6]> : {T}\n  util.global.store %five, @g : {T}"
            ),
            reset,
        ),
    ),
}
RIGHT_ALREADY = {
    "stored behind a branch that stores it": function(f"{BRANCH}\n  util.global.store %x, @g : {T}\n{LOAD}"),
    "another global than the branch stores": function(
        f"{BRANCH}\n  %r = util.global.load @h : {T}\n  util.global.store %x, @h : {T}"
    ),
    "what is computed of another one": function(
        f"{LOAD}\n  %n0 = util.global.load @h : {T}\n  %s = arith.addi %n0, %x : {T}\n  util.global.store %s, @g : {T}"
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_stock_is_wrong(tmp_path, case):
    """Where this fails IREE has changed, and the code is not needed any more."""
    _code, program = WRONG[case]
    (tmp_path / "in.mlir").write_text(program.text)
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", CPU) is None
    assert called(tmp_path / "stock.vmfb", program, "local-task") != RIGHT


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("case", WRONG)
def test_what_a_global_holds(tmp_path, runtime, case):
    code, program = WRONG[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program.text)
    report = fissile.compile(source, output, list(FLAGS[runtime]))
    found = {(f.code, f.severity.value, f.effect) for f in report.findings if f.code == code}
    assert found == {(code, "repaired", Effect.WRONG)}
    assert called(output, program, runtime) == RIGHT


@pytest.mark.parametrize("case", RIGHT_ALREADY)
def test_what_stock_does_rightly_stays(tmp_path, case):
    source, ours, stock = (tmp_path / name for name in ("in.mlir", "ours.vmfb", "stock.vmfb"))
    source.write_text(RIGHT_ALREADY[case])
    assert not fissile.compile(source, ours, [*CPU, "--guard=off"]).findings
    assert compile_stock(source, stock, CPU) is None and ours.read_bytes() == stock.read_bytes()


@pytest.mark.parametrize("case", ["loaded behind a branch that stores it", "another global is stored in it"])
def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path, case):
    code, program = WRONG[case]
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program.text)
    report = fissile.compile(source, output, [*CPU, "--repair=off"], check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [(code, "error")]
    assert not output.exists() and report.exit_code == 1
    checked = fissile.check(source, ["llvm-cpu"])
    assert (code, "error") in [(f.code, f.severity.value) for f in checked.findings]
