"""The edits that are tried and kept for 60 programs are those of tests/golden/edits.json (`make golden` writes it anew)."""

from __future__ import annotations

import programs
import pytest
from effort import sample

from bench.golden_edits import COUNT, kept_rows, row
from bench.golden_edits import programs as golden_programs

KEPT = kept_rows()
QUICK = ("00 ", "01 ")
NAMES = sample(KEPT, *(name for name in KEPT if name.startswith(QUICK)))


def test_every_program_has_its_row():
    assert list(KEPT) == list(golden_programs()) and len(KEPT) == COUNT


def test_the_rows_are_of_many_kinds():
    """A file of healthy programs would hold nothing: remedies are tried, kept and left, findings remain, and some are clean."""
    remedies = {edit.split()[0] for found in KEPT.values() for edit in found["kept"]}
    codes = {finding for found in KEPT.values() for finding in found["findings"]}
    assert len(remedies) >= 4 and len(codes) >= 5, (remedies, codes)
    assert {found["status"] for found in KEPT.values()} == {0, 1} or any(
        not f["findings"] for f in KEPT.values()
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_treated_as_before(name):
    assert programs.server().call(row, name) == KEPT[name]
