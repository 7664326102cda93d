"""The iterations of one thread are counted in the loops that IREE generates."""

import pytest
from iree.compiler import ir

from fissile.passes.analysis.kernel.trip_counts import per_thread_trip_count

LOOPS = """
func.func @f(%m: memref<9xf32>, %n: index, %t: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %z = arith.constant 0.0 : f32
  {loops}
  return
}}
"""


INNER = "scf.for %j = %c0 to %c10 step %c4 { memref.store %z, %m[%j] : memref<9xf32> }"


@pytest.mark.parametrize(
    ("loops", "expected"),
    (
        ("", 0),
        (INNER, 3),
        (f"{INNER}\n{INNER.replace('%j', '%k')}", 6),
        (
            f"scf.for %i = %t to %c10 step %c1 {{ {INNER} }}",
            10 * (1 + 3),
        ),  # a loop from the thread's id is counted from 0
        (f"scf.for %i = %c0 to %n step %c1 {{ {INNER} }}", 1 + 3),  # a dynamic one once
    ),
    ids=("none", "one", "two", "nested", "dynamic"),
)
def test_iterations_are_counted(loops, expected):
    with ir.Context():
        assert per_thread_trip_count(ir.Module.parse(LOOPS.format(loops=loops)).operation) == expected
