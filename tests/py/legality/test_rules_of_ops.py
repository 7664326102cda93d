"""Which rule an op has that IREE refuses, and that each has a way out."""

from __future__ import annotations

import pytest

from fissile.finding import Place
from fissile.passes.analysis.legality.compiler import Outcome
from fissile.passes.analysis.legality.isolation import Isolated
from fissile.passes.analysis.legality.refused import Occurrence, Refused
from fissile.passes.analysis.legality.ways_out import WaysOut
from fissile.passes.checks.legality.refused_op import check_refused

AT = Place("model.mlir", 4, 8)
USED = (Occurrence(AT, (("func.return", AT), ("math.exp", AT))),)


def finding(name, failed, **changes):
    probe = Isolated("program", "control", "unused")
    outcome = Outcome("start", failed, "refused", text="refused")
    return check_refused(Refused(name, "", USED, outcome, probe, **changes), WaysOut(), "vulkan")


@pytest.mark.parametrize(
    ("name", "failed", "rule"),
    [
        ("torch.aten.diff", "input", "FIS407"),
        ("quant.qcast", "input", "FIS408"),
        ("quant.qcast", "flow", "FIS408"),
        ("stablehlo.add", "flow", "FIS408"),
        ("tensor.gather", "stream", "FIS408"),
        ("shape.shape_of", "executable-configurations", "FIS409"),
        ("math.exp", "end", "FIS409"),
    ],
)
def test_what_is_refused_before_there_is_code_for_a_target_is_not_put_down_to_the_target(name, failed, rule):
    assert finding(name, failed).code == rule


@pytest.mark.parametrize("failed", ["input", "flow", "end"])
@pytest.mark.parametrize("unknown", [True, False])
@pytest.mark.parametrize("name", ["torch.aten.diff", "onnx.Mish", "tosa.custom", "math.exp"])
def test_every_error_has_a_way_out(name, failed, unknown):
    assert finding(name, failed, unknown=unknown).helps
