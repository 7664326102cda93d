"""Sines, cosines and tangents in the bodies of ops whose angle may be large."""

from __future__ import annotations

import math

from iree.compiler import ir

from ..bounds.extents import Extents
from ..bounds.float_ranges import range_of
from .bodies import functions_in_bodies

FUNCTIONS = ("math.sin", "math.cos", "math.tan")
LARGEST = 64.0
"""Up to this size of the angle IREE's sine and cosine are within 4e-6 of the exact ones, half of what `fissile verify` allows one function
(64 units in the last place of 1). The error grows with the angle; tests/py/decompose/test_reduce_angles.py measures both."""
_LARGEST_F16 = 65504.0


def angles_in(op: ir.Operation) -> dict[ir.Operation, float]:
    """Those in the regions of ``op`` of floats of 32 bits or less, unless their angle is known to be within LARGEST; with the largest size
    that the angle may have, or infinity."""
    functions = functions_in_bodies(op, FUNCTIONS)
    if not functions:
        return {}
    extents = Extents()
    sizes = {one: _largest(extents, one.operands[0]) for one in functions}
    return {one: size for one, size in sizes.items() if size > LARGEST}


def _largest(extents: Extents, angle: ir.Value) -> float:
    found = range_of(extents, angle)
    known = math.inf if found.nan else max(abs(found.low), abs(found.high))
    return min(known, _LARGEST_F16) if isinstance(angle.type, ir.F16Type) else known
