"""Which recomputed producers are worth a dispatch of their own: often enough, and enough of them."""

import pytest

from fissile.passes.analysis.dispatch.recomputation import Recomputed
from fissile.passes.checks.speed.recomputation import MIN_EVALUATIONS, MIN_TIMES, worth_cutting


def producer(times, elements):
    return Recomputed(tag=0, place=None, root=None, times=times, elements=elements, operand="tensor<?xi8>")


@pytest.mark.parametrize(
    ("times", "elements", "cut"),
    [
        (MIN_TIMES, MIN_EVALUATIONS, True),
        (9, MIN_EVALUATIONS // 9 + 1, True),
        (1, 1 << 30, False),  # computed once: nothing to save
        (9, 100, False),  # a dispatch costs more than all of it
    ],
)
def test_a_cut_must_pay_for_a_dispatch(times, elements, cut):
    one = producer(times, elements)
    assert worth_cutting([one]) == ([one] if cut else [])
