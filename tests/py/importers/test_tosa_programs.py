"""Programs of TOSA: constants of 48 bits (FIS210), and types that IREE's import rejects (FIS421), as TOSA 1.0 defines them."""

from __future__ import annotations

import pytest
from built import CPU
from hypothesis import given
from hypothesis import strategies as st

import fissile
from bench.compared_programs import RIGHT, compared, write_call
from bench.tosa_programs import __main__ as table  # fills `entries`
from bench.tosa_programs import entries
from fissile.passes.remedies.entry.tosa.wide_integers import integers_of
from fissile.pipelines.numerics import runtimes
from fissile.pipelines.numerics.build import compile_stock
from fissile.pipelines.numerics.signature import signatures_of_source

assert table
PROGRAMS = {name: rest for name, *rest in entries.programs()}
MISREAD = ("conv2d_i16", "conv3d_i16", "depthwise_i16_stride", "transpose_conv_i16_11_0")
REJECTED = (
    "rescale_true_ui8", "rescale_true_ui8_zero", "rescale_i32_i8_INEXACT_ROUND", "add_i8_columns", "maximum_i16", "greater_equal_i8", "reduce_sum_i8_2",
    "clamp_i32", "cast_i1_f16", "transpose_conv_i16_22_0", "transpose_conv_i16_23_-1", "transpose_conv_i16_open",
)  # fmt: skip
INFINITE = (
    "max_pool_special_f32_1", "reduce_max_special_f16_IGNORE", "max_pool_plain_f32_open", "max_pool_nan_IGNORE", "reduce_min_special_f32",
    "reduce_max_special_open",
)  # fmt: skip
READ = ("block_separable", "conv2d_i8_zeros", "rescale_channels_double", "flow_while")
"""What stock reads as it is."""
TARGETS = {"local-task": CPU, "vulkan": ["--iree-hal-target-device=vulkan"]}


def numbers(tmp_path, name: str, runtime: str, module) -> str:
    text, arguments, results = PROGRAMS[name]
    source, call = tmp_path / f"{name}.mlir", tmp_path / f"{name}.npz"
    source.write_text(text)
    write_call(call, arguments, results, exact=True)
    [device] = runtimes.named([runtime])
    answer = runtimes.run(module, signatures_of_source(source)["main"], arguments, device)
    assert isinstance(answer, list), answer
    return compared(answer, call, name)


def compiled(tmp_path, name: str, runtime: str):
    source = tmp_path / "in.mlir"
    source.write_text(PROGRAMS[name][0])
    return fissile.compile(source, tmp_path / "out.vmfb", TARGETS[runtime], check=False)


@pytest.mark.parametrize("runtime", TARGETS)
@pytest.mark.parametrize("name", MISREAD)
def test_the_sign_of_a_bias_is_kept(tmp_path, name, runtime):
    report = compiled(tmp_path, name, runtime)
    assert [one.severity.value for one in report.findings if one.code == "FIS210"] == ["repaired"]
    assert numbers(tmp_path, name, runtime, tmp_path / "out.vmfb") == RIGHT


def test_stock_drops_it(tmp_path):
    """Where stock is right, IREE has changed, and FIS210 is not needed any more."""
    name = MISREAD[0]
    source, module = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PROGRAMS[name][0])
    assert compile_stock(source, module, [*CPU], timeout=300.0) is None
    assert numbers(tmp_path, name, "local-task", module) != RIGHT


@pytest.mark.parametrize("runtime", TARGETS)
@pytest.mark.parametrize("name", INFINITE)
def test_an_infinite_extreme_stays_infinite(tmp_path, name, runtime):
    report = compiled(tmp_path, name, runtime)
    assert [one.severity.value for one in report.findings if one.code == "FIS211"] == ["repaired"]
    assert "FIS421" not in {one.code for one in report.findings}
    assert numbers(tmp_path, name, runtime, tmp_path / "out.vmfb") == RIGHT


@pytest.mark.parametrize("name", INFINITE[:2])
def test_stock_makes_it_finite(tmp_path, name):
    """Where stock is right, IREE has changed, and FIS211 is not needed any more."""
    source, module = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(PROGRAMS[name][0])
    assert compile_stock(source, module, [*CPU], timeout=300.0) is None
    assert numbers(tmp_path, name, "local-task", module) != RIGHT


@pytest.mark.parametrize("runtime", TARGETS)
@pytest.mark.parametrize("name", REJECTED)
def test_what_stock_rejects_is_written_otherwise(tmp_path, name, runtime):
    report = compiled(tmp_path, name, runtime)
    assert "FIS421" in {one.code for one in report.findings if one.severity.value == "repaired"}
    assert numbers(tmp_path, name, runtime, tmp_path / "out.vmfb") == RIGHT


@pytest.mark.parametrize("name", REJECTED)
def test_stock_rejects_it(tmp_path, name):
    source = tmp_path / "in.mlir"
    source.write_text(PROGRAMS[name][0])
    assert compile_stock(source, tmp_path / "out.vmfb", [*CPU], timeout=300.0) is not None


@pytest.mark.parametrize("name", READ)
def test_what_stock_reads_stays_as_it_is(tmp_path, name):
    assert not compiled(tmp_path, name, "local-task").findings
    stocks = tmp_path / "stocks.vmfb"
    assert compile_stock(tmp_path / "in.mlir", stocks, [*CPU], timeout=300.0) is None
    assert stocks.read_bytes() == (tmp_path / "out.vmfb").read_bytes()


@given(st.lists(st.integers(-(1 << 47), (1 << 47) - 1), min_size=1, max_size=300))
def test_elements_are_read_as_mlir_prints_them(numbers):
    """Beyond 100 elements MLIR prints bytes."""
    from iree.compiler import ir

    with ir.Context():
        spelled = f"dense<{numbers}> : tensor<{len(numbers)}xi48>"
        text = str(ir.Attribute.parse(spelled))
    assert integers_of(text, len(numbers)) == numbers


def test_elements_of_a_splat_and_of_what_is_none():
    assert integers_of("dense<-7> : tensor<3xi48>", 3) == [-7, -7, -7]
    assert integers_of("dense_resource<x> : tensor<3xi48>", 3) is None
    assert integers_of('dense<"0x01"> : tensor<3xi48>', 3) is None
