"""The peak of live bytes (FIS308) where a size is not known, and where it is."""

import pytest

from fissile.passes.checks.storage.lifetimes import CheckLifetimes
from fissile.pipelines.session import Session

PROGRAM = """
util.func public @f(%size: index) -> !stream.timepoint {{
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 7 : i32
  %r, %t0 = stream.resource.alloca uninitialized : !stream.resource<transient>{{{size}}} => !stream.timepoint
  %t1 = stream.cmd.execute await(%t0) => with(%r as %out: !stream.resource<transient>{{{size}}}) {{
    stream.cmd.fill %v, %out[%c0 for %c64] : i32 -> !stream.resource<transient>{{{size}}}
  }} => !stream.timepoint
  %t2 = stream.resource.dealloca await(%t1) => %r : !stream.resource<transient>{{{size}}} => !stream.timepoint
  util.return %t2 : !stream.timepoint
}}
"""


@pytest.mark.parametrize(
    ("size", "note"),
    [
        ("%c64", "at least 64 bytes are needed at one point, with the allocations where they are"),
        ("%size", "a size is not known, so there is no bound on the bytes that are needed at one point"),
    ],
)
def test_a_bound_that_is_not_known_is_no_number_of_bytes(size, note):
    session, found = Session(), []
    with session.context:
        module = session.parse_text(PROGRAM.format(size=size))
        CheckLifetimes(peak=True).run(module.op.operation, found.append)
    (peak,) = [one for one in found if one.code == "FIS308"]
    assert peak.notes[0] == note
