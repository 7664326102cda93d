"""Prediction against IREE's own code generation: the same verdict always, the same bytes unless a doubt is
reported.

`python -m bench.check_agreement FOLDER` checks the same for any folder of programs, on every GPU target.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from effort import examples, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from tiled_programs import conv, dynamic_channels, matmul, residual, row_sum

from fissile.pipelines.check.measuring import measure
from fissile.quantity import Certainty
from fissile.target import find_target

PROGRAMS = {
    "conv-nchw": conv(),
    "conv-nchw-i8-out": conv(size=14, stride=2, consumer="i8"),
    "conv-nhwc": conv(layout="nhwc", channels=16, size=28),
    "conv-batch": conv(batch=4, channels=16, size=8),
    "conv-plain": conv(dequantise=False, filters=128, consumer="f32"),
    "matmul": matmul(),
    "matmul-odd": matmul(33, 77, 100, consumer="i8"),
    "matmul-plain": matmul(512, 512, 128, dequantise=False, consumer="f32"),
    "row-sum": row_sum(),
}
TARGETS = ("gfx942", "gfx1100", "sm_86", "vulkan", "vulkan:ampere", "vulkan:rdna3", "llvm-cpu")


def disagreements(folder, text: str, target_name: str) -> list[str]:
    """A sentence for each dispatch whose prediction is sure and wrong: another number, or a bound that does
    not hold."""
    program = folder / "p.mlir"
    program.write_text(text)
    wrong = []
    for one in measure(program, find_target(target_name)):
        reported, exact = one.prediction.total, one.exact
        if exact is None or one.prediction.doubts:
            continue
        if reported.certainty is Certainty.AT_MOST and reported.value >= exact.value:
            continue
        if reported.value != exact.value:
            wrong.append(f"{target_name} {one.dispatch.name}: {reported} predicted, {exact} exact")
    return wrong


QUICK = {"gfx942": PROGRAMS, "vulkan": {*PROGRAMS} - {"matmul"}, "llvm-cpu": PROGRAMS}
"""One target of each backend with all programs (the code of `matmul` for vulkan takes 40 s, of `matmul-odd` 1 s); the others with three."""
THREE = ("conv-nchw", "matmul-odd", "row-sum")


@pytest.mark.parametrize(
    ("name", "target"),
    sample(
        [(name, target) for target in TARGETS for name in PROGRAMS],
        *((name, target) for target in TARGETS for name in QUICK.get(target, THREE)),
    ),
)
def test_patterns(tmp_path, name, target):
    assert disagreements(tmp_path, PROGRAMS[name], target) == []


@pytest.mark.parametrize("sizes", ((33, 77, 100), (48, 80, 64), (16, 80, 64)))
def test_an_accumulator_that_starts_from_another_number_than_0(tmp_path, sizes):
    """By partial tiles it is held on chip, but not where a subgroup computes one intrinsic (the last one)."""
    program = matmul(*sizes, dequantise=False, consumer="f32").replace("constant 0.0 :", "constant 1.5 :")
    assert "constant 1.5 : f32" in program and disagreements(tmp_path, program, "gfx942") == []


def test_most_patterns_leave_no_doubt(tmp_path):
    program = tmp_path / "p.mlir"
    doubtful = []
    for name, text in PROGRAMS.items():
        program.write_text(text)
        doubtful += [name for one in measure(program, find_target("gfx942")) if one.prediction.doubts]
    assert doubtful == []


@pytest.mark.parametrize(
    ("rows", "columns", "read", "total"),
    [
        (128, 128, "whole", 50176),  # tiles divide it: the consumer's threads compute what they add
        (128, 112, "whole", 77824),  # 128x112: more than there is
        (112, 128, "whole", 81920),  # the last tile is cut short, and rows get no padding
        (128, 112, "transposed", 77824),
        (128, 112, "column", 50632),
        (112, 128, "column", 50176),  # what is padded is no dimension of it
    ],
)
def test_what_a_consumer_reads_beside_a_padded_root(tmp_path, rows, columns, read, total):
    """IREE's own number for each, and no doubt that would leave it to code generation."""
    program = tmp_path / "p.mlir"
    program.write_text(residual(rows, columns, read))
    product = next(one for one in measure(program, find_target("gfx942")) if "matmul" in one.dispatch.name)
    assert product.prediction.doubts == ()
    assert (product.prediction.total.value, product.exact.value) == (total, total)


@settings(max_examples=examples(5, 12))
@given(
    st.sampled_from(["nchw", "nhwc"]),
    st.integers(1, 3),
    st.sampled_from([3, 8, 16, 20, 64]),
    st.sampled_from([8, 24, 64]),
    st.integers(4, 24),
    st.sampled_from([1, 3, 5]),
    st.integers(1, 2),
    st.booleans(),
    st.sampled_from(["", "f32", "i8"]),
    st.sampled_from(["gfx942", "vulkan", "llvm-cpu"]),
)
def test_convolutions_of_any_shape(
    tmp_path_factory, layout, batch, channels, filters, size, window, stride, dequantise, consumer, target
):
    text = conv(batch, channels, filters, size, window, stride, layout, dequantise, consumer)
    assert disagreements(tmp_path_factory.mktemp("conv"), text, target) == []


def test_counts_beyond_32_bits(tmp_path):
    """More than 4 GiB: Python does not wrap, and neither does IREE 3.13's check (older ones counted 32-bit
    bits)."""
    program = tmp_path / "p.mlir"
    program.write_text(conv(channels=64, filters=64, size=6000))
    (one,) = measure(program, find_target("gfx942"))
    assert one.exact.value == one.prediction.total.value > 2**32


def test_a_dynamic_size_is_a_formula(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(dynamic_channels())
    (one,) = measure(program, find_target("vulkan"))
    assert one.prediction.doubts == () and one.prediction.total.value is None
    (name,) = one.prediction.dimensions
    assert one.prediction.at({name: 10}) > 10 * 64 and one.exact.value is None


def test_a_stated_bound_makes_it_a_number(tmp_path):
    program = tmp_path / "p.mlir"
    program.write_text(dynamic_channels(bound=16))
    (one,) = measure(program, find_target("vulkan"))
    assert one.prediction.total.certainty.value == "at most"
    assert one.prediction.total.value == one.exact.value


@pytest.mark.parametrize("target", sample(["vulkan", "sm_86"], "vulkan"))
def test_an_onnx_reference_model(tmp_path, target):
    """squeezenet of the onnx package, at a small input; the sweep over all of them is bench/check_agreement.py."""
    examples = Path(__file__).resolve().parents[3] / "examples"
    sys.path.insert(0, str(examples))
    try:
        from onnx_models import network
    finally:
        sys.path.remove(str(examples))
    (tmp_path / "m.onnx").write_bytes(network("squeezenet", 35).SerializeToString())
    subprocess.run(
        [
            sys.executable,
            "-m",
            "iree.compiler.tools.import_onnx",
            tmp_path / "m.onnx",
            "-o",
            tmp_path / "m.mlir",
        ],
        check=True,
        capture_output=True,
    )
    measured = measure(tmp_path / "m.mlir", find_target(target))
    compared = [m for m in measured if m.exact is not None and not m.prediction.doubts]
    assert len(compared) > 15
    assert [
        m.dispatch.name
        for m in compared
        if m.prediction.total.certainty is not Certainty.AT_MOST and m.prediction.total.value != m.exact.value
    ] == []
