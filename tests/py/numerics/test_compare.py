"""compare: counted differences, and a verdict that a wrong number cannot pass."""

import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fissile.pipelines.numerics.compare import EXACT, Tolerance, compare, default_tolerance, steps_within

FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
INTEGERS = [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_equal_arrays_are_bit_identical(dtype):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    result = compare(a, a.copy(), EXACT)
    assert result.agrees and result.equal_bits and result.differing == 0
    assert result.sentence == "bit-identical (6 values)"


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_one_wrong_value_is_found_and_named(dtype):
    a = np.zeros((2, 3), dtype)
    b = a.copy()
    b[1, 2] = 1
    result = compare(b, a, EXACT)
    assert not result.agrees and result.differing == 1 and result.first == (1, 2)
    assert "1 of 6 values" in result.sentence and "[1, 2]" in result.sentence
    assert not compare(b, a).agrees  # no default tolerance hides a step in 6 values


def test_shape_and_type_mismatch():
    a = np.zeros((2, 3), np.float32)
    assert compare(a, a.reshape(3, 2)).sentence == "shapes differ: 2x3 against the expected 3x2"
    assert compare(a, a.astype(np.float64)).sentence == "types differ: float32 against the expected float64"
    assert compare(a, a.astype(np.float64), reference=True).agrees
    assert not compare(a, a.astype(np.int32), reference=True).agrees


def test_nan_and_infinity():
    expected = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    assert compare(expected.copy(), expected, EXACT).agrees
    for place, value in ((0, 0.0), (1, 1.0), (1, -np.inf), (3, np.nan), (3, np.inf)):
        actual = expected.copy()
        actual[place] = value
        result = compare(actual, expected, Tolerance(absolute=1e30, relative=1e30))
        assert not result.agrees and result.nonfinite == 1 and result.first == (place,), (place, value)


def test_the_sign_of_zero_is_a_bit_but_no_number():
    result = compare(np.float32([-0.0]), np.float32([0.0]), EXACT)
    assert not result.agrees and "sign of zero" in result.sentence
    assert compare(np.float32([-0.0]), np.float32([0.0]), Tolerance()).agrees


def test_steps_are_counted_and_their_share_limited():
    expected = np.zeros(10000, np.int8)
    nine, ten, far = expected.copy(), expected.copy(), expected.copy()
    nine[:9] = 1
    ten[:10] = 1
    far[0] = 2
    rule = steps_within(1, 0.001)
    assert compare(nine, expected, rule).agrees
    assert not compare(ten, expected, rule).agrees  # less than 0.1%, not at most
    assert not compare(far, expected, rule).agrees
    assert compare(far, expected, rule).max_steps == 2


def test_steps_do_not_wrap():
    low, high = np.int64([-(2**63)]), np.int64([2**63 - 1])
    assert compare(low, high).max_steps == 2**64 - 1
    assert compare(np.int8([-128]), np.int8([127])).max_steps == 255
    assert compare(np.uint64([0]), np.uint64([2**64 - 1])).max_steps == 2**64 - 1


def test_default_tolerance_takes_another_order_of_summation_and_no_more():
    terms = np.random.default_rng(0).standard_normal((64, 1000)).astype(np.float32)
    forward = np.add.accumulate(terms, axis=1)[:, -1]
    backward = np.add.accumulate(terms[:, ::-1], axis=1)[:, -1]
    assert not np.array_equal(forward, backward)
    assert compare(forward, backward).agrees
    assert not compare(forward * np.float32(1.0001), backward).agrees
    assert "sums in another order" in default_tolerance(np.float32).reason


def test_a_comparison_is_json():
    result = compare(np.float32([np.inf, 1.0]), np.float32([1.0, 0.0]))
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["nonfinite"] == 1


def test_empty_and_scalar():
    assert (
        compare(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)).sentence
        == "bit-identical (no values)"
    )
    assert not compare(np.int32(3), np.int32(4)).agrees


def test_a_tolerance_is_not_negative():
    with pytest.raises(ValueError):
        Tolerance(absolute=-1.0)


ARRAYS = hnp.arrays(st.sampled_from([np.float32, np.int8, np.uint8, np.int64]), hnp.array_shapes(max_side=4))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(ARRAYS, st.data())
def test_a_changed_bit_never_passes_exact(array, data):
    changed = array.copy()
    flat = changed.reshape(-1).view(np.uint8)
    flat[data.draw(st.integers(0, flat.size - 1))] ^= 1 << data.draw(st.integers(0, 7))
    both_nan = (
        array.dtype.kind == "f" and np.array_equal(array, changed, equal_nan=True) and np.isnan(array).any()
    )
    result = compare(changed, array, EXACT)
    assert result.agrees == bool(both_nan)
    assert result.differing <= 1
