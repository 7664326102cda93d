"""Loops that start with a tensor that other ops use as well: IREE rejects them, and with a barrier they compute the same numbers."""

import random
import subprocess
import sys

import numpy as np
import pytest
from built import CPU

import fissile
from fissile.cli.main import main
from fissile.passes.iree.targets import flags_for
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.target import find_target

TYPE = "tensor<4x4xi32>"
HEAD = f"""\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : {TYPE}
  %init = linalg.fill ins(%zero : i32) outs(%e : {TYPE}) -> {TYPE}
"""


def product(result: str, a: str, b: str) -> str:
    return f"  %{result} = linalg.matmul ins(%{a}, %{b} : {TYPE}, {TYPE}) outs(%init : {TYPE}) -> {TYPE}\n"


def iteration(start: str, after: str) -> str:
    """y = x x; r = y multiplied by x three times; what is returned is ``after`` times r."""
    return (
        f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n{HEAD}{product('y', 'x', 'x')}"
        f"  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %{start}) -> {TYPE} {{\n"
        f"{product('b', 'a', 'x')}    scf.yield %b : {TYPE}\n  }}\n{product('s', after, 'r')}  return %s : {TYPE}\n}}\n"
    )


@pytest.fixture
def numbers():
    return np.random.default_rng(0).integers(-3, 4, (4, 4)).astype(np.int32)


@pytest.mark.parametrize(("target", "runtime"), (("llvm-cpu", "local-task"), ("vulkan", "vulkan")))
def test_the_same_numbers_where_stock_refuses(tmp_path, numbers, target, runtime):
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(iteration("y", "y"))
    flags = list(CPU) if target == "llvm-cpu" else flags_for(find_target(target))
    refused = fissile.compile(source, output, flags, repair="off", check=False)
    assert len(refused.errors) == 1 and "circular dependency" in refused.errors[0].message
    report = fissile.compile(source, output, flags, check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS171", "repaired")]
    assert report.findings[0].stock.endswith(
        '"stream.async.dispatch" - this indicates the operation should be inside the partition'
    )
    for device in (one for one in runtimes.present() if one.name == runtime):
        [got] = runtimes.run(output, signatures_of_vmfb(output)["main"], [numbers], device)
        power = np.linalg.matrix_power(numbers.astype(np.int64), 7)
        np.testing.assert_array_equal(got, power.astype(np.int32))


def fused(barrier: str) -> str:
    """y = x x; q = y + x; the loop starts with q x + x, elementwise, which it alone uses, and q is used behind it."""
    return (
        f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n{HEAD}{product('y', 'x', 'x')}"
        f"  %q = arith.addi %y, %x : {TYPE}\n  %u = arith.muli %q, %x : {TYPE}\n  %v = arith.addi %u, %x : {TYPE}\n"
        f"  %start = {barrier} %v : {TYPE} {'->' if 'barrier' in barrier else 'to'} {TYPE}\n"
        f"  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %start) -> {TYPE} {{\n"
        f"{product('b', 'a', 'x')}    scf.yield %b : {TYPE}\n  }}\n{product('s', 'q', 'r')}  return %s : {TYPE}\n}}\n"
    )


@pytest.mark.parametrize("barrier", ("tensor.cast", "iree_tensor_ext.compute_barrier.end"))
def test_results_of_one_dispatch(tmp_path, numbers, barrier):
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(fused(barrier))
    refused = fissile.compile(source, output, list(CPU), repair="off", check=False)
    assert "circular dependency" in refused.errors[0].message
    report = fissile.compile(source, output, list(CPU), check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS171", "repaired")]
    [device] = runtimes.named(["local-task"])
    [got] = runtimes.run(output, signatures_of_vmfb(output)["main"], [numbers], device)
    x = numbers.astype(np.int64)
    q = x @ x + x
    np.testing.assert_array_equal(got, (q @ (q * x + x) @ np.linalg.matrix_power(x, 3)).astype(np.int32))


@pytest.mark.parametrize(("start", "after"), (("x", "y"), ("y", "x")))
def test_silent_where_stock_takes_it(tmp_path, start, after):
    source = tmp_path / "f.mlir"
    source.write_text(iteration(start, after))
    report = fissile.compile(source, tmp_path / "f.vmfb", list(CPU), check=False)
    assert report.output and not report.findings


def test_it_is_suggested_reported_by_check_and_by_reduce(tmp_path, capsys):
    source, output = tmp_path / "f.mlir", tmp_path / "out"
    source.write_text(iteration("y", "y"))
    report = fissile.compile(source, output, list(CPU), repair="suggest", check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS171", "error")]
    assert not report.findings[0].helps[0].applied and not output.exists()
    report = fissile.check(source, ["gfx942", "llvm-cpu"])
    assert [(f.code, f.target) for f in report.errors] == [("FIS171", "gfx942"), ("FIS171", "llvm-cpu")]
    assert all(target["dispatches"] for target in report.facts["targets"])
    assert main(["reduce", *CPU, str(source), "-o", str(output)]) == 1
    assert "FIS171" in capsys.readouterr().err and not output.exists()


HELPLESS = """
import sys
from dataclasses import replace
from pathlib import Path
from fissile.passes.iree.library import initialise_command_line
from fissile.passes.iree.late_imports import load_late
load_late()
from fissile.pipelines.compile.compile_run import CompileRun
from fissile.pipelines.compile.guarded_compile import GuardedCompile
from fissile.pipelines.compile.request import parse_command_line
from fissile.pipelines.repair import whole_program

of_loops = next(one for one in whole_program.REWRITES if one.remedy.name == "fissile-finish-before-loops")
other = next(one for one in whole_program.REWRITES if one.remedy.name == "fissile-pass-on-while-operands")
whole_program.REWRITES = (replace(of_loops, remedy=other.remedy),)
request = parse_command_line(sys.argv[1:])
initialise_command_line(list(request.flags))
report = GuardedCompile(CompileRun(request, Path(request.output))).run()
print([(f.code, f.severity.value) for f in report.findings])
"""


def test_a_rewrite_that_does_not_help_is_not_reported(tmp_path):
    """A pass that finds no while loop stands in for the remedy: IREE says the same again."""
    source, script = tmp_path / "f.mlir", tmp_path / "helpless.py"
    source.write_text(iteration("y", "y"))
    script.write_text(HELPLESS)
    words = [sys.executable, script, source, *CPU, "-o", tmp_path / "out.vmfb"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1:] == ["[('FIS108', 'error')]"], done.stderr


class Drawn:
    """A function of one matrix, in MLIR and as steps for NumPy: products of any two earlier results, and loops that start with one."""

    def __init__(self, draw: random.Random) -> None:
        self._draw, self._names = draw, 0

    def function(self, name: str):
        text, steps, last = self._block(["x"], 2, 4)
        return (
            f"func.func @{name}(%x: {TYPE}) -> {TYPE} {{\n{HEAD}{text}  return %{last} : {TYPE}\n}}\n",
            steps,
            last,
        )

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _block(self, outside: list[str], depth: int, length: int):
        """Text, steps and the name of the result: the product of all that the block has made, and of the last of ``outside``."""
        text, steps, made = "", [], [outside[-1]]
        for _ in range(length):
            known, new = [*outside[:-1], *made], self._name()
            if depth and self._draw.random() < 0.5:
                start, carried = self._draw.choice(known), self._name()
                inner, inside, last = self._block([*known, carried], depth - 1, 1)
                text += (
                    f"  %{new} = scf.for %i{new} = %c0 to %c3 step %c1 iter_args(%{carried} = %{start}) -> {TYPE} {{\n"
                    f"{inner}    scf.yield %{last} : {TYPE}\n  }}\n"
                )
                steps.append(("loop", new, start, carried, inside, last))
            else:
                a, b = self._draw.choice(known), self._draw.choice(known)
                text += product(new, a, b)
                steps.append(("product", new, a, b))
            made.append(new)
        result = made[0]
        for other in made[1:]:
            new = self._name()
            text += product(new, result, other)
            steps.append(("product", new, result, other))
            result = new
        return text, steps, result


def computed(steps, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    for kind, made, *rest in steps:
        if kind == "product":
            values[made] = values[rest[0]] @ values[rest[1]]
        else:
            start, carried, inner, last = rest
            state = values[start]
            for _ in range(3):
                state = computed(inner, {**values, carried: state})[last]
            values[made] = state
    return values


@pytest.mark.parametrize("seed", (0, 8))
def test_drawn_programs_with_loops_compute_what_numpy_does(tmp_path, numbers, seed):
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    drawn = [Drawn(random.Random(seed + number)).function(f"f{number}") for number in range(8)]
    source.write_text("".join(text for text, _, _ in drawn))
    refused = fissile.compile(source, output, list(CPU), repair="off", check=False)
    assert "circular dependency" in refused.errors[0].message
    report = fissile.compile(source, output, list(CPU), check=False)
    assert report.output and {f.code for f in report.findings} <= {"FIS171", "FIS302", "FIS303"}
    signatures = signatures_of_vmfb(output)
    [device] = runtimes.named(["local-task"])
    for number, (_, steps, last) in enumerate(drawn):
        [got] = runtimes.run(output, signatures[f"f{number}"], [numbers], device)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got, computed(steps, {"x": numbers})[last])
