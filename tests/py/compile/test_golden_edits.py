"""The edits that are tried and kept for 60 programs are those of tests/golden/edits.json (`make golden` writes it anew)."""

from __future__ import annotations

import pytest
from effort import sample

from bench.golden_edits import kept_rows, row_in_a_process
from bench.golden_edits import programs as golden_programs

KEPT = kept_rows()
QUICK = (
    *("00 ", "09 ", "17 ", "41 ", "53 "),
    *("depthwise_nchw_8x10 vulkan:rdna3", "padded_product_64", "attention_head_64"),
)
NAMES = sample(KEPT, *(name for name in KEPT if name.startswith(QUICK)))


def test_every_program_has_its_row():
    assert list(KEPT) == list(golden_programs()) and len(KEPT) == 60


def test_most_rows_try_edits():
    """A file of healthy programs would hold nothing: remedies of many kinds are tried, kept and left, and some programs are clean."""
    kept = {edit.split()[0] for found in KEPT.values() for edit in found["kept"]}
    findings = {finding for found in KEPT.values() for finding in found["findings"]}
    assert sum(bool(found["tried"]) for found in KEPT.values()) >= 40
    assert len(kept) >= 8 and len(findings) >= 12, (kept, findings)
    assert any(len(found["tried"]) > 1 for found in KEPT.values())
    assert any(not found["findings"] for found in KEPT.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_treated_as_before(name):
    assert row_in_a_process(name) == KEPT[name]
