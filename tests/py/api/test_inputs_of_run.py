"""What `Result.run` takes as inputs: arrays as they are, Python's numbers where their value is kept."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import fissile
from fissile.api.fitted_arrays import fitted
from fissile.errors import UsageError
from fissile.pipelines.numerics.signature import Signature, parse_value

FOUR = np.arange(4, dtype=np.float32)


def taken(given, type_: str) -> np.ndarray:
    [array] = fitted([given], Signature("f", (parse_value(type_),), ()))
    return array


@pytest.mark.parametrize(
    "given, type_, holds",
    [
        (3, "i8", 3),
        (3.0, "i8", 3),
        (-128, "i8", -128),
        (True, "i8", 1),
        (1, "i1", True),
        (0.0, "i1", False),
        (2**64 - 1, "ui64", 2**64 - 1),
        (7, "f32", 7.0),
        (2**70, "f64", 2.0**70),
        (0.1, "f32", np.float32(0.1)),
        (float("inf"), "f16", np.inf),
        (2, "bf16", 2.0),
        (np.float64(0.5), "f16", 0.5),
        ([1, 2], "tensor<2xi64>", [1, 2]),
        ([1.0, 2.0], "tensor<?xi32>", [1, 2]),
        ([], "tensor<?xi32>", []),
        (3 + 4j, "tensor<complex<f32>>", 3 + 4j),
        (-8, "tensor<i4>", -8),
        (FOUR, "tensor<4xf32>", FOUR),
        (FOUR.astype(">f4"), "tensor<4xf32>", FOUR),
    ],
)
def test_a_number_is_converted_where_its_value_is_kept(given, type_, holds):
    array = taken(given, type_)
    assert array.dtype == parse_value(type_).dtype and array.dtype.isnative
    assert np.array_equal(array, np.asarray(holds).astype(array.dtype))


def test_a_nan_stays_one():
    assert np.isnan(taken(float("nan"), "f32"))


@pytest.mark.parametrize(
    "given, type_, message, hint",
    [
        (300, "i8", "input 0 of @f is 300, which i8 cannot represent", "whole numbers from -128 to 127"),
        (-1, "ui8", "is -1, which ui8 cannot", "from 0 to 255"),
        (2**40, "i32", "is 1099511627776, which", "2147483647"),
        (2**70, "i64", "is 1180591620717411303424, which i64 cannot", "9223372036854775807"),
        (float(2**63), "i64", "is 9.223372036854775808e+18|is 9.22", "9223372036854775807"),
        (3.5, "i32", "is 3.5, which i32 cannot", "whole numbers"),
        (float("nan"), "i8", "is nan, which", "whole numbers"),
        (2, "i1", "is 2, which i1 cannot", "from 0 to 1"),
        (0.5, "i1", "is 0.5, which i1 cannot", "from 0 to 1"),
        (8, "tensor<i4>", "is 8, which", "from -8 to 7"),
        (np.array([0, 9], np.int8), "tensor<2xi4>", "holds 9, which", "from -8 to 7"),
        ([1, 300], "tensor<2xi8>", "holds 300, which", "from -128 to 127"),
        (1e39, "f32", "is 1e\\+39, which f32 cannot", "finite in its type"),
        pytest.param(10**400, "f64", "is 1000.*, which f64", "finite", id="beyond f64"),
        (1e6, "tensor<f8E4M3FN>", "is 1000000.0, which", "finite"),
        (None, "i1", "is None, and i1 is needed", "give numbers"),
        ("3", "f32", "is np.str_|is '3', and f32 is needed", "give numbers"),
        (1j, "f32", "and f32 is needed", "give numbers"),
        ([1, None], "tensor<2xf32>", "is 1, and tensor", "give numbers"),
        ([[1], [1, 2]], "tensor<2xf32>", "is no array", "it takes tensor<2xf32>"),
        (FOUR.astype(np.int32), "tensor<4xf32>", "4xint32, and", "astype('float32')"),
        (FOUR.astype(">f8"), "tensor<4xf32>", "4xfloat64, and", "astype('float32')"),
        ([1, 2], "tensor<3xf32>", "2xint64, and", "it takes tensor<3xf32>"),
        (np.array(1, ml_dtypes.bfloat16), "f32", "bfloat16, and f32", "astype('float32')"),
    ],
)
def test_a_number_whose_value_would_change_is_refused(given, type_, message, hint):
    with pytest.raises(UsageError, match=message) as refused:
        taken(given, type_)
    assert hint in refused.value.hint


def test_a_module_runs_on_plain_numbers_and_on_either_byte_order():
    built = fissile.compile(
        "func.func @f(%x: tensor<4xf32>, %i: i32) -> (tensor<4xf32>, i32) { return %x, %i : tensor<4xf32>, i32 }",
        target="llvm-cpu",
    )
    floats, integer = built.run(FOUR.astype(">f4"), 3.0)
    assert np.array_equal(floats, FOUR) and integer == 3
    with pytest.raises(UsageError, match="input 1 of @f is 3.5"):
        built.run(FOUR, 3.5)


def test_a_verification_takes_either_byte_order():
    program = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
    big = FOUR.astype(">f4")
    assert fissile.verify(program, inputs=[big], expected=[big], on="local-task").agrees
    assert fissile.verify(program, inputs=[FOUR], reference=lambda x: x.astype(">f4"), on="local-task").agrees
