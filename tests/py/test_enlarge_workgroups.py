"""More workgroups than a Vulkan target allows: reported, repaired with --tune, and the same numbers."""

import numpy as np
import pytest

import fissile
from fissile.passes.iree.targets import flags_for
from fissile.passes.remedies.fusion.enlarge_workgroups import EnlargeWorkgroups
from fissile.pipelines.numerics.runtimes import present
from fissile.rules import RULES
from fissile.target import find_target

SIZE = 65535 * 64 + 1
DOUBLED = RULES["FIS144"].example.replace("67108864", str(SIZE))
MALI = flags_for(find_target("vulkan:valhall4"))


@pytest.mark.parametrize(
    ("extents", "tiles"),
    [
        ((100,), [64]),
        ((65535 * 64,), [64]),
        ((65535 * 64 + 1,), [128]),
        ((131072, 200), [4, 256]),  # a tile may be larger than its loop
        ((131072, 3), [4, 64]),
        ((1 << 20, 1 << 20), [32, 1 << 20]),
    ],
)
def test_tiles_are_doubled_from_the_innermost_loop_outwards(extents, tiles):
    assert EnlargeWorkgroups()._tiles(extents) == tiles


@pytest.mark.skipif("vulkan" not in [r.name for r in present()], reason="no Vulkan device")
@pytest.mark.parametrize("tune", [False, True])
def test_the_numbers_are_right_with_larger_workgroups_and_with_too_many(tmp_path, tune):
    source, output = tmp_path / "in.mlir", tmp_path / "out.vmfb"
    source.write_text(DOUBLED)
    (finding,) = fissile.compile(source, output, [*MALI, *(["--tune"] if tune else [])], check=False).findings
    assert (finding.code, finding.severity.value) == ("FIS144", "repaired" if tune else "warning")
    assert tune == ("fissile-enlarge-workgroups{ops=0}" in str(finding.helps))
    x = np.arange(SIZE, dtype=np.float32) % 1000
    verdict = fissile.verify(source, output, inputs=[x], expected=[x + x], on="vulkan")
    assert verdict.agrees
