"""The range of an elementary function of floats holds what it computes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iree.compiler import ir

from fissile.passes.analysis.bounds.float_ranges import _RULES, UNKNOWN, FloatRange

FUNCTIONS = {
    "math.exp": math.exp,
    "math.exp2": lambda x: 2.0**x,
    "math.log": math.log,
    "math.sqrt": math.sqrt,
    "math.rsqrt": lambda x: 1 / math.sqrt(x),
    "math.sin": math.sin,
    "math.cos": math.cos,
    "math.tanh": math.tanh,
    "math.erf": math.erf,
}
ENDS = st.tuples(st.floats(-100, 1e4), st.floats(0, 50), st.floats(0, 1))


@pytest.mark.parametrize("name", FUNCTIONS)
@given(ends=ENDS)
def test_one_operand(name, ends):
    low, width, part = ends
    with ir.Context(), ir.Location.unknown():
        found = _RULES[name](ir.F32Type.get(), FloatRange(low, low + width))
    if found == UNKNOWN:
        return
    number = FUNCTIONS[name](low + part * width)
    assert found.low <= number <= found.high and not found.nan


@given(base=st.tuples(st.floats(0.01, 1e4), st.floats(0, 9)), power=ENDS, part=st.floats(0, 1))
def test_powers(base, power, part):
    with ir.Context(), ir.Location.unknown():
        low, width, other = power
        found = _RULES["math.powf"](
            ir.F32Type.get(), FloatRange(base[0], sum(base)), FloatRange(low, low + width)
        )
    if found != UNKNOWN:
        number = (base[0] + part * base[1]) ** (low + other * width)
        assert found.low <= number <= found.high


def test_what_is_not_known():
    with ir.Context(), ir.Location.unknown():
        f32 = ir.F32Type.get()
        assert _RULES["math.powf"](f32, FloatRange(-1, 1), FloatRange(2, 2)) == UNKNOWN
        assert _RULES["math.log"](f32, FloatRange(0, 1)) == UNKNOWN
        assert _RULES["math.exp"](f32, FloatRange(0, 1000)) == UNKNOWN
        assert _RULES["math.exp"](f32, FloatRange(0, 1)) != UNKNOWN
