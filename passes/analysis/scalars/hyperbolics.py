"""Hyperbolic functions, and their inverses, in the bodies of ops."""

from __future__ import annotations

from iree.compiler import ir

from .bodies import functions_in_bodies

HYPERBOLICS = ("math.sinh", "math.cosh", "math.asinh", "math.acosh", "math.atanh")


def hyperbolics_in(op: ir.Operation) -> list[ir.Operation]:
    """Those in the regions of ``op`` of floats of 32 bits or less."""
    return functions_in_bodies(op, HYPERBOLICS)
