"""Stable sorts of StableHLO: stock IREE exchanges equal keys (FIS146); repaired, their order stays, on each runtime that is here."""

from __future__ import annotations

import numpy as np
import pytest
from built import run

import fissile
from fissile.effect import Effect
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock

FLAGS = {
    "local-task": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=generic",
    ),
    "vulkan": ("--iree-hal-target-device=vulkan",),
}
PRESENT = [runtime.name for runtime in runtimes.present() if runtime.name in FLAGS]
LESS = "%p = stablehlo.compare {way}, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>"
BY_BOTH = """%w = stablehlo.compare LT, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
    %s = stablehlo.compare EQ, %a, %b, {kind} : (tensor<{t}>, tensor<{t}>) -> tensor<i1>
    %q = stablehlo.not %c : tensor<i1>
    %y = stablehlo.and %q, %d : tensor<i1>
    %z = stablehlo.and %s, %y : tensor<i1>
    %p = stablehlo.or %w, %z : tensor<i1>"""


def program(compare: str, key: str = "i32", stable: str = "true", **words: str) -> str:
    """@main sorts its argument, 4 rows of 24 keys, with 0, 1, 2… and whether the key is odd (or above 1.0)."""
    compare = compare.format(t=key, kind="FLOAT" if key == "f32" else "SIGNED", **words)
    one = "1.0" if key == "f32" else "1"
    return f"""
func.func @main(%k: tensor<4x24x{key}>) -> (tensor<4x24x{key}>, tensor<4x24xi32>) {{
  %n = stablehlo.iota dim = 1 : tensor<4x24xi32>
  %one = stablehlo.constant dense<{one}> : tensor<4x24x{key}>
  %f = stablehlo.compare GT, %k, %one : (tensor<4x24x{key}>, tensor<4x24x{key}>) -> tensor<4x24xi1>
  %r:3 = "stablehlo.sort"(%k, %f, %n) <{{dimension = 1 : i64, is_stable = {stable}}}> ({{
  ^bb0(%a: tensor<{key}>, %b: tensor<{key}>, %c: tensor<i1>, %d: tensor<i1>, %e: tensor<i32>, %g: tensor<i32>):
    {compare}
    stablehlo.return %p : tensor<i1>
  }}) : (tensor<4x24x{key}>, tensor<4x24xi1>, tensor<4x24xi32>) -> (tensor<4x24x{key}>, tensor<4x24xi1>, tensor<4x24xi32>)
  return %r#0, %r#2 : tensor<4x24x{key}>, tensor<4x24xi32>
}}"""


def keys(key: str = "i32") -> np.ndarray:
    return np.random.default_rng(3).integers(0, 5, (4, 24)).astype(np.float32 if key == "f32" else np.int32)


def built(text: str, tmp_path, runtime: str, **options):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    return fissile.compile(source, output, list(FLAGS[runtime]), check=False, **options), output


def codes(report) -> list[tuple[str, str]]:
    return [(f.code, f.severity.value) for f in report.findings if f.code == "FIS146"]


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize(
    ("compare", "key", "way"), [(LESS, "i32", "LT"), (LESS, "f32", "GT"), (BY_BOTH, "i32", "LT")],
    ids=("ascending", "descending floats", "two keys"),
)  # fmt: skip
def test_a_stable_sort_keeps_the_order_of_equal_keys(tmp_path, runtime, compare, key, way):
    report, output = built(program(compare, key, way=way), tmp_path, runtime)
    assert codes(report) == [("FIS146", "repaired")]
    [finding] = [f for f in report.findings if f.code == "FIS146"]
    assert finding.effect is Effect.WRONG and finding.places[0].line == 6
    given = keys(key)
    ordered, numbers = run(output, [given], runtime)
    wanted = np.argsort(-given if way == "GT" else given, axis=1, kind="stable")
    np.testing.assert_array_equal(numbers, wanted)
    np.testing.assert_array_equal(ordered, np.take_along_axis(given, wanted, 1))


TOP_K = """
func.func @main(%k: tensor<4x{n}xi32>) -> (tensor<4x5xi32>, tensor<4x5xi32>) {{
  %r:2 = chlo.top_k(%k, k = 5) : tensor<4x{n}xi32> -> (tensor<4x5xi32>, tensor<4x5xi32>)
  return %r#0, %r#1 : tensor<4x5xi32>, tensor<4x5xi32>
}}"""


@pytest.mark.parametrize("runtime", PRESENT)
@pytest.mark.parametrize("size", ["24", "?"])
def test_the_first_of_equal_values_is_the_first_of_a_top_k(tmp_path, runtime, size):
    """Of a dynamic size IREE makes a sort."""
    report, output = built(TOP_K.format(n=size), tmp_path, runtime)
    assert codes(report) == [("FIS146", "repaired")]
    given = keys()
    given[0] = np.iinfo(np.int32).min  # what a topk begins with
    values, numbers = run(output, [given], runtime)
    wanted = np.argsort(-given.astype(np.int64), axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(numbers, wanted)
    np.testing.assert_array_equal(values, np.take_along_axis(given, wanted, 1))


def test_stock_takes_the_last_of_equal_values_first(tmp_path):
    """Where this fails IREE has changed, and a topk need not be changed any more."""
    (tmp_path / "in.mlir").write_text(TOP_K.format(n="24"))
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    numbers = run(tmp_path / "stock.vmfb", [keys()])[1]
    assert (numbers != np.argsort(-keys(), axis=1, kind="stable")[:, :5]).any()


def test_stock_exchanges_equal_keys(tmp_path):
    """Where this fails IREE has changed, and FIS146 is not needed any more."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(LESS, way="LT"))
    assert compile_stock(source, output, FLAGS["local-task"]) is None
    numbers = run(output, [keys()])[1]
    assert (numbers != np.argsort(keys(), axis=1, kind="stable")).any()


@pytest.mark.parametrize(
    "text",
    [program(LESS, way="LT", stable="false"), program(LESS, way="LE"), program(LESS, "f32", way="GE")],
    ids=("not stable", "holds of equal keys", "floats that hold"),
)
def test_others_are_stocks_bytes(tmp_path, text):
    report, output = built(text, tmp_path, "local-task")
    assert codes(report) == []
    assert compile_stock(tmp_path / "in.mlir", tmp_path / "stock.vmfb", FLAGS["local-task"]) is None
    assert output.read_bytes() == (tmp_path / "stock.vmfb").read_bytes()


def test_not_repaired_it_is_withheld_and_check_says_so(tmp_path):
    report, output = built(program(LESS, way="LT"), tmp_path, "local-task", repair="off")
    assert codes(report) == [("FIS146", "error")] and not output.exists() and report.exit_code == 1
    assert codes(fissile.check(tmp_path / "in.mlir", ["llvm-cpu"])) == [("FIS146", "error")]


def test_verify_compares_with_a_stable_reference(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(program(LESS, way="LT"))
    report = fissile.verify(source, on=PRESENT, seeds=(0,))
    assert report.exit_code == 0, report.findings
