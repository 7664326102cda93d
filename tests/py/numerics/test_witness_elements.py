"""The witness's elements: integers wrap to their width, and floats are rounded once."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fissile.pipelines.numerics.witness.elements import element_of, hold, round_to, unsigned


@given(st.sampled_from([2, 3, 4, 7, 8, 16, 32, 64]), st.integers(-(2**70), 2**70))
def test_integers_wrap_to_their_width(bits, number):
    element = element_of(f"i{bits}")
    low = number % (1 << 64)
    held = hold(np.int64(low - (1 << 64) if low >= 1 << 63 else low), element)
    expected = number % (1 << bits)
    assert int(held) == (expected - (1 << bits) if expected >> (bits - 1) else expected)
    assert int(unsigned(held, element)) == expected


@given(st.floats(allow_nan=False, width=64), st.sampled_from(["bf16", "f8E4M3FN", "f8E5M2", "f16", "f32"]))
def test_floats_round_once_to_the_nearest_even(number, kind):
    """Against every neighbour: no representable number is nearer."""
    element = element_of(kind)
    rounded = float(round_to(np.float64(number), element))
    if not math.isfinite(rounded):
        return
    stored = np.array(rounded).astype(element.narrow)
    bits = stored.view(f"u{element.narrow.itemsize}")
    for step in (-1, 1):
        neighbour = float((bits + np.array(step).astype(bits.dtype)).view(element.narrow).astype(np.float64))
        if math.isfinite(neighbour):
            gap, other = abs(rounded - number), abs(neighbour - number)
            assert gap < other or gap == other and (int(bits) % 2 == 0 or rounded == neighbour)
