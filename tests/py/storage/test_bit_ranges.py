"""Intervals of bit operations and unsigned ones, held against what machine integers compute; and what they refute and prove."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iree.compiler import ir

from fissile.passes.analysis.bounds.bits.bit_ranges import RULES, SHIFTS, ranges_of
from fissile.passes.checks.storage.storage_fit import judge_storage
from fissile.verdict import Answer


def wrap(number: int, bits: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def computed(name: str, a: int, b: int, bits: int) -> int:
    x, y = a % (1 << bits), b % (1 << bits)
    return {
        "andi": lambda: a & b,
        "ori": lambda: a | b,
        "xori": lambda: a ^ b,
        "minui": lambda: wrap(min(x, y), bits),
        "maxui": lambda: wrap(max(x, y), bits),
        "shli": lambda: wrap(a << b, bits),
        "shrsi": lambda: a >> b,
        "shrui": lambda: wrap(x >> b, bits),
    }[name]()


@st.composite
def operands(draw, bits: int):
    """An interval of numbers of ``bits``, and one number of it."""
    limits = st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    low, high = sorted((draw(limits), draw(limits)))
    return (low, high), draw(st.integers(low, high))


@pytest.mark.parametrize("name", RULES)
@given(data=st.data())
def test_every_result_is_in_an_interval(name, data):
    bits = data.draw(st.sampled_from((8, 32, 64)))
    (left, a), (right, b) = data.draw(operands(bits)), data.draw(operands(bits))
    if name in SHIFTS:
        b = min(max(b, right[0], 0), right[1], bits - 1)
        if not 0 <= b < bits or not right[0] <= b <= right[1]:
            return
    wanted = computed(name, a, b, bits)
    ranges = ranges_of(name, left, right, bits)
    assert any(low <= wanted <= high for low, high in ranges)
    assert all(one[1] + 1 < other[0] for one, other in zip(ranges, ranges[1:], strict=False))


@pytest.mark.parametrize("name", [name for name in RULES if name != "shli"])
def test_of_two_numbers_it_is_one_number(name):
    for a in range(-8, 8):
        for b in range(4 if name in SHIFTS else -8, 4 if name in SHIFTS else 8):
            wanted = computed(name, a, b, 4)
            assert ranges_of(name, (a, a), (b, b), 4) == [(wanted, wanted)]


@pytest.mark.parametrize("name", ["andi", "ori", "minui", "maxui"])
def test_the_ends_are_results_where_no_number_is_negative(name):
    intervals = [(low, high) for low in range(8) for high in range(low, 8)]
    for left in intervals:
        for right in intervals:
            results = [
                computed(name, a, b, 4)
                for a in range(left[0], left[1] + 1)
                for b in range(right[0], right[1] + 1)
            ]
            assert ranges_of(name, left, right, 4) == [(min(results), max(results))]


def test_a_shift_that_is_not_defined_has_no_result():
    assert ranges_of("shli", (1, 1), (64, 70), 64) == []
    assert ranges_of("shrui", (1, 1), (-3, -1), 8) == []


@pytest.fixture
def context():
    with ir.Context() as context, ir.Location.unknown():
        yield context


def answers(text: str, type_: str) -> set[Answer]:
    """Of an insertion of two elements into 16, at %o."""
    place = "" if type_ == "index" else f"%o = arith.index_cast %q : {type_} to index\n"
    module = ir.Module.parse(f"""
      func.func @main(%s: tensor<2xf32>, %f: tensor<16xf32>, %n: {type_}) -> tensor<16xf32> {{
        {text if place else text.replace("%q =", "%o =")}
        {place}%r = tensor.insert_slice %s into %f[%o] [2] [1] : tensor<2xf32> into tensor<16xf32>
        return %r : tensor<16xf32>
      }}""")
    return {j.answer for j in judge_storage(module.operation).judged}


OUTSIDE = [
    ("minui", 20, 30), ("maxui", 3, 40), ("shli", 8, 2), ("shrui", 100, 1), ("ori", 16, 3), ("andi", 31, 63), ("xori", 3, 28),
    ("remui", 60, 32), ("minui", -1, -2), ("maxui", -1, 5), ("ori", -8, 1), ("xori", -7, 5), ("andi", -7, -3), ("shrsi", -4, 1),
    ("maxui", None, 40), ("ori", None, 16),
]  # fmt: skip
INSIDE = [
    ("minui", 3, -1),
    ("shrui", 100, 3),
    ("ori", 8, 3),
    ("andi", 7, -2),
    ("xori", 15, 7),
    ("andi", None, 13),
]


@pytest.mark.parametrize("type_", ["index", "i64", "i32"])
@pytest.mark.parametrize(
    ("op", "a", "b", "answer"),
    [*((*row, Answer.REFUTED) for row in OUTSIDE), *((*row, Answer.PROVED) for row in INSIDE)],
)
def test_an_offset_of_constants_is_decided(context, type_, op, a, b, answer):
    first = "" if a is None else f"%a = arith.constant {a} : {type_}\n"
    second = f"%b = arith.constant {b} : {type_}\n"
    found = answers(f"{first}{second}%q = arith.{op} {'%n' if a is None else '%a'}, %b : {type_}", type_)
    assert found == {answer} or (answer is Answer.REFUTED and answer in found)


def test_a_shift_by_what_only_a_call_says_is_undecided(context):
    assert Answer.UNKNOWN in answers("%a = arith.constant 3 : i64\n%q = arith.shli %a, %n : i64", "i64")
