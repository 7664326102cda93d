"""Offsets of slices in a slab: no two that live at once share bytes, and the slab is near its lower bound. Without IREE."""

import random

import pytest

from fissile.passes.analysis.transients.packing import (
    Slice,
    aligned,
    least_size,
    overlapping,
    pack,
)


def drawn(seed):
    draw = random.Random(seed)
    steps = draw.randint(1, 40)
    slices = []
    for _ in range(draw.randint(1, 50)):
        first = draw.randint(0, steps)
        slices.append(Slice(first, first + draw.randint(0, 9), 64 * draw.choice((1, 1, 2, 3, 5, 8, 16, 31))))
    return slices


@pytest.mark.parametrize("seed", range(40))
def test_slices_that_live_at_once_are_apart_and_the_slab_is_small(seed):
    slices = drawn(seed)
    layout = pack(slices)
    assert overlapping(slices, layout.offsets) is None
    assert all(offset >= 0 and offset % 64 == 0 for offset in layout.offsets)
    assert layout.size == max(o + s.size for o, s in zip(layout.offsets, slices, strict=True))
    assert least_size(slices) <= layout.size <= 1.1 * least_size(slices)


def test_the_same_slices_have_the_same_layout():
    assert pack(drawn(7)) == pack(drawn(7))


def test_nothing_needs_no_bytes():
    assert (pack([]).size, least_size([])) == (0, 0)


def test_a_chain_that_grows_needs_its_two_largest_neighbours():
    slices = [Slice(0, 1, 1024), Slice(1, 2, 2048), Slice(2, 3, 4096)]
    layout = pack(slices)
    assert layout.size == least_size(slices) == 6144


def test_both_ends_of_a_life_count():
    # The first is read in the step in which the second is written.
    assert Slice(0, 1, 64).meets(Slice(1, 2, 64))
    assert not Slice(0, 1, 64).meets(Slice(2, 2, 64))
    assert least_size([Slice(0, 1, 64), Slice(1, 2, 64)]) == 128
    assert overlapping([Slice(0, 1, 64), Slice(1, 2, 64)], (0, 0)) == (0, 1)
    assert overlapping([Slice(0, 1, 64), Slice(2, 2, 64)], (0, 0)) is None


def test_sizes_are_rounded_up():
    assert [aligned(n, 64) for n in (0, 1, 64, 65)] == [0, 64, 64, 128]
