"""Tags on source ops: put on, carried along by IREE, and taken off without a trace."""

from __future__ import annotations

import pytest
from small_programs import TARGETS, quantised_conv

from fissile.passes.analysis.dispatch.provenance import TAG_FILE, tag_source_ops, tags_in, untag, without_tags
from fissile.pipelines.session import Session


@pytest.mark.parametrize(
    ("tagged", "plain"),
    [
        ('loc("a.mlir":3:7)', 'loc("a.mlir":3:7)'),
        ('loc(callsite("fz":4:1 at "a.mlir":3:7))', 'loc("a.mlir":3:7)'),
        ('loc(callsite("fz":4:1 at callsite("fz":0:1 at "a.mlir":3:7)))', 'loc("a.mlir":3:7)'),
        (
            'loc(fused[callsite("fz":1:1 at "a (1).mlir":3:7), "b)":1:2])',
            'loc(fused["a (1).mlir":3:7, "b)":1:2])',
        ),
        (
            'loc(callsite("f" at callsite("fz":1:1 at "n"("a\\"(.mlir":3:7))))',
            'loc(callsite("f" at "n"("a\\"(.mlir":3:7)))',
        ),
    ],
)
def test_only_tags_are_taken_off_a_location(tagged, plain):
    assert without_tags(tagged) == plain


def test_a_location_that_does_not_end_is_refused():
    with pytest.raises(ValueError, match="without an end"):
        without_tags('loc(callsite("fz":4:1 at "a.mlir":3:7')


@pytest.mark.parametrize("target", ["gfx942", "vulkan", "llvm-cpu"])
def test_configured_dispatches_without_their_tags_are_as_if_there_had_been_none(target):
    session = Session(TARGETS[target])
    module = session.parse_text(quantised_conv(size=16, requantise=True))
    session.run(module, "global-optimization")
    tagged = module.clone()
    tag_source_ops(tagged.op)
    for one in (module, tagged):
        session.run(one, "executable-configurations")
    assert tags_in(tagged.text(locations=True)) and TAG_FILE not in module.text(locations=True)
    untag(tagged.op)
    assert tagged.text(locations=True) == module.text(locations=True)
