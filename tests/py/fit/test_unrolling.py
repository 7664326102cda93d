"""Producers of narrow elements that SPIR-V code generation unrolls: foreseen, as long as IREE makes it, and placed in dispatches of their own."""

from __future__ import annotations

from unittest.mock import Mock

import numpy as np
import pytest
from iree.compiler import ir
from iree.compiler.passmanager import PassManager
from programs import run_program

import fissile
from fissile.effect import Effect
from fissile.passes.analysis.dispatch.dispatches import dispatches
from fissile.passes.analysis.dispatch.linear_index import Linear
from fissile.passes.analysis.memory.configured import read_configured
from fissile.passes.analysis.memory.tiles import Config, ConfiguredDispatch, Op, Value
from fissile.passes.analysis.memory.unrolling import Unrolled, unrolled
from fissile.passes.iree.backends import BACKENDS
from fissile.pipelines.native_programs import stock_compiler
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.signature import signatures_of_vmfb
from fissile.pipelines.probe.one_dispatch import probe
from fissile.pipelines.probe.unroll_limit import unrolls
from fissile.pipelines.repair.packing import find_narrow
from fissile.pipelines.session import Session

LLVMPIPE = ["--iree-hal-target-device=vulkan", "--iree-vulkan-target=llvmpipe"]


def configured(m=8, n=64, k=96, narrow_bits=8, pipeline="BaseVectorize") -> ConfiguredDispatch:
    """A matmul in tiles of 1x8 for a thread; its left operand is made from narrow elements."""
    loop = [Linear(tuple(int(i == j) for j in range(3))) for i in range(3)]
    plane = [Linear((1, 0)), Linear((0, 1))]
    made = Op(
        0,
        "linalg.generic",
        (m, k),
        (False, False),
        (Value((m, k), narrow_bits, "i8", tuple(plane)),),
        (Value((m, k), 32, "f32", tuple(plane)),),
        tags=(5,),
    )
    root = Op(
        1,
        "linalg.matmul",
        (m, n, k),
        (False, False, True),
        (Value((m, k), 32, "f32", (loop[0], loop[2]), maker=0), Value((k, n), 32, "f32", (loop[2], loop[1]))),
        (Value((m, n), 32, "f32", (loop[0], loop[1])),),
        config=Config(levels=((4, 64), (2, 8), (0, 0, 4))),
        tags=(7,),
    )
    return ConfiguredDispatch("main", "vulkan-spirv", pipeline, {}, (16,), 32, 16384, (made, root), (), {})


def test_a_thread_holds_its_tile_over_the_whole_sum():
    assert unrolled(configured()) == Unrolled(2 * 96, (5,))
    assert unrolled(configured(m=1)) == Unrolled(96, (5,))


@pytest.mark.parametrize(
    "changed", ({"narrow_bits": 32}, {"pipeline": "BaseDistribute"}, {"k": "k0"}), ids=str
)
def test_words_loops_and_dynamic_sums_are_not_unrolled(changed):
    assert unrolled(configured(**changed)).elements == 0


def matmul(m: int, k: int, narrow: bool = True, n: int = 64) -> str:
    """f32 = (i8 or f32 as f32) x f32, with the producer in the same dispatch."""
    kind, body = ("i8", "%y = arith.sitofp %x : i8 to f32") if narrow else ("f32", "%y = math.exp %x : f32")
    return f"""
func.func @main(%a: tensor<{m}x{k}x{kind}>, %b: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %z = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<{m}x{k}xf32>
  %w = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}} ins(%a : tensor<{m}x{k}x{kind}>) outs(%we : tensor<{m}x{k}xf32>) {{
  ^bb0(%x: {kind}, %o: f32):
    {body}
    linalg.yield %y : f32
  }} -> tensor<{m}x{k}xf32>
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.matmul ins(%w, %b : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""


@pytest.mark.parametrize(
    ("columns", "remedy"), ((1, "fissile-fold-producers"), (64, "fissile-place-boundaries"))
)
def test_what_each_element_is_read_for_once_is_computed_there(tmp_path, columns, remedy):
    """By a vector a matrix is read once: a tensor of it in memory buys nothing."""
    source, output = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(matmul(64, 512, n=columns))
    report = fissile.compile(source, output, LLVMPIPE, check=False)
    assert [f.code for f in report.findings] == ["FIS109"] and report.facts["edits"] == [f"{remedy} 0"], (
        report.facts
    )


def generated(text: str) -> list[tuple[int, int]]:
    """Of each dispatch: elements as predicted, and how many operations IREE's code generation makes of it."""
    session = Session(LLVMPIPE)
    module = session.parse_text(text)
    session.run(module, "executable-configurations")
    found = []
    for dispatch in dispatches(module.op):
        executable = dispatch.executable.clone()
        inner, ops = dispatch.inner_module(executable), []
        predicted = unrolled(read_configured(dispatch)).elements
        with inner.context:
            PassManager.parse(BACKENDS["vulkan-spirv"].lowering).run(inner)
        inner.walk(lambda op, ops=ops: (ops.append(op.name), ir.WalkResult.ADVANCE)[1])
        found.append((predicted, len(ops)))
    return found


@pytest.mark.parametrize(("m", "k"), ((64, 32), (64, 48), (8, 300)))
def test_irees_code_is_as_long_as_foreseen(m, k):
    [(predicted, made)] = generated(matmul(m, k))
    assert predicted > 0 and made > predicted


def test_no_code_is_long_where_none_is_foreseen():
    assert all(predicted == 0 and made < 250 for predicted, made in generated(matmul(64, 300, narrow=False)))


def test_the_producer_is_kept_out(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(matmul(64, 48))
    report = fissile.compile(source, output, LLVMPIPE, check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS109", "repaired")]
    as_it_is = fissile.compile(source, output, LLVMPIPE, repair="off", check=False)
    assert as_it_is.output and not as_it_is.findings, "stock builds it, so does --repair=off"
    [reported] = fissile.check(source, ["vulkan:llvmpipe"]).findings
    assert (reported.code, reported.severity.value) == ("FIS109", "warning")


@pytest.mark.parametrize(
    "text", (matmul(64, 48, narrow=False), matmul(64, 12)), ids=("f32 producer", "short sum")
)
def test_silent_twins(tmp_path, text):
    source = tmp_path / "x.mlir"
    source.write_text(text)
    assert not fissile.compile(source, tmp_path / "x.vmfb", LLVMPIPE, check=False).findings
    assert not fissile.check(source, ["vulkan:llvmpipe"]).findings


NO_VULKAN = pytest.mark.skipif(
    "vulkan" not in {r.name for r in runtimes.present()}, reason="no Vulkan device answers here"
)
MATCHED = ["--iree-hal-target-device=vulkan", "--fissile-match-device=vulkan"]


@NO_VULKAN
def test_what_loses_its_sign_behind_the_cut_is_packed(tmp_path):
    """i32 (of fused i8) times i8: no code is generated for the whole, so the lost sign shows in what the cut leaves only."""
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    text = matmul(64, 128).replace("f32", "i32").replace("sitofp", "extsi").replace("0.0 : i32", "0 : i32")
    source.write_text(text.replace("tensor<128x64xi32>", "tensor<128x64xi8>"))
    report = fissile.compile(source, output, MATCHED, check=False)
    assert ("FIS118", "repaired") in {(f.code, f.severity.value) for f in report.findings} and report.output
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-128, 128, shape).astype(np.int8) for shape in ((64, 128), (128, 64)))
    [runtime] = runtimes.named(["vulkan"])
    [got] = runtimes.run(output, signatures_of_vmfb(output)["main"], [a, b], runtime)
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b)


@NO_VULKAN
def test_it_runs_on_the_device_that_is_present(tmp_path):
    source, output = tmp_path / "x.mlir", tmp_path / "x.vmfb"
    source.write_text(matmul(16, 256))
    report = fissile.compile(source, output, MATCHED, check=False)
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS109", "repaired")]
    generator = np.random.default_rng(0)
    a, b = (
        generator.integers(-128, 128, (16, 256)).astype(np.int8),
        generator.standard_normal((256, 64)).astype(np.float32),
    )
    [runtime] = runtimes.named(["vulkan"])
    [got] = runtimes.run(output, signatures_of_vmfb(output)["main"], [a, b], runtime)
    np.testing.assert_allclose(got, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-3)


def test_check_generates_code_that_is_unrolled_a_little(tmp_path):
    """On a target without storage for narrow elements, where stock IREE refuses it: failed to legalize operation 'vector.bitcast'."""
    source = tmp_path / "p.mlir"
    source.write_text(matmul(1, 256))
    found = fissile.check(source, ["vulkan"]).findings
    assert {f.code for f in found if f.severity.value == "error"} == {"FIS104", "FIS110"}, found


@pytest.mark.parametrize(("m", "k", "effect"), ((64, 32, Effect.REFUSED), (8, 300, Effect.WRONG)))
def test_a_few_hundred_unrolled_elements_are_generated_to_know_what_stock_makes_of_them(
    tmp_path, m, k, effect
):
    """256 to 1023 take seconds on a target without storage for them: FIS110 of `compile` states what stock does with the program."""
    flags = ["--iree-hal-target-device=vulkan"]
    source, stocks = tmp_path / "f.mlir", tmp_path / "stock.vmfb"
    source.write_text(matmul(m, k))
    session = Session(flags)
    configured = session.run(session.parse(source), "executable-configurations")
    assert [unrolls(d, changed=True).count >= 256 for d in dispatches(configured.op)] == [True]
    [found] = find_narrow(configured, probe).found
    assert (found.code, found.effect) == ("FIS110", effect)
    stock = run_program([stock_compiler(), *flags, source, "-o", stocks], capture_output=True, text=True)
    assert (stock.returncode != 0) == (effect is Effect.REFUSED)
    assert found.stock.partition(":")[0] in stock.stderr


def test_what_takes_minutes_is_not_generated():
    session = Session(["--iree-hal-target-device=vulkan"])
    configured = session.run(session.parse_text(matmul(64, 128)), "executable-configurations")
    never = Mock(side_effect=AssertionError("code was generated"))
    [found] = find_narrow(configured, never).found
    assert (found.code, found.effect) == ("FIS110", Effect.UNPROVED) and not never.called
