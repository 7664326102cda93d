"""Loops, branches and barriers with results whose sizes only the run time knows: IREE rejects them (FIS176)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from built import CPU
from compile_commands import fissile as run_fissile
from compile_commands import stock
from effort import examples

import fissile
from bench.control_flow.__main__ import RIGHT, called
from bench.control_flow.program import Program
from bench.control_flow.stateful import Dynamic, Stateful
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.target import find_target

TYPE = "tensor<?xi32>"
HEAD = f"""func.func @main(%x: {TYPE}, %y: {TYPE}, %n: index) -> {TYPE} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.cmpi eq, %n, %c1 : index"""
BODIES = {
    "from outside": f"""  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> ({TYPE}) {{
    scf.yield %y : {TYPE}
  }}""",
    "exchanged": f"""  %r, %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> ({TYPE}, {TYPE}) {{
    scf.yield %b, %a : {TYPE}, {TYPE}
  }}""",
    "nested": f"""  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> ({TYPE}) {{
    %t = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> ({TYPE}) {{
      %v = arith.addi %b, %b : {TYPE}
      scf.yield %v : {TYPE}
    }}
    scf.yield %t : {TYPE}
  }}""",
    "in a while loop": f"""  %w:3 = scf.while (%i = %c0, %a = %x, %b = %y) : (index, {TYPE}, {TYPE}) -> (index, {TYPE}, {TYPE}) {{
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %a, %b : index, {TYPE}, {TYPE}
  }} do {{
  ^bb0(%i: index, %a: {TYPE}, %b: {TYPE}):
    %c = scf.if %p -> ({TYPE}) {{
      scf.yield %b : {TYPE}
    }} else {{
      %d = arith.addi %a, %a : {TYPE}
      scf.yield %d : {TYPE}
    }}
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %c, %a : index, {TYPE}, {TYPE}
  }}
  %r = util.optimization_barrier %w#1 : {TYPE}""",
    "a barrier": f"  %r = util.optimization_barrier %y : {TYPE}",
}
COMPUTED = {
    "from outside": lambda x, y, n: y if n else x,
    "exchanged": lambda x, y, n: y if n % 2 else x,
    "nested": lambda x, y, n: x * 2 ** (n * n),
    "in a while loop": lambda x, y, n: y if n == 1 else x * 2**n,
    "a barrier": lambda x, y, n: y,
}
FLAGS = {"local-task": list(CPU), "vulkan": flags_for(find_target("vulkan"))}
X, Y = np.array([1, 2, 3], np.int32), np.array([10, 20, 30, 40, 50], np.int32)


def written(tmp_path, body: str):
    source = tmp_path / "f.mlir"
    source.write_text(f"{HEAD}\n{body}\n  %s = arith.addi %r, %r : {TYPE}\n  return %s : {TYPE}\n}}\n")
    return source, tmp_path / "f.vmfb"


def result(output, runtime: str, n: int) -> np.ndarray:
    [device] = runtimes.named([runtime])
    answer = runtimes.run(output, signatures_of_vmfb(output)["main"], [X, Y, np.array(n, np.int64)], device)
    assert isinstance(answer, list), answer
    return answer[0]


@pytest.mark.parametrize("runtime", FLAGS)
@pytest.mark.parametrize("name", BODIES)
def test_each_has_its_size_and_its_numbers(tmp_path, name, runtime):
    if runtime not in [one.name for one in runtimes.present()]:
        pytest.skip(f"no {runtime}")
    source, output = written(tmp_path, BODIES[name])
    report = fissile.compile(source, output, FLAGS[runtime], check=False)
    assert {f.code for f in report.findings if f.severity.value == "repaired"} == {"FIS176"}
    assert all("unexpected during shape cleanup" in f.stock for f in report.findings if f.code == "FIS176")
    for n in (0, 1, 2):
        np.testing.assert_array_equal(result(output, runtime, n), 2 * COMPUTED[name](X, Y, n))


@pytest.mark.parametrize("name", BODIES)
def test_stock_rejects_it(tmp_path, name):
    """Once IREE builds one of them, FIS176 is no longer needed for it."""
    source, output = written(tmp_path, BODIES[name])
    done = stock(source, *CPU, "-o", output)
    assert done.returncode != 0 and "unexpected during shape cleanup" in done.stderr


def test_check_and_suggest_say_so_and_write_nothing(tmp_path):
    source, output = written(tmp_path, BODIES["exchanged"])
    suggested = run_fissile("compile", source, "-o", output, *CPU, "--repair=suggest")
    assert suggested.returncode == 1 and "FIS176" in suggested.stderr and not output.exists()
    checked = run_fissile("check", source, "--target=llvm-cpu", "--format=json")
    assert checked.returncode == 1
    assert "FIS176" in [finding["code"] for finding in json.loads(checked.stdout)["findings"]]


def test_a_size_that_stays_is_left_to_iree(tmp_path):
    source, output = written(
        tmp_path,
        f"""  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> ({TYPE}) {{
    %v = arith.addi %a, %a : {TYPE}
    scf.yield %v : {TYPE}
  }}""",
    )
    report = fissile.compile(source, output, list(CPU), check=False)
    assert "FIS176" not in {f.code for f in report.findings}
    np.testing.assert_array_equal(result(output, "local-task", 2), X * 8)


@pytest.mark.parametrize("runtime", FLAGS)
@pytest.mark.parametrize("kind", [Stateful, Dynamic])
@pytest.mark.parametrize("seed", [*range(examples(3, 40)), 234])
def test_drawn_programs_compute_what_numpy_does(tmp_path, seed, kind, runtime):
    """Three calls in one session, with tensors that the program keeps."""
    if runtime not in [one.name for one in runtimes.present()]:
        pytest.skip(f"no {runtime}")
    source, output, program = tmp_path / "f.mlir", tmp_path / "f.vmfb", kind(seed)
    source.write_text(program.text)
    report = fissile.compile(source, output, FLAGS[runtime], check=False)
    assert report.output, report.findings
    assert called(output, program, runtime) == RIGHT


CALLED = f"""func.func private @twice(%a: {TYPE}) -> {TYPE} attributes {{noinline}} {{
  %d = arith.addi %a, %a : {TYPE}
  return %d : {TYPE}
}}
"""
CALLS = {
    "in a loop": (
        f"""  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> ({TYPE}) {{
    %t = func.call @twice(%a) : ({TYPE}) -> {TYPE}
    scf.yield %t : {TYPE}
  }}""",
        lambda n: X * 2**n,
        {"FIS178"},
    ),
    # Both are needed: the loop passes on what the call returns.
    "in a loop that exchanges two": (
        f"""  %r, %q = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> ({TYPE}, {TYPE}) {{
    %t = func.call @twice(%a) : ({TYPE}) -> {TYPE}
    scf.yield %b, %t : {TYPE}, {TYPE}
  }}""",
        lambda n: (X * 2, Y)[n % 2] if n else X,
        {"FIS176", "FIS178"},
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_kept_apart_is_inlined(tmp_path, name):
    body, computed, codes = CALLS[name]
    source, output = written(tmp_path, body)
    source.write_text(CALLED + source.read_text())
    refused = stock(source, *CPU, "-o", output)
    assert refused.returncode != 0 and "'util.call' op function type mismatch" in refused.stderr
    report = fissile.compile(source, output, list(CPU), check=False)
    assert {f.code for f in report.findings if f.severity.value == "repaired"} == codes
    for n in (0, 1, 2):
        np.testing.assert_array_equal(result(output, "local-task", n), 2 * computed(n))


def test_a_call_that_iree_builds_stays_a_call(tmp_path):
    source, output = written(tmp_path, f"  %r = func.call @twice(%x) : ({TYPE}) -> {TYPE}")
    source.write_text(CALLED + source.read_text())
    report = fissile.compile(source, output, list(CPU), check=False)
    assert "FIS178" not in {f.code for f in report.findings}
    np.testing.assert_array_equal(result(output, "local-task", 1), X * 4)


@pytest.mark.skipif("vulkan" not in [one.name for one in runtimes.present()], reason="no vulkan")
def test_a_part_of_a_buffer_that_vulkan_does_not_release(tmp_path):
    source, output, program = tmp_path / "f.mlir", tmp_path / "f.vmfb", Stateful(7)
    source.write_text(program.text)
    report = fissile.compile(source, output, FLAGS["vulkan"], check=False)
    assert "FIS306" in {f.code for f in report.findings if f.severity.value == "repaired"}
    assert called(output, program, "vulkan") == RIGHT


@pytest.mark.skipif("vulkan" not in [one.name for one in runtimes.present()], reason="no vulkan")
def test_an_argument_that_a_loop_hands_on_is_updated(tmp_path):
    """Stock overwrites the argument, and deallocates its buffer: once it runs the program, FIS182 is not needed for it."""
    source, output, program = tmp_path / "f.mlir", tmp_path / "f.vmfb", Program(220)
    source.write_text(program.text)
    assert stock(source, *FLAGS["vulkan"], "-o", output).returncode == 0
    assert called(output, program, "vulkan") != RIGHT
    report = fissile.compile(source, output, FLAGS["vulkan"], check=False)
    assert "FIS182" in {f.code for f in report.findings if f.severity.value == "repaired"}
    assert called(output, program, "vulkan") == RIGHT
