"""Prediction as arithmetic on plain data: no compiler here. Agreement with the compiler is in
test_agreement.py."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fissile.passes.analysis.bounds.size_terms import product, term
from fissile.passes.analysis.dispatch.linear_index import Linear
from fissile.passes.analysis.memory.predict import predict
from fissile.passes.analysis.memory.prediction import Prediction, largest_that_fits, size_at
from fissile.passes.analysis.memory.tiles import (
    Config,
    ConfiguredDispatch,
    Gemm,
    Op,
    Value,
    bytes_of,
    region,
    window,
)

LIMIT = 65536


def loop(position: int, count: int, factor: int = 1) -> Linear:
    return Linear(tuple(factor if k == position else 0 for k in range(count)))


def identity(shape, element="f32", bits=32, maker=None) -> Value:
    return Value(tuple(shape), bits, element, tuple(loop(k, len(shape)) for k in range(len(shape))), maker)


def elementwise(number, shape, maker=None, stored=False, element="f32", bits=32) -> Op:
    return Op(
        number,
        "linalg.generic",
        tuple(shape),
        (False,) * len(shape),
        (identity(shape, "i8", 8, maker),),
        (identity(shape, element, bits),),
        stored=stored,
    )


def convolution(number, c, f, h, config, stride=1, image=None, filters=None, stored=True, gemm=None) -> Op:
    """nchw without batch, 3x3: loops f, h, w, c, kh, kw."""
    wide = (h - 1) * stride + 3 if isinstance(h, int) else h
    rows = tuple(
        Linear(tuple(stride if k == at else 1 if k == at + 3 else 0 for k in range(6))) for at in (1, 2)
    )
    x = Value((c, wide, wide), 32, "f32", (loop(3, 6), *rows), image)
    w = Value((f, c, 3, 3), 32, "f32", tuple(loop(k, 6) for k in (0, 3, 4, 5)), filters)
    out = Value((f, h, h), 32, "f32", tuple(loop(k, 6) for k in range(3)))
    return Op(
        number,
        "linalg.generic",
        (f, h, h, c, 3, 3),
        (False,) * 3 + (True,) * 3,
        (x, w),
        (out,),
        config,
        stored=stored,
        gemm=gemm,
    )


def dispatch(
    ops, backend="rocm", pipeline="TileAndFuse", workgroup=(512, 1, 1), limit=LIMIT, **options
) -> ConfiguredDispatch:
    return ConfiguredDispatch("d", backend, pipeline, options, workgroup, 64, limit, tuple(ops))


# --- sizes and windows


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9), st.integers(1, 9))
def test_sizes_are_polynomials(a, b, n, m):
    size = (term(a) + term("n") * b) * (term("m") + 1)
    assert size_at(size, {"n": n, "m": m}) == (a + b * n) * (m + 1)


def test_a_size_says_itself():
    assert str(product(["n0", 4, "n0"]) + 3) == "4 * n0 * n0 + 3"
    assert term(7).constant == 7 and term("n0").constant is None


@given(st.integers(1, 1000), st.integers(0, 5000), st.integers(0, 100000))
def test_largest_is_the_last_that_fits(factor, constant, limit):
    def total(values):
        return factor * values["n"] + constant

    largest = largest_that_fits(total, "n", limit, {})
    if largest is None:
        assert total({"n": 1}) > limit
    else:
        assert total({"n": largest}) <= limit < total({"n": largest + 1})


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 20), st.integers(1, 7))
def test_a_window_is_what_its_loops_touch(stride, dilation, tile, taps):
    index = Linear((stride, dilation))
    touched = {stride * i + dilation * k for i in range(tile) for k in range(taps)}
    reach = window(index, (tile, taps), 10**6)
    assert reach == max(touched) - min(touched) + 1
    assert window(index, (tile, taps), 5) == min(5, reach)


def test_sub_byte_and_huge_buffers():
    assert bytes_of((3,), 4).constant == 2
    assert bytes_of((2**20, 2**20, 2**20), 64).constant == 2**63


def test_a_non_linear_index_reads_the_whole_dimension():
    value = Value((64, 58), 32, "f32", (None, loop(0, 1)))
    assert region(value, (8,)) == (64, 8)


# --- LLVMGPU

GEMM = Gemm(
    (64, 56, 56, 576),
    (False, False, False, True),
    (((loop(0, 4), loop(3, 4)), 1), ((loop(3, 4), loop(1, 4), loop(2, 4)), 0)),
)
MMA = Config(
    {
        "promote_operands": (0, 1),
        "workgroup": (64, 2, 64, 0),
        "reduction": (0, 0, 0, 16),
        "subgroup": (2, 2, 1, 0),
        "padding": (64, 2, 64, 64),
    },
    intrinsic=(16, 16, 4),
)


def test_the_seed_case_of_the_design():
    """NCHW convolution of a dequantised 64x58x58 input on gfx942: 910336 bytes, the whole tensor among
    them."""
    ops = [
        elementwise(0, (64, 58, 58)),
        elementwise(1, (64, 64, 3, 3)),
        convolution(2, 64, 64, 56, MMA, image=0, filters=1, gemm=GEMM),
    ]
    reported = predict(dispatch(ops, use_igemm_convolution="true"))
    assert sorted(b.bytes.value for b in reported.buffers) == [16384, 32768, 861184]
    # The convolution of this test adds to a tensor: where that is no fill, only the probe knows.
    assert reported.doubts == ("the accumulator starts from a tensor, not from a fill",)
    assert (reported.total.value, reported.floor) == (910336, 861184)
    assert [b.type for b in reported.buffers if not b.scales] == ["64x58x58xf32"]


def test_without_the_producer_rows_are_padded_because_that_fits():
    reported = predict(dispatch([convolution(0, 64, 64, 56, MMA, gemm=GEMM)], use_igemm_convolution="true"))
    assert [b.type for b in reported.buffers] == ["64x66xf32", "64x2x66xf32"]
    assert reported.total.value == 50688


@pytest.mark.parametrize("limit, total", [(50688, 50688), (50687, 49152)])
def test_padding_is_skipped_where_it_would_not_fit(limit, total):
    ops = [convolution(0, 64, 64, 56, MMA, gemm=GEMM)]
    assert predict(dispatch(ops, limit=limit, use_igemm_convolution="true")).total.value == total


def test_padding_can_be_switched_off():
    options = {"use_igemm_convolution": "true", "no_reduce_shared_memory_bank_conflicts": "true"}
    assert predict(dispatch([convolution(0, 64, 64, 56, MMA, gemm=GEMM)], **options)).total.value == 49152


def test_nothing_promoted_nothing_held():
    config = Config(
        {"workgroup": (1, 1, 64, 0, 0, 0), "thread": (1, 1, 1, 0, 0, 0), "reduction": (0, 0, 0, 1, 3, 3)}
    )
    reported = predict(dispatch([elementwise(0, (64, 58, 58)), convolution(1, 64, 64, 56, config, image=0)]))
    assert (reported.total.value, reported.doubts) == (0, ())


def test_a_key_that_nobody_knows_is_a_doubt():
    reported = predict(
        dispatch(
            [convolution(0, 64, 64, 56, replace(MMA, other=("swizzle",)), gemm=GEMM)],
            use_igemm_convolution="true",
        )
    )
    assert reported.doubts and "swizzle" in reported.doubts[0]


@pytest.mark.parametrize("subgroups, total", [((1, 16), 64 + 8), ((1, 1), 0)])
def test_a_reduction_shared_by_subgroups(subgroups, total):
    config = Config({"workgroup": (1, 0), "partial_reduction": (0, 4096)}, subgroups=subgroups)
    op = Op(
        0,
        "linalg.generic",
        (64, 8192),
        (False, True),
        (identity((64, 8192)),),
        (Value((64,), 32, "f32", (loop(0, 2),)),),
        config,
        stored=True,
    )
    assert predict(dispatch([op], pipeline="VectorDistribute")).total.value == total


# --- SPIR-V

TILED = Config(levels=((1, 8, 8), (1, 1, 1)))


def spirv(ops, pipeline="BaseDistribute", limit=16384, **options) -> Prediction:
    return predict(dispatch(ops, "vulkan-spirv", pipeline, (8, 8, 1), limit, **options))


def test_a_producers_tile_has_a_halo():
    reported = spirv(
        [
            elementwise(0, (64, 58, 58)),
            elementwise(1, (64, 64, 3, 3)),
            convolution(2, 64, 64, 56, TILED, image=0, filters=1),
        ]
    )
    assert [(b.type, b.bytes.value) for b in reported.buffers] == [
        ("64x10x10xf32", 25600),
        ("1x64x3x3xf32", 2304),
    ]


def test_an_accumulator_is_held_only_for_a_consumer():
    alone = [convolution(0, 64, 64, 56, TILED)]
    read = [convolution(0, 64, 64, 56, TILED, stored=False), elementwise(1, (64, 56, 56), 0, True, "i8", 8)]
    assert spirv(alone).total.value == 0
    assert [(b.type, b.reason) for b in spirv(read).buffers] == [
        ("1x8x8xf32", "accumulator tile, read by a fused consumer")
    ]


def test_each_buffer_is_rounded_up():
    reported = spirv(
        [elementwise(0, (3, 3, 3)), convolution(1, 3, 4, 1, Config(levels=((1, 1, 1),)), image=0)]
    )
    assert [b.bytes.value for b in reported.buffers] == [128]  # 27 floats are 108 bytes


def test_a_dynamic_dimension_gives_a_formula_and_never_zero():
    ops = [
        elementwise(0, ("n0", 34, 34)),
        elementwise(1, (64, "n0", 3, 3)),
        convolution(2, "n0", 64, 32, TILED, image=0, filters=1),
    ]
    reported = spirv(ops)
    assert reported.total.value is None and str(reported.formula) == "436 * n0"
    (largest,) = reported.largest(16384).values()
    assert reported.at({"n0": largest}) <= 16384 < reported.at({"n0": largest + 1})
    bounded = predict(
        replace(dispatch(ops, "vulkan-spirv", "BaseDistribute", limit=16384), bounds={"n0": 10})
    )
    assert (bounded.total.value, bounded.total.certainty.value) == (4416, "at most")


def test_a_tile_does_not_depend_on_a_dynamic_loop():
    reported = spirv([elementwise(0, (64, 58, "n0")), convolution(1, 64, 64, "n1", TILED, image=0)])
    assert reported.total.value == 25600


@pytest.mark.parametrize("depth, stage, copies", [(0, 1, 1), (1, 1, 1), (2, 1, 2), (2, 0, 3)])
def test_copies_in_flight(depth, stage, copies):
    config = Config(levels=((64, 64, 16),))
    op = Op(
        0,
        "linalg.matmul",
        (128, 128, 256),
        (False, False, True),
        (
            Value((128, 256), 32, "f32", (loop(0, 3), loop(2, 3))),
            Value((256, 128), 32, "f32", (loop(2, 3), loop(1, 3))),
        ),
        (Value((128, 128), 32, "f32", (loop(0, 3), loop(1, 3))),),
        config,
        stored=True,
    )
    reported = spirv([op], "MatmulPromoteVectorize", 65536, pipeline_depth=depth, store_stage=stage)
    assert reported.total.value == copies * (64 * 20 + 16 * 68) * 4


@pytest.mark.parametrize("width, buffers", [(8, 2), (2, 0)])
def test_operands_are_promoted_only_in_whole_copies(width, buffers):
    """128 bits are four floats: a tile two wide is left in global memory (GPUTensorAlloc)."""
    op = Op(
        0,
        "linalg.matmul",
        (128, 64, 256),
        (False, False, True),
        (
            Value((128, 256), 32, "f32", (loop(0, 3), loop(2, 3))),
            Value((256, 64), 32, "f32", (loop(2, 3), loop(1, 3))),
        ),
        (Value((128, 64), 32, "f32", (loop(0, 3), loop(1, 3))),),
        Config(levels=((64, width, 32),)),
        stored=True,
    )
    assert (
        len(spirv([op], "MatmulPromoteVectorize", 65536, pipeline_depth=1, store_stage=1).buffers) == buffers
    )


# --- what is not known is reported


def test_a_pipeline_without_a_model_is_a_doubt_and_not_a_zero():
    reported = predict(dispatch([elementwise(0, (4,), stored=True)], pipeline="WinogradVectorize"))
    assert reported.doubts == ("no model of the WinogradVectorize pipeline for rocm",)


def test_an_unknown_op_is_a_doubt():
    reported = predict(
        replace(dispatch([elementwise(0, (4,), stored=True)]), opaque=("iree_linalg_ext.sort",))
    )
    assert "iree_linalg_ext.sort" in reported.doubts[0]


VECTORS = Config({"vector_common_parallel": (1, 8, 8, 0, 0, 0)})


def cpu(ops) -> Prediction:
    return predict(dispatch(ops, "llvm-cpu", "DoubleTilingExpert", limit=32768))


def test_cpu_one_op_needs_no_stack():
    assert (
        cpu([convolution(0, 64, 64, 56, VECTORS)]).total.value,
        cpu([convolution(0, 64, 64, 56, VECTORS)]).doubts,
    ) == (0, ())


def test_cpu_a_handed_over_result_is_bounded_by_vector_tiles():
    reported = cpu(
        [convolution(0, 64, 64, 56, VECTORS, stored=False), elementwise(1, (64, 56, 56), 0, True, "i8", 8)]
    )
    assert (reported.total.value, reported.total.certainty.value, reported.doubts) == (3 * 256, "at most", ())


def test_cpu_a_producer_behind_a_window_is_a_doubt():
    assert cpu([elementwise(0, (64, 58, 58)), convolution(1, 64, 64, 56, VECTORS, image=0)]).doubts


def test_results_of_different_rank_have_a_tile_each():
    """A softmax's exponentials and their row sums come from one op and are read by the next: both are buffers."""
    rows, columns = 64, 96
    plane, row = (loop(0, 2), loop(1, 2)), (loop(0, 2),)
    x = Value((rows, columns), 32, "f32", plane)
    sums = Value((rows,), 32, "f32", row)
    made = Op(
        0, "linalg.generic", (rows, columns), (False, True), (x,), (x, sums), config=Config(levels=((64, 0),))
    )
    both = Op(
        1,
        "linalg.generic",
        (rows, columns),
        (False, False),
        (Value((rows, columns), 32, "f32", plane, 0), Value((rows,), 32, "f32", row, 0, result=1)),
        (x,),
        stored=True,
    )
    dispatch = ConfiguredDispatch(
        name="d",
        backend="vulkan-spirv",
        pipeline="BaseDistribute",
        options={},
        workgroup=(64, 1, 1),
        subgroup=64,
        limit=16384,
        ops=(made, both),
        opaque=(),
        bounds={},
    )
    prediction = predict(dispatch)
    assert [b.size.constant for b in prediction.buffers] == [rows * columns * 4, rows * 4]
