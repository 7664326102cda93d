"""A seeded part of `python -m bench.storage.storage_scenes`, and an oracle that is wrong on purpose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from iree_versions import since
from scene_program import Call, Scene, drawn_scenes
from scene_runs import Runs
from scene_torch import STRATEGIES


@pytest.mark.parametrize(
    ("front_end", "count"),
    [
        (None, 24),
        ("stablehlo", 10),
        ("tosa", 6),
        pytest.param("torch", 12, marks=since("3.13", "its import takes bounds less than 0 for others")),
    ],
    ids=str,
)
def test_drawn_programs_keep_to_the_oracle(front_end, count):
    runs = Runs()
    runs.check(drawn_scenes(0, count, STRATEGIES[front_end]() if front_end else None))
    assert not runs.failures, "\n".join(map(str, runs.failures[:3]))
    assert runs.counts["calls that are legal, same numbers"] > count
    # StableHLO defines a result for every index.
    refused = runs.counts["calls that violate, refused: FAILED_PRECONDITION"]
    assert refused == 0 if front_end == "stablehlo" else refused > count / 4
    assert runs.counts["programs with no dispatch before its check"] == runs.counts["programs run"] > 0


def test_an_oracle_that_is_wrong_is_noticed():
    scenes = [s for s in drawn_scenes(0, 12, STRATEGIES["tosa"]()) if s.can_fail and len(s.calls) > 4][:1]
    (scene,) = scenes
    legal = next(c for c in scene.calls if c.expected is not None)
    illegal = next(c for c in scene.calls if c.expected is None)
    turned = [
        Call(legal.values, None),
        Call(illegal.values, legal.expected),
        Call(legal.values, [np.asarray(legal.expected[0]) + 1]),
    ]
    runs = Runs()
    runs.check([dataclasses.replace(scene, calls=turned)])
    assert [f.kind for f in runs.failures] == ["missed", "false alarm", "wrong numbers, by stock too"]


EMPTY_SLICE = """func.func @behind(%x: tensor<?xi32>, %n: index) -> tensor<?xi32> {
  %r = tensor.extract_slice %x[5] [%n] [1] : tensor<?xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
}
"""


def test_what_irees_runtime_refuses_in_stock_as_well_is_no_false_alarm():
    """No element behind the end of a tensor: stock copies nothing from there, and IREE's runtime refuses the address."""
    two, none = np.array([1, 2], np.int32), np.zeros(0, np.int32)
    runs = Runs()
    runs.check([Scene("behind", EMPTY_SLICE, [Call([two, 0], [none]), Call([two, 1], [none])])])
    assert runs.counts["calls that IREE's runtime refuses as well"] == 1
    # The other call is one that fissile's check refuses.
    assert [(f.kind, f.call.values[1]) for f in runs.failures] == [("false alarm", 1)]
