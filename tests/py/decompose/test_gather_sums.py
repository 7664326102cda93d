"""FIS191: gathers at a sum with a loop's index, which are read as consecutive elements; the repair; and twins that stay silent."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fissile
from fissile.cli import opt
from fissile.pipelines.numerics.build import compile_stock

SIZE = 64
TERMS = {
    "loaded": ("%loaded", lambda i, k: k),
    "loop": ("%i", lambda i, k: i),
    "half": ("%half", lambda i, k: i // 2),
    "one": ("%one", lambda i, k: 1 + 0 * i),
}
VALUES = np.arange(4096, dtype=np.float32)
OFFSETS = np.random.default_rng(0).integers(0, 8, SIZE)


def program(first: str, second: str, size: int = SIZE) -> str:
    return f"""\
func.func @main(%x: tensor<4096xf32>, %k: tensor<{size}xi64>) -> tensor<{size}xf32> {{
  %empty = tensor.empty() : tensor<{size}xf32>
  %mask = arith.constant 7 : i64
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%k : tensor<{size}xi64>) outs(%empty : tensor<{size}xf32>) {{
  ^bb0(%offset: i64, %_: f32):
    %i = linalg.index 0 : index
    %half = arith.divui %i, %two : index
    %small = arith.andi %offset, %mask : i64
    %loaded = arith.index_cast %small : i64 to index
    %at = arith.addi {TERMS[first][0]}, {TERMS[second][0]} : index
    %element = tensor.extract %x[%at] : tensor<4096xf32>
    linalg.yield %element : f32
  }} -> tensor<{size}xf32>
  return %r : tensor<{size}xf32>
}}
"""


def wanted(first: str, second: str) -> np.ndarray:
    i = np.arange(SIZE)
    return VALUES[TERMS[first][1](i, OFFSETS) + TERMS[second][1](i, OFFSETS)]


MISREAD = [("loaded", "loop"), ("loop", "loaded"), ("loop", "loop"), ("half", "loop")]
CONSECUTIVE = [("loop", "one"), ("loaded", "one"), ("loaded", "half"), ("half", "half")]


@pytest.mark.parametrize(("first", "second"), MISREAD)
def test_it_is_found_and_repaired_and_right(tmp_path, first, second):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(first, second))
    report = fissile.compile(source, output, [*CPU])
    assert [(f.code, f.severity.value) for f in report.findings] == [("FIS191", "repaired")]
    np.testing.assert_array_equal(run(output, [VALUES, OFFSETS])[0], wanted(first, second))


@pytest.mark.parametrize(("first", "second"), MISREAD)
def test_stock_computes_it_wrongly(tmp_path, first, second):
    """Fails when IREE fixes it."""
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(first, second))
    assert compile_stock(source, output, CPU) is None
    assert (run(output, [VALUES, OFFSETS])[0] != wanted(first, second)).any()


@pytest.mark.parametrize(("first", "second"), CONSECUTIVE)
def test_what_is_read_right_stays(tmp_path, first, second):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(program(first, second))
    assert not fissile.compile(source, output, [*CPU]).findings
    np.testing.assert_array_equal(run(output, [VALUES, OFFSETS])[0], wanted(first, second))


@pytest.mark.parametrize("target", ["gfx942", "sm_80"])
def test_the_code_of_gpus_is_wrong_where_it_is_found(tmp_path, target):
    """A vector of 4 elements, and one of 1, for each thread; the repair of the first."""
    source = tmp_path / "in.mlir"
    for size, expected in ((1024, {"FIS191", "FIS189"}), (1023, set())):
        source.write_text(program("loaded", "loop", size))
        report = fissile.check(source, target=target, simulate=True)
        assert {f.code for f in report.findings} == expected, size
    repaired = tmp_path / "repaired.mlir"
    source.write_text(program("loaded", "loop", 1024))
    assert (
        opt.main([str(source), "--pass-pipeline=builtin.module(fissile-gather-sums)", "-o", str(repaired)])
        == 0
    )
    assert not fissile.check(repaired, target=target, simulate=True).findings


def test_spirv_reads_by_element(tmp_path):
    source = tmp_path / "in.mlir"
    source.write_text(program("loaded", "loop", 1024))
    assert not {f.code for f in fissile.check(source, target="vulkan:ampere").findings} & {"FIS191"}


@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.sampled_from(sorted(TERMS)), min_size=3, max_size=3))
def test_sums_of_three_terms_are_right(tmp_path, terms):
    """However the terms stand: found or not, the numbers are right."""
    first, second, third = terms
    text = program(first, second).replace(
        "    %element = tensor.extract %x[%at]",
        f"    %sum = arith.addi {TERMS[third][0]}, %at : index\n    %element = tensor.extract %x[%sum]",
    )
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(text)
    fissile.compile(source, output, [*CPU])
    i = np.arange(SIZE)
    at = sum(TERMS[one][1](i, OFFSETS) for one in terms)
    np.testing.assert_array_equal(run(output, [VALUES, OFFSETS])[0], VALUES[at])
