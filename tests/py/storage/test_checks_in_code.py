"""Run-time checks whose own code IREE cannot generate: they are left out, and what stock builds comes out."""

from __future__ import annotations

import numpy as np
import pytest
from built import CPU
from entered_programs import all_computed, written
from planted_faults import compile_here

from fissile.passes.remedies.storage import element_status

UPSAMPLED = """
func.func @main(%x: !torch.vtensor<[?,32,?,?],f32>) -> !torch.vtensor<[?,32,?,?],f32> {
  %none = torch.constant.none
  %two = torch.constant.float 2.000000e+00
  %scales = torch.prim.ListConstruct %two, %two : (!torch.float, !torch.float) -> !torch.list<float>
  %r = torch.aten.upsample_nearest2d.vec %x, %none, %scales : !torch.vtensor<[?,32,?,?],f32>, !torch.none, !torch.list<float> -> !torch.vtensor<[?,32,?,?],f32>
  return %r : !torch.vtensor<[?,32,?,?],f32>
}
"""
X = np.arange(2 * 32 * 3 * 5, dtype=np.float32).reshape(2, 32, 3, 5)


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    def made(*flags: str):
        written(tmp_path, UPSAMPLED)
        argv = [*CPU, *flags, str(tmp_path / "main.mlir"), "-o", str(tmp_path / "out.vmfb")]
        report = compile_here(monkeypatch, argv)
        assert report.exit_code == 0, report.findings
        [answer] = all_computed(tmp_path, X)
        np.testing.assert_array_equal(answer, X.repeat(2, axis=2).repeat(2, axis=3))
        return report

    return made


def test_the_loops_of_an_index_are_all_that_its_check_runs(compiled):
    """The check of a batch of images of 32 channels counts rows and columns, and IREE builds it."""
    codes = [one.code for one in compiled().findings]
    assert codes and set(codes) == {"FIS202"}


@pytest.mark.parametrize("repair", ["on", "off"])
def test_a_check_that_iree_cannot_build_is_left_out(monkeypatch, compiled, repair):
    monkeypatch.setattr(element_status, "_rounds", lambda *_: None)  # over all elements: IREE 3.13 refuses it
    report = compiled(*(["--repair=off"] if repair == "off" else []))
    left_out = [one for one in report.findings if one.code == "FIS205"]
    assert left_out and all("offset 0 is out-of-bounds" in " ".join(one.notes) for one in left_out)
    assert report.facts["attempts"][-1] == "unchecked"
